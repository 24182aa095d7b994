import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { Validate } from "../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../schemas/schema-compiler.ts";
import { jsonInText } from "./json-in-text.ts";
import { removeFence } from "./markdown-fence.ts";
import { describeViolations } from "./violations.ts";

export interface RawAnswer {
  readonly text: string;
  /** `undefined`: none was sent. `null`, `0` and `[]` are answers. */
  readonly structured: Json | undefined;
}

export type Answer =
  | { readonly ok: true; readonly output: Json }
  | {
      readonly ok: false;
      readonly code: ErrorCode & ("OUTPUT_EMPTY" | "OUTPUT_INVALID" | "SCHEMA_TOO_COSTLY");
      readonly message: string;
      readonly details: Json;
      /** Another answer may be better. */
      readonly retryable: boolean;
      /** Absent: the answer is empty, or was not judged in time. */
      readonly violations?: readonly SchemaViolation[];
    };

const MAX_SHOWN_CHARS = 2_000;
const MAX_SHOWN_VIOLATIONS = 3;

/** Turns an agent's words into the step's output. With a schema the output fits it; without one, text that holds an object or a list becomes that. */
export async function readAnswer(answer: RawAnswer, validate: Validate | undefined): Promise<Answer> {
  if (answer.structured === undefined && removeFence(answer.text) === "")
    return { ok: false, code: "OUTPUT_EMPTY", message: "The agent's answer was empty.", details: {}, retryable: true };
  if (validate === undefined) return { ok: true, output: answer.structured ?? readLoosely(answer) };
  try {
    return await check(
      answer.structured === undefined ? jsonInText(answer.text) : [answer.structured],
      answer,
      validate,
    );
  } catch (error) {
    if (!isPawlError(error) || error.code !== "SCHEMA_TOO_COSTLY") throw error;
    // It is answered, and paid for.
    return { ok: false, code: error.code, message: error.message, details: {}, retryable: false };
  }
}

function readLoosely(answer: RawAnswer): Json {
  if (answer.structured === null) return null;
  const text = removeFence(answer.text);
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? value : text;
}

/** Takes the first candidate that fits. A schema may also ask for plain text, so the text itself comes last. */
async function check(candidates: Iterable<Json>, answer: RawAnswer, validate: Validate): Promise<Answer> {
  let violations: readonly SchemaViolation[] | undefined;
  for (const candidate of candidates) {
    const found = await validate(candidate);
    if (found.length === 0) return { ok: true, output: candidate };
    violations ??= found;
  }
  const text = removeFence(answer.text);
  if (answer.structured === undefined && (await validate(text)).length === 0) return { ok: true, output: text };
  return toInvalid(answer, violations ?? [{ path: "", message: "holds no JSON" }]);
}

function toInvalid(answer: RawAnswer, violations: readonly SchemaViolation[]): Answer {
  const shown = describeViolations(violations.slice(0, MAX_SHOWN_VIOLATIONS), "the answer");
  const said = answer.structured === undefined ? answer.text : writeExact(answer.structured);
  return {
    ok: false,
    code: "OUTPUT_INVALID",
    retryable: true,
    violations,
    message: `The agent's answer does not fit the output schema: ${shown}.`,
    details: {
      errors: violations.map(({ path, message }) => ({ path, message })),
      answer: said.slice(0, MAX_SHOWN_CHARS),
    },
  };
}
