import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { eventOfSignal } from "../../core/graph/event-match.ts";
import { parseStepPath } from "../../core/graph/step-path.ts";
import type { NoteWay } from "../../core/history/run-state.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import {
  type Expectations,
  readWorkflowTests,
  type WorkflowTest,
  type WorkflowTests,
} from "../../dialects/agent-script/workflow-tests.ts";
import { suggest } from "../../dialects/did-you-mean.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { StandInCall } from "../../ports/stand-ins.ts";
import type { OpenApplication } from "../application/ports.ts";
import { answerApproval } from "../approvals/answer-approval.ts";
import { listApprovals } from "../approvals/describe-run-approvals.ts";
import { problemsOf } from "../definitions/compile-text.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { type RunReading, readRunHistory } from "../runs/describe/describe-run-reading.ts";
import { eachEvent } from "../runs/each-event.ts";
import { type RunResult, readRunResult } from "../runs/read-run-result.ts";
import { isOfThisPlace } from "../start/preflight.ts";
import { findStartable, prepareUnasked } from "../start/prepare-run.ts";
import { addCoverage, type Coverage, coverageOf, stepsIn, wayOf, withoutNumbers } from "./coverage.ts";
import type { Death } from "./deaths.ts";
import { withPatience } from "./with-patience.ts";

export interface TestParts {
  readonly app: OpenApplication;
  /** What stand-ins have been asked, in order. */
  readonly calls: readonly StandInCall[];
}

export interface TestReport {
  readonly name: string;
  /** What does not hold. Empty: it passed. */
  readonly failures: readonly string[];
  readonly durationMs: number;
  readonly coverage: Coverage;
  /** Undefined: it could not be tried. */
  readonly end?: TestEnd;
}

/** What the same run must come to after a death. */
export interface TestEnd {
  readonly record: RunRecord;
  readonly outcome: RunResult["outcome"];
  readonly outputs: Json | undefined;
  readonly paths: readonly string[];
  readonly calls: readonly StandInCall[];
}

/** A run that has rested so often will rest for ever. */
const MAX_RESTS = 1_000;

/** `shownAs`: for messages. Throws `FILE_NOT_FOUND`, and `SCRIPT_INVALID` with every mistake and its place. */
export async function readTestFile(file: string, shownAs: string): Promise<WorkflowTests> {
  return readWorkflowTests(await readTextFile(file), shownAs);
}

/** Runs the workflow as the test says, in a world of its own whose clock jumps to what comes next, and compares. */
export async function runTest(
  parts: TestParts,
  workflow: string,
  folder: string,
  test: WorkflowTest,
): Promise<TestReport> {
  return tryTest(parts, workflow, folder, test).catch((error: unknown) => {
    if (!isPawlError(error)) throw error;
    return { name: test.name, failures: describeError(error), durationMs: 0, coverage: addCoverage([]) };
  });
}

function describeError(error: PawlError): readonly string[] {
  const { code, message, remedy = "" } = error;
  const problems = problemsOf(error).map((each) => `${each.rendered.split("\n")[0]} ${each.remedy}`);
  return problems.length > 0 ? problems : [`${code}: ${message} ${remedy}`];
}

async function tryTest(parts: TestParts, workflow: string, folder: string, test: WorkflowTest): Promise<TestReport> {
  const began = performance.now();
  const { app } = parts;
  const startable = await findStartable(app, { workflow, folder, inputFile: writeExact(test.input) });
  const request = { folder, agent: "simulated", toolsWithinMs: 0 };
  const { flight, prepared } = await prepareUnasked(app, startable, request);
  // What this machine lacks, the test has; which tools a server has is known to the server.
  const isMet = (code: ErrorCode) => isOfThisPlace(code) || (code === "MCP_TOOL_UNKNOWN" && !test.real.has("mcp"));
  if (flight.problems.some(({ severity, code }) => severity === "error" && !isMet(code))) flight.refuse();
  const options = { ...prepared.options, agent: "simulated:the test", script: test.scriptText };
  const host = await app.host();
  const { id } = await host.startRun({ ...prepared, options });
  const stuck = await play(app, id, test);
  const ways = new Set<string>();
  const { reading, ...ended } = await readEnded(parts, id, (path, taken) =>
    ways.add(wayOf(withoutNumbers(path), taken)),
  );
  return {
    name: test.name,
    failures: [...unknownNames(reading, test), ...(stuck === undefined ? compare(ended, test.expect) : [stuck])],
    durationMs: Math.round(performance.now() - began),
    end: { ...ended, calls: [...parts.calls] },
    coverage: coverageOf(reading.history, ways),
  };
}

