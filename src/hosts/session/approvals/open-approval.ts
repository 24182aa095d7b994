import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";

/** An approval as whoever answers it knows it. */
export interface Asked {
  readonly path: string;
  /** The event that asked. Absent: whatever is open at the path. */
  readonly asked: number | undefined;
}

/** The instance that waits for an answer. Throws `APPROVAL_NOT_OPEN`, or `APPROVAL_CONFLICT` with who was first. */
export function openApproval(state: RunState, { path, asked }: Asked): Instance {
  const instance = state.active.get(path);
  if (instance?.phase === "approval" && (asked ?? instance.askedSeq) === instance.askedSeq) return instance;
  refuseAnswered(state, { path, asked });
  const which = asked === undefined ? "" : ` that event ${asked} asked for`;
  throw new PawlError("APPROVAL_NOT_OPEN", { message: `No approval${which} is open at "${path}".` });
}

export function refuseAnswered(state: RunState, { path, asked }: Asked): void {
  const answers = state.answers.get(path);
  const first = asked === undefined ? answers?.at(-1) : answers?.find(({ askedSeq }) => askedSeq === asked);
  if (first === undefined) return;
  const by = first.by === undefined ? "" : ` by ${first.by}`;
  throw new PawlError("APPROVAL_CONFLICT", { message: `"${path}" was already answered${by}: ${first.answer}.` });
}

export function refuseForbiddenEdit({ path, question, step: { step } }: Instance): void {
  if (step.kind === "approve" ? step.allowEdit === true : question?.allowEdit === true) return;
  throw new PawlError("APPROVAL_EDIT_REFUSED", { message: `The approval "${path}" does not allow edits.` });
}
