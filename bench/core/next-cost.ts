import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Expr } from "../../src/core/expressions/expr.ts";
import type { Flow, Graph, Step } from "../../src/core/graph/graph.ts";
import { indexGraph } from "../../src/core/graph/indexed-graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { Event } from "../../src/core/history/events.ts";
import { newRunState } from "../../src/core/history/new-run-state.ts";
import type { RunState } from "../../src/core/history/run-state.ts";
import { next } from "../../src/core/interpreter/next.ts";

/**
 * What one application of `next` costs as a run grows, core only: in windows of 1,000 steps, the last of 10,000 against
 * the first. Each number is the median over many runs, so that a collection of garbage or a busy neighbour counts once.
 */
const STEPS = 10_000;
const WINDOW = 1_000;
const WARM_UPS = 5;
const ROUNDS = 31;
const ALLOWED_RATIO = 1.2;

const NOTHING: Expr = { op: "literal", value: null };

interface Case {
  readonly name: string;
  readonly flow: Flow;
  readonly steps: number;
}

const CASES: readonly Case[] = [
  { name: "sequence", flow: sequence(), steps: STEPS },
  { name: "fan-out", flow: fanOut(1), steps: STEPS },
  { name: "lineage of three", flow: fanOut(3), steps: 3 * STEPS },
  { name: "loop", flow: loop(), steps: STEPS },
];

console.log("case              steps   ns/step   first window   last window   ratio   worst   state bytes/step");
const ratios = CASES.map((measured) => report(measured));
if (ratios.some((ratio) => ratio > ALLOWED_RATIO)) process.exitCode = 1;

function report({ name, flow, steps }: Case): number {
  const graph = graphOf(flow);
  for (let n = 0; n < WARM_UPS; n += 1) measure(graph, steps);
  const rounds = Array.from({ length: ROUNDS }, () => measure(graph, steps));
  const windows = (rounds[0] ?? []).map((_, window) => median(rounds.map((round) => round[window] ?? 0)));
  // Within one round both windows meet the same neighbours.
  const ratio = median(rounds.map((round) => (round.at(-1) ?? 0) / (round[0] ?? 1)));
  const cells = [
    name.padEnd(16),
    String(steps).padStart(7),
    Math.round(median(windows)).toString().padStart(9),
    `${Math.round(windows[0] ?? 0)} ns`.padStart(14),
    `${Math.round(windows.at(-1) ?? 0)} ns`.padStart(13),
    ratio.toFixed(2).padStart(7),
    (Math.max(...windows) / (windows[0] ?? 1)).toFixed(2).padStart(7),
    Math.round(bytesPerStep(graph, steps)).toString().padStart(18),
  ];
  console.log(cells.join(" "));
  return ratio;
}

/** Nanoseconds per event, window by window. */
function measure(graph: Graph, steps: number): number[] {
  const { state, inFlight } = begin(graph);
  const windows: number[] = [];
  for (let done = 0; done < steps; done += WINDOW) {
    const from = performance.now();
    for (let n = 0; n < WINDOW; n += 1) finishNext(state, inFlight);
    windows.push(((performance.now() - from) * 1e6) / WINDOW);
  }
  if (state.phase !== "finishing") throw new Error(`The run is ${state.phase} and should be finishing.`);
  return windows;
}

/** Paths of tasks in flight: what the start of the run has started, and what came of these. */
interface InFlight {
  readonly first: string[];
  readonly fresh: string[];
  head: number;
}

function begin(graph: Graph): { readonly state: RunState; readonly inFlight: InFlight } {
  const state = newRunState(indexGraph(graph, "hash"));
  const first: string[] = [];
  perform(state, { type: "runStarted", at: 1, runId: "run", workflow: "bench", inputNames: [] }, first);
  return { state, inFlight: { first, fresh: [], head: 0 } };
}

/** An item goes through all its steps before the next one begins to end, so that all windows hold the same work. */
function finishNext(state: RunState, inFlight: InFlight): void {
  const path = inFlight.fresh.pop() ?? inFlight.first[inFlight.head++];
  if (path === undefined) throw new Error("Nothing is in flight.");
  perform(state, { type: "stepSucceeded", at: 2, path, attempt: 1, projected: { k0: true } }, inFlight.fresh);
}

function perform(state: RunState, event: Event, started: string[]): void {
  for (const command of next(state, event).commands)
    if (command.type === "startTask") started.push(command.instance.path);
}

/** What the state of a run holds when all but its last step have ended. */
function bytesPerStep(graph: Graph, steps: number): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const { state, inFlight } = begin(graph);
  for (let n = 1; n < steps; n += 1) finishNext(state, inFlight);
  inFlight.first.length = 0;
  collectGarbage();
  const held = process.memoryUsage().heapUsed - before;
  if (state.phase !== "open") throw new Error("The run should be open.");
  return held / steps;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

function sequence(): Flow {
  const steps = Array.from({ length: STEPS }, (_, n): Step => task(`s${n}`, n === 0 ? {} : { after: [`s${n - 1}`] }));
  return { kind: "dag", steps };
}

/** Items go through `length` steps each, all at once. */
function fanOut(length: number): Flow {
  const list: Expr = { op: "literal", value: Array.from({ length: STEPS }, (_, n) => n) };
  const steps = Array.from({ length }, (_, n): Step => {
    if (n === 0) return task("s0", { each: { list, maxConcurrent: STEPS } });
    return task(`s${n}`, { after: [`s${n - 1}`], usesItem: true });
  });
  return { kind: "dag", steps };
}

function loop(): Flow {
  const goesOn: Expr = { op: "path", root: "output", path: ["more"] };
  // The last visit takes the limit: the loop itself would go on.
  const again = task("again", { transitions: [{ on: "any", when: goesOn, to: "again" }] });
  return { kind: "machine", start: "again", steps: [again], maxVisits: STEPS };
}

function task(id: string, more: Partial<Step>): Step {
  return { kind: "task", executor: "none", id, input: NOTHING, ...more } as Step;
}

function graphOf(flow: Flow): Graph {
  return liftControls({
    format: 1,
    dialect: "direct",
    name: "bench",
    input: { declared: [], defaults: {} },
    flow,
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