export interface KillReport {
  readonly failures: readonly string[];
  /** Steps that were asked once more, because what they had answered was not on record. */
  readonly again: readonly string[];
  /** Steps that may not be repeated, and fail for that. Then the run may go another way. */
  readonly interrupted: readonly string[];
}

/** Goes on with what a death has left, in a new application that has nothing else, and compares with how it ended without one. */
export async function goOnAfter(parts: TestParts, test: WorkflowTest, death: Death, end: TestEnd): Promise<KillReport> {
  const { app, calls } = parts;
  await app.clock.moveTo(death.at);
  const stuck = await play(app, end.record.id, test);
  const { reading, ...ended } = await readEnded(parts, end.record.id);
  const { steps: known } = (await readRunHistory(await app.records(), ended.record, { upTo: death.seq })).history;
  const lost = death.calls.filter(
    ({ path, attempt }) => known.get(path)?.attempts.find((each) => each.attempt === attempt)?.endedAt === undefined,
  );
  const steps = [...reading.history.steps.values()];
  const interrupted = steps.flatMap(({ path, life }) =>
    life.is === "ended" && life.failure?.code === "INTERRUPTED" ? [path] : [],
  );
  const again = lost.flatMap(({ path, stepId, kind }) => (interrupted.includes(path) ? [] : [`${stepId} (${kind})`]));
  if (stuck !== undefined || interrupted.length > 0)
    return { failures: stuck === undefined ? [] : [stuck], again, interrupted };
  const { max_cost_usd: _, ...expected } = test.expect;
  const outputs = expected.outputs ?? end.outputs;
  const status = end.record.status as Expectations["status"];
  const wanted = { ...expected, status, ...(outputs === undefined ? {} : { outputs }) };
  const failures = [...compare(ended, wanted, lost), ...comparePathsWith(end.paths, ended.paths)];
  const paths = (asked: readonly StandInCall[]) => asked.map(({ path }) => path);
  const allowed = countOf([...paths(end.calls), ...paths(lost)]);
  for (const [path, count] of countOf(paths(calls)))
    if (count > (allowed.get(path) ?? 0))
      failures.push(`calls: \`${path}\` was asked again though its answer was on record`);
  return { failures, again, interrupted };
}

/** Answers, sends and moves time on until the run has ended. What it waits for in vain, if it does. */
async function play(app: OpenApplication, id: string, test: WorkflowTest): Promise<string | undefined> {
  const host = await app.host();
  let waits: readonly string[] = [];
  let isStill = false;
  for (let rests = 0; rests < MAX_RESTS; rests += 1) {
    const record = await withPatience(host.settled(id));
    if (record?.completedAt !== undefined) return undefined;
    const found = record && (await lookAfter(app, record, test));
    if (found === "moved") {
      isStill = false;
      continue;
    }
    waits = found ?? waits;
    const next = app.clock.nextAlarm;
    if (next === undefined && isStill) break;
    // Work goes on that no time ends; or the run rests, and its next alarm is still being set.
    isStill = next === undefined && record !== undefined;
    if (next !== undefined) await app.clock.moveTo(next);
    else if (isStill) await withPatience(new Promise(() => undefined));
  }
  await host.request(id, { type: "cancel", reason: "The test goes no further." });
  return `The run never ends: it waits for ${waits.length === 0 ? "what does not come" : waits.join(", ")}.`;
}

