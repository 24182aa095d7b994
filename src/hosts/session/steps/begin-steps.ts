import { PawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { eventKey, exprsOfWait, matchedSignal, toSentKey } from "../../../core/graph/event-match.ts";
import type { ApproveStep, CallStep, WaitStep } from "../../../core/graph/graph.ts";
import { indexGraph } from "../../../core/graph/indexed-graph.ts";
import { inputNamesOf } from "../../../core/graph/shape.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import { isNumber, type Json, type JsonObject } from "../../../core/json.ts";
import { hasAnswerRules } from "../../../core/trust/approvers.ts";
import { grantOf } from "../../../core/trust/grant.ts";
import { pinDefinition } from "../graph-cache.ts";
import type { LiveRun } from "../live-run.ts";
import { findAnswer } from "../reuse/reuse.ts";
import { findInputSecrets, findMaskedLeaves, hideLeaves } from "../secrets/secret-leaves.ts";
import { bindAll } from "../values/bind-step.ts";
import { joinMissing } from "../values/missing-references.ts";
import { inputProjection } from "../values/project-output.ts";
import { lengthOf, toStoredValue } from "../values/stored-value.ts";
import type { StepParts } from "./step-parts.ts";

/** Pins the called workflow and begins it inside the run. */
export async function resolveCall(run: LiveRun, instance: Instance, parts: StepParts): Promise<void> {
  const step = instance.step.step as CallStep;
  const exprs = [step.workflow, step.input, ...(step.terms === undefined ? [] : [step.terms])];
  const { values, ...noted } = await bindAll(run, instance, exprs);
  const [workflow = null, input = null, terms] = values;
  const { options, tenantId } = run;
  const isComputed = step.workflow.op !== "literal";
  const grant = grantOf(instance.scope.frame.graph.graph.settings);
  const call = await parts.resolveCall({ workflow, input, terms, options, grant, tenantId, isComputed });
  const { graph } = call.definition;
  const pinned = pinDefinition(call.definition);
  const secret = findInputSecrets(graph, call.input);
  const hidden = hideLeaves(call.input, secret);
  const stored = await toStoredValue(hidden, parts.writer, run);
  if (stored === "too large")
    throw new PawlError("OUTPUT_TOO_LARGE", { message: `The input of "${instance.path}" is too large.` });
  run.addPins(pinned.pins);
  run.addGraph(indexGraph(graph, pinned.graphHash));
  const projection = inputProjection(graph, stored.value as JsonObject, parts.tools);
  // Secrets of the calling run stay secret in the called one.
  const leaves = [...secret, ...findMaskedLeaves(hidden, stored.value)];
  const seq = run.apply(
    {
      type: "callResolved",
      at: parts.clock.now(),
      path: instance.path,
      graph: pinned.graphHash,
      workflow: graph.name,
      inputNames: inputNamesOf(graph, call.input),
      sealed: leaves.length === 0 ? undefined : parts.keepSecrets(run, leaves),
      timeoutMs: call.timeoutMs,
      ...lengthOf(stored),
      ...projection,
      ...joinMissing(noted.missing, projection.missing),
    },
    stored.stored,
  );
  run.values.keep(seq, stored.value, stored.bytes);
  if (leaves.length > 0) run.values.reveal(seq, leaves);
}

/** Asks a person. An answer that was given to the same question in the run that this one repeats is taken over. */
export async function askApproval(
  run: LiveRun,
  instance: Instance,
  { clock, writer, asked }: StepParts,
): Promise<void> {
  const { path } = instance;
  const step = instance.step.step as ApproveStep;
  const exprs = step.show === undefined ? [step.message] : [step.message, step.show];
  const { values, ...noted } = await bindAll(run, instance, exprs);
  const [bound = null, shown = step.show === undefined ? { approved: true } : null] = values;
  const stored = await toStoredValue(shown, writer, run);
  if (stored === "too large")
    throw new PawlError("OUTPUT_TOO_LARGE", { message: `What "${path}" shows is too large.` });
  const message = writer.mask(typeof bound === "string" ? bound : writeExact(bound));
  const { reusable } = run;
  // Who repeats a run has asked for it too, and its file may say by now that others answer, or more of them.
  const isAskedAnew = hasAnswerRules(step) && (step.notRequester === true || run.options["pinned"] === undefined);
  const before = isAskedAnew ? undefined : reusable;
  const answer = before && (await findAnswer(before, instance, { message, shown: stored.stored }));
  const at = clock.now();
  const seq = run.apply({ type: "approvalAsked", at, path, message, ...noted, ...lengthOf(stored) }, stored.stored);
  run.values.keep(seq, stored.value, stored.bytes);
  if (answer === undefined) return asked(run, instance, seq);
  if (instance.phase !== "approval") return;
  const { decided: _, ...event } = answer.event;
  run.apply({ ...event, at, reused: answer.reused }, answer.value);
}

/** Reports what a wait waits for, where that has to be computed. Throws `WAIT_INVALID`. */
export async function beginWait(run: LiveRun, instance: Instance, parts: StepParts): Promise<void> {
  const { wait } = instance.step.step as WaitStep;
  const { path } = instance;
  const at = parts.clock.now();
  const { values, ...noted } = await bindAll(run, instance, exprsOfWait(wait));
  const [value = null, ...matched] = values;
  if (wait.for === "event" && wait.match !== undefined) {
    const { match, timeoutMs } = wait;
    const names = Object.keys(match);
    const key = eventKey(names.toSorted(), (field) => matched[names.indexOf(field)]);
    if (key === undefined || typeof value !== "string" || parts.writer.mask(key) !== key) {
      const message = `"${path}" cannot wait: a field of \`match\` is missing, too long, a secret, or no plain value.`;
      throw new PawlError("WAIT_INVALID", { message });
    }
    return beginMatchedWait(run, instance, parts, { name: value, fields: names.toSorted(), key, at, timeoutMs, noted });
  }
  const begun = wait.for === "event" ? toSignal(value) : toUntil(wait, at, value);
  if (begun !== undefined) {
    run.apply({ type: "waitBegun", at, path, ...noted, ...begun });
    return;
  }
  const message = `"${path}" cannot wait for ${writeExact(value).slice(0, 100)}.`;
  throw new PawlError("WAIT_INVALID", { message });
}

interface MatchedWait {
  readonly name: string;
  readonly fields: readonly string[];
  readonly key: string;
  readonly at: number;
  readonly timeoutMs: number | undefined;
  readonly noted: { readonly missing?: readonly string[] };
}

/** The wait is known to those who send before it is on record, so that a crash between the two is repaired by beginning again. */
async function beginMatchedWait(
  run: LiveRun,
  instance: Instance,
  { publishedEvents, clock, writer }: StepParts,
  { name, fields, key: awaited, at, timeoutMs, noted }: MatchedWait,
): Promise<void> {
  const { path, attempt } = instance;
  if (publishedEvents === undefined) throw new PawlError("WAIT_INVALID", { message: "No events are kept here." });
  const events = await publishedEvents();
  const address = { runId: run.runId, path, attempt };
  const expiry = timeoutMs === undefined ? {} : { expiresAt: at + timeoutMs };
  const owner = run.tenantId === undefined ? {} : { tenantId: run.tenantId };
  const early = await events.register({ ...address, ...owner, ...expiry, name, fields, key: awaited, since: at });
  const stored = early && (await toStoredValue(early.payload, writer, run));
  const signal = matchedSignal(name, awaited);
  run.apply({ type: "waitBegun", at, path, ...noted, signal });
  const isWaiting = instance.phase === "waiting" && instance.signal === signal;
  if (early === undefined || stored === undefined || stored === "too large") {
    // It was cancelled meanwhile, or was given an event before its wait was on record.
    if (!isWaiting) await events.unregister(address);
    return;
  }
  const key = toSentKey(early.id);
  // After a crash a process that looks after events may have sent it already.
  if (!run.state.signalKeys.has(key.key)) {
    if (!isWaiting) return events.giveBack(early.id, address, clock.now());
    const seq = run.apply({ type: "signalReceived", at: clock.now(), name: signal, key }, stored.stored);
    run.values.keep(seq, stored.value, stored.bytes);
  }
  await run.durable();
  await events.settle(early.id, clock.now());
}

function toSignal(value: Json): { readonly signal: string } | undefined {
  if (isNumber(value)) return { signal: String(value) };
  return typeof value === "string" && value !== "" ? { signal: value } : undefined;
}

function toUntil(wait: WaitStep["wait"], at: number, value: Json): { readonly until: number } | undefined {
  const until = wait.for === "duration" ? addDuration(at, value) : toInstant(value);
  return until === undefined ? undefined : { until };
}

function addDuration(at: number, value: Json): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? at + value : undefined;
}

function toInstant(value: Json): number | undefined {
  const instant = typeof value === "string" ? Date.parse(value) : value;
  return typeof instant === "number" && Number.isFinite(instant) ? instant : undefined;
}
