import { setTimeout } from "node:timers/promises";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import {
  type Expectations,
  readWorkflowTests,
  type WorkflowTest,
  type WorkflowTests,
} from "../../dialects/agent-script/workflow-tests.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";
import type { TestClock } from "../../ports/clock.ts";
import type { StandInCall } from "../../ports/stand-ins.ts";
import type { OpenApplication } from "../application/ports.ts";
import { answerApproval } from "../approvals/answer-approval.ts";
import { listApprovals } from "../approvals/describe-run-approvals.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { type RunReading, readRunHistory } from "../runs/describe/describe-run-reading.ts";
import { readRunResult } from "../runs/read-run-result.ts";
import { isOfThisPlace } from "../start/preflight.ts";
import { findStartable, prepareUnasked } from "../start/prepare-run.ts";

export interface TestParts {
  readonly app: OpenApplication;
  readonly clock: TestClock;
  /** What stand-ins have been asked, in order. */
  readonly calls: readonly StandInCall[];
}

export interface TestReport {
  readonly name: string;
  /** What does not hold. Empty: it passed. */
  readonly failures: readonly string[];
  readonly durationMs: number;
  /** Steps of the workflow itself, and those of them that ran. */
  readonly steps: ReadonlySet<string>;
  readonly ran: ReadonlySet<string>;
}

/** How long work that goes on is waited for before time moves on: it may be work that a time-out is to end. */
const WORK_MS = 1_000;
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
    return { name: test.name, failures: describeError(error), durationMs: 0, steps: new Set(), ran: new Set() };
  });
}

function describeError({ code, message, remedy = "", details }: PawlError): readonly string[] {
  const { problems = [] } = (details ?? {}) as { readonly problems?: readonly ShownProblem[] };
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return [`${code}: ${message} ${remedy}`];
  return errors.map((problem) => `${problem.rendered.split("\n")[0]} ${problem.remedy}`);
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
  const stuck = await play(parts, id, test);
  const record = await host.settled(id);
  const sources = await app.records();
  const reading = await readRunHistory(sources, record);
  const differences = stuck === undefined ? await compare({ ...parts, reading }, record, test.expect) : [stuck];
  return {
    name: test.name,
    failures: differences,
    durationMs: Math.round(performance.now() - began),
    steps: new Set(reading.history.state.graph.root.steps.map(({ key }) => key)),
    ran: new Set([...reading.history.steps.keys()].map(withoutNumbers)),
  };
}

type Played = Pick<TestParts, "app" | "clock">;

/** Answers, sends and moves time on until the run has ended. What it waits for in vain, if it does. */
async function play(
  { app, clock }: Played,
  id: string,
  { answers, events }: WorkflowTest,
): Promise<string | undefined> {
  const host = await app.host();
  const sources = await app.records();
  const sent = new Set<string>();
  let waitsFor = "";
  for (let rests = 0; rests < MAX_RESTS; rests += 1) {
    const record = await Promise.race([host.settled(id), setTimeout(WORK_MS, undefined, { ref: false })]);
    if (record?.completedAt !== undefined) return undefined;
    if (record !== undefined) {
      const { history } = await readRunHistory(sources, record);
      const open = await listApprovals(sources, record);
      const asked = open.find(({ step_id, path }) => answers.has(path) || answers.has(step_id));
      if (asked !== undefined) {
        const { edited, ...said } = answers.get(asked.path) ?? answers.get(asked.step_id) ?? { answer: "approve" };
        const answer = { ...said, ...(edited === undefined ? {} : { edited }), by: "the test" };
        await answerApproval(app, { record, path: asked.path, asked: asked.asked }, answer);
        continue;
      }
      const waited = [...history.state.waiters.keys()];
      const event = waited.find((name) => events.has(name) && !sent.has(name));
      if (event !== undefined) {
        sent.add(event);
        await host.request(id, { type: "signal", name: event, payload: events.get(event) ?? null });
        continue;
      }
      const people = open.map(({ path }) => `an answer to \`${path}\` (\`answers\`)`);
      waitsFor = [...people, ...waited.map((name) => `the event \`${name}\` (\`events\`)`)].join(", ");
    }
    const next = clock.nextAlarm;
    if (next === undefined) break;
    await clock.moveTo(next);
  }
  await host.request(id, { type: "cancel", reason: "The test goes no further." });
  return `The run never ends: it waits for ${waitsFor === "" ? "what does not come" : waitsFor}.`;
}

interface Ran extends TestParts {
  readonly reading: RunReading;
}

async function compare(
  { app, calls, reading }: Ran,
  record: Parameters<typeof readRunResult>[1],
  { status, error, outputs, ran, not_run, calls: counts, inputs, max_cost_usd }: Expectations,
): Promise<readonly string[]> {
  const { outcome } = await readRunResult(await app.records(), record);
  const why = outcome.is === "failed" ? ` (${outcome.code}: ${outcome.message})` : "";
  const found: string[] = [];
  if (record.status !== status) found.push(`status: ${record.status}${why}, and not ${status}`);
  if (error !== undefined && (outcome.is === "completed" || outcome.code !== error))
    found.push(`error: ${outcome.is === "completed" ? "none" : outcome.code}, and not ${error}`);
  if (outputs !== undefined)
    found.push(...differences(outputs, outcome.is === "completed" ? outcome.output : undefined, "outputs"));
  const paths = [...reading.history.steps.keys()];
  found.push(...comparePaths(paths, ran, not_run));
  for (const [step, count] of counts) {
    const tries = calls.filter((call) => isNamed(step, call)).length;
    if (tries !== count) found.push(`calls.${step}: ${tries}, and not ${count}`);
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
  const names = (path: string) => [path, withoutNumbers(path), unnumberedStep(path)];
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

/** `batch[2]/poll#7` is of the step `batch/poll`. */
function withoutNumbers(path: string): string {
  return path.replace(/#\d+|\[\d+\]/g, "");
}

function unnumberedStep(path: string): string {
  const plain = withoutNumbers(path);
  return plain.slice(plain.lastIndexOf("/") + 1);
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