/** Gives a run that rests an answer or an event that it waits for. Else: what it waits for. */
async function lookAfter(
  app: OpenApplication,
  record: RunRecord,
  { answers, events }: Pick<WorkflowTest, "answers" | "events">,
): Promise<"moved" | readonly string[]> {
  const sources = await app.records();
  const { history } = await readRunHistory(sources, record);
  const open = await listApprovals(sources, record);
  for (const { path, step_id, asked, since, approvers, approved_by: before } of open) {
    const found = answers.get(path) ?? answers.get(step_id);
    if (found === undefined) continue;
    const { afterMs = 0, ...answer } = found;
    const dueAt = Date.parse(since) + afterMs;
    if (app.clock.now() < dueAt) {
      // What comes before it wakes first.
      app.clock.wakeAt(dueAt, () => undefined);
      continue;
    }
    // It answers for as many as it takes.
    const who = { name: `person ${before.length + 1} of the test`, groups: approvers ?? [] };
    await answerApproval(app, { record, path, asked }, { ...answer, by: "the test", who });
    return "moved";
  }
  const waited = [...history.state.waiters.keys()];
  const sent = new Set<string>();
  for await (const { event } of eachEvent(sources.journal, record.no))
    if (event.type === "signalReceived") sent.add(event.name);
  const event = waited.find((name) => events.has(eventOfSignal(name)) && !sent.has(name));
  if (event === undefined) {
    const people = open.map(({ path }) => `an answer to \`${path}\` (\`answers\`)`);
    return [...people, ...waited.map((name) => `the event \`${name}\` (\`events\`)`)];
  }
  const host = await app.host();
  await host.request(record.id, { type: "signal", name: event, payload: events.get(eventOfSignal(event)) ?? null });
  return "moved";
}

