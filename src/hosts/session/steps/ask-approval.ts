import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { ApproveStep } from "../../../core/graph/graph.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import type { LiveRun } from "../live-run.ts";
import { findAnswer } from "../reuse/reuse.ts";
import { bindAll } from "../values/bind-step.ts";
import { toStoredValue } from "../values/stored-value.ts";
import type { StepParts } from "./step-parts.ts";

/** Asks a person. An answer that was given to the same question in the run that this one repeats is taken over. */
export async function askApproval(
  run: LiveRun,
  instance: Instance,
  { clock, writer, asked }: StepParts,
): Promise<void> {
  const { path } = instance;
  const step = instance.step.step as ApproveStep;
  const exprs = step.show === undefined ? [step.message] : [step.message, step.show];
  const [bound = null, shown = step.show === undefined ? { approved: true } : null] = await bindAll(
    run,
    instance,
    exprs,
  );
  const stored = await toStoredValue(shown, writer);
  if (stored === "too large") {
    throw new PawlError("OUTPUT_TOO_LARGE", { message: `What "${path}" shows is too large.` });
  }
  const message = writer.mask(typeof bound === "string" ? bound : JSON.stringify(bound));
  const { reusable } = run;
  const answer =
    reusable === undefined ? undefined : await findAnswer(reusable, instance, { message, shown: stored.stored });
  const at = clock.now();
  const seq = run.apply({ type: "approvalAsked", at, path, message }, stored.stored);
  run.values.keep(seq, stored.value, stored.bytes);
  if (answer === undefined) return asked(run, instance, seq);
  if (instance.phase !== "approval") return;
  const { decided: _, ...event } = answer.event;
  run.apply({ ...event, at, reused: answer.reused }, answer.value);
}
