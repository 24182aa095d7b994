import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { CallStep } from "../../../core/graph/graph.ts";
import { indexGraph } from "../../../core/graph/indexed-graph.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import type { JsonObject } from "../../../core/json.ts";
import { pinDefinition } from "../graph-cache.ts";
import type { LiveRun } from "../live-run.ts";
import { findInputSecrets } from "../secrets/find-input-secrets.ts";
import { findMaskedLeaves, hideLeaves } from "../secrets/secret-leaves.ts";
import { bindAll } from "../values/bind-step.ts";
import { inputProjection } from "../values/input-projection.ts";
import { toStoredValue } from "../values/stored-value.ts";
import type { StepParts } from "./step-parts.ts";

/** Pins the called workflow and begins it inside the run. */
export async function resolveCall(run: LiveRun, instance: Instance, parts: StepParts): Promise<void> {
  const step = instance.step.step as CallStep;
  const exprs = [step.workflow, step.input, ...(step.terms === undefined ? [] : [step.terms])];
  const [workflow = null, input = null, terms] = await bindAll(run, instance, exprs);
  const { options, tenantId } = run;
  const isComputed = step.workflow.op !== "literal";
  const call = await parts.resolveCall({ workflow, input, terms, options, tenantId, isComputed });
  const { graph } = call.definition;
  const pinned = pinDefinition(call.definition);
  const secret = findInputSecrets(graph, call.input);
  const hidden = hideLeaves(call.input, secret);
  const stored = await toStoredValue(hidden, parts.writer);
  if (stored === "too large") {
    throw new PawlError("OUTPUT_TOO_LARGE", { message: `The input of "${instance.path}" is too large.` });
  }
  run.addPins(pinned.pins);
  run.addGraph(indexGraph(graph, pinned.graphHash));
  // Secrets of the calling run stay secret in the called one.
  const leaves = [...secret, ...findMaskedLeaves(hidden, stored.value)];
  const seq = run.apply(
    {
      type: "callResolved",
      at: parts.clock.now(),
      path: instance.path,
      graph: pinned.graphHash,
      workflow: graph.name,
      inputNames: Object.keys(call.input),
      sealed: leaves.length === 0 ? undefined : parts.keepSecrets(run, leaves),
      timeoutMs: call.timeoutMs,
      ...inputProjection(graph, stored.value as JsonObject, parts.tools),
    },
    stored.stored,
  );
  run.values.keep(seq, stored.value, stored.bytes);
  if (leaves.length > 0) run.values.reveal(seq, leaves);
}