/** Names that mean nothing, so that what they say would hold of anything. Where a call was not made, they may be of its workflow. */
function unknownNames({ history: { state, steps } }: RunReading, test: WorkflowTest): readonly string[] {
  const graphs = [...state.graphs.values()];
  const all = graphs.flatMap(({ root }) => stepsIn(root));
  const begun = new Set([...steps.values()].map(({ step }) => step.step));
  if (all.some(({ step }) => step.kind === "call" && !begun.has(step))) return [];
  const { expect, script, answers, events } = test;
  const { ran, not_run, calls, inputs } = expect;
  const known = new Set(all.flatMap(({ key, step: { id } }) => [id, key.slice(key.lastIndexOf("/") + 1)]));
  const waited = all.flatMap(({ step }) => (step.kind === "wait" && step.wait.for === "event" ? [step.wait.name] : []));
  const named = waited.flatMap((name) => (name.op === "literal" ? [String(name.value)] : []));
  // The script of agents names them too.
  const scripted = graphs.some(({ graph }) => graph.dialect === "agents") ? [] : [...script.steps.keys()];
  const say = (key: string, what: string, names: Iterable<string>, among: ReadonlySet<string>) =>
    [...names].flatMap((name) => {
      const last = withoutNumbers(name).replace(/^.*\//, "");
      if (among.has(name) || among.has(last)) return [];
      return [
        `${key}: there is no ${what} \`${name}\`. ${suggest(name, among) ?? "`pawl graph` shows what there is."}`,
      ];
    });
  return [
    ...say("steps", "step", scripted, known),
    ...say("answers", "step", answers.keys(), known),
    ...(named.length < waited.length ? [] : say("events", "event", events.keys(), new Set(named))),
    ...say("expect", "step", [...ran, ...not_run, ...calls.keys(), ...inputs.keys()], known),
  ];
}

async function readEnded(
  { app, calls }: TestParts,
  id: string,
  noteWay?: NoteWay,
): Promise<TestEnd & { readonly reading: RunReading }> {
  const record = await (await app.host()).settled(id);
  const sources = await app.records();
  const { reading, outcome } = await readRunResult(sources, record, { noteWay });
  const outputs = outcome.is === "completed" ? outcome.output : undefined;
  return { record, reading, outcome, outputs, paths: [...reading.history.steps.keys()], calls };
}

/** `lost`: calls whose answers a death has taken. They may have been a try of their own, or the same one again. */
function compare(
  { record, outcome, outputs: given, paths, calls }: TestEnd,
  { status, error, outputs, ran, not_run, calls: counts, inputs, max_cost_usd }: Expectations,
  lost: readonly StandInCall[] = [],
): readonly string[] {
  const why = outcome.is === "failed" ? ` (${outcome.code}: ${outcome.message})` : "";
  const found: string[] = [];
  if (record.status !== status) found.push(`status: ${record.status}${why}, and not ${status}`);
  if (error !== undefined && (outcome.is === "completed" || outcome.code !== error))
    found.push(`error: ${outcome.is === "completed" ? "none" : outcome.code}, and not ${error}`);
  if (outputs !== undefined) found.push(...differences(outputs, given, "outputs"));
  found.push(...comparePaths(paths, ran, not_run));
  for (const [step, count] of counts) {
    const tries = calls.filter((call) => isNamed(step, call)).length;
    const least = tries - lost.filter((call) => isNamed(step, call)).length;
    if (count < least || count > tries) found.push(`calls.${step}: ${tries}, and not ${count}`);
  }
  for (const [step, input] of inputs)
    found.push(...differences(input, calls.findLast((call) => isNamed(step, call))?.input, `inputs.${step}`));
  const cost = record.costMicro / 1_000_000;
  if (max_cost_usd !== undefined && cost > max_cost_usd) found.push(`cost: $${cost}, and not at most $${max_cost_usd}`);
  return found;
}

function isNamed(name: string, { path, stepId }: Pick<StandInCall, "path" | "stepId">): boolean {
  return name === stepId || name === path || name === withoutNumbers(path);
}

/** Steps in the order in which they began. */
function comparePaths(paths: readonly string[], ran: readonly string[], notRun: readonly string[]): readonly string[] {
  const names = (path: string) => [path, withoutNumbers(path), parseStepPath(path).stepId];
  const began = `; they began in this order: ${[...new Set(paths.map(withoutNumbers))].join(", ")}`;
  const found: string[] = [];
  let at = 0;
  for (const name of ran) {
    const next = paths.findIndex((path, place) => place >= at && names(path).includes(name));
    if (next < 0) found.push(`ran: \`${name}\` did not${at === 0 ? "" : ", or not after the one before it"}${began}`);
    else at = next + 1;
  }
  for (const name of notRun) {
    const path = paths.find((each) => names(each).includes(name));
    if (path !== undefined) found.push(`not_run: \`${path}\` ran`);
  }
  return found;
}

/** In which order steps that go side by side begin is another matter. */
function comparePathsWith(before: readonly string[], after: readonly string[]): readonly string[] {
  const [left, more] = [new Set(before), new Set(after)];
  return [
    ...before.filter((path) => !more.has(path)).map((path) => `path: \`${path}\` did not run`),
    ...after.filter((path) => !left.has(path)).map((path) => `path: \`${path}\` ran, and does not without a kill`),
  ];
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Objects may have more than is expected; everything else is compared as a whole. */
function differences(expected: Json, found: Json | undefined, path: string): readonly string[] {
  if (isJsonObject(expected) && isJsonObject(found))
    return Object.entries(expected).flatMap(([name, value]) =>
      Object.hasOwn(found, name)
        ? differences(value, found[name], `${path}.${name}`)
        : [`${path}.${name}: nothing (there is ${Object.keys(found).join(", ")}), and not ${shorten(value)}`],
    );
  if (Array.isArray(expected) && Array.isArray(found) && expected.length === found.length)
    return expected.flatMap((value: Json, at) => differences(value, found[at] as Json, `${path}[${at}]`));
  if (found !== undefined && writeExact(found) === writeExact(expected)) return [];
  return [`${path}: ${found === undefined ? "nothing" : shorten(found)}, and not ${shorten(expected)}`];
}

function shorten(value: Json): string {
  const text = writeExact(value);
  return text.length > 300 ? `${text.slice(0, 300)} ...` : text;
}
