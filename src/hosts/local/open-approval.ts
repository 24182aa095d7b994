import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Instance, RunState } from "../../core/history/run-state.ts";

/** The instance that waits for an answer. Throws `APPROVAL_NOT_OPEN`, or `APPROVAL_CONFLICT` with who was first. */
export function openApproval(state: RunState, path: string): Instance {
  const instance = state.active.get(path);
  if (instance?.phase === "approval") return instance;
  refuseAnswered(state, path);
  throw new PawlError("APPROVAL_NOT_OPEN", { message: `No approval is open at "${path}".` });
}

export function refuseAnswered(state: RunState, path: string): void {
  const first = state.answers.get(path);
  if (first === undefined) return;
  const by = first.by === undefined ? "" : ` by ${first.by}`;
  throw new PawlError("APPROVAL_CONFLICT", { message: `"${path}" was already answered${by}: ${first.answer}.` });
}

export function refuseForbiddenEdit({ path, step: { step } }: Instance): void {
  if (step.kind === "approve" && step.allowEdit === true) return;
  throw new PawlError("APPROVAL_EDIT_REFUSED", { message: `The approval "${path}" does not allow edits.` });
}
