import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { ApprovalAnswered } from "../../../core/history/events.ts";
import type { RecordedAnswer } from "../../../ports/executor.ts";
import { type StoredValue, toStoredValue, type ValueWriter } from "../values/stored-value.ts";

export interface StoredAnswer {
  /** What its event says. */
  readonly told: Omit<ApprovalAnswered, "type" | "at" | "path">;
  /** The value that an approval step has with it; undefined: what was shown. */
  readonly edited: StoredValue | undefined;
  /** What a task finds as its record. */
  readonly whole: StoredValue;
}

/** An answer as it is kept, secrets masked. Throws `APPROVAL_EDIT_REFUSED` for data that is larger than an output may be. */
export async function storeAnswer(answer: RecordedAnswer, writer: ValueWriter): Promise<StoredAnswer> {
  const { edited } = answer;
  const whole = await toStoredValue(answer, writer);
  const part = edited === undefined ? undefined : await toStoredValue(edited, writer);
  if (whole === "too large" || part === "too large")
    throw new PawlError("APPROVAL_EDIT_REFUSED", { message: "The edited data is too large." });
  const { by, comment } = answer;
  const told = {
    answer: answer.answer,
    ...(by === undefined ? {} : { by: writer.mask(by) }),
    ...(comment === undefined ? {} : { comment: writer.mask(comment) }),
    ...(edited === undefined ? {} : { edited: true }),
  };
  return { told, edited: part, whole };
}
