import { expect, test } from "vitest";
import type { Fault } from "../faults/fault-plan.ts";
import { SHAPES } from "../workload/workload.ts";
import { answerTo } from "../world/value.ts";
import { check } from "./check.ts";
import type { Observation, ObservedEvent, ObservedRun } from "./observation.ts";

const BEGUN = 1_800_000_000_000;
const MINUTE_MS = 60_000;
const LABEL = "chain-0";
const STEPS = ["one", "two", "three"];
const KILL: Fault = { kind: "kill", process: "worker-1", restartMs: 0, clockOffsetMs: 0 };

/** A run of three steps that nobody has disturbed, a schedule of two slots, and nothing else. */
function undisturbed() {
  const planned = SHAPES.find(({ name }) => name === "chain")?.expect(LABEL).effects ?? [];
  const values = planned.map(({ step, given }) => [step, { body: { value: answerTo(LABEL, step, given) } }] as const);
  const paths = STEPS.map((path, n): ObservedEvent => ({ type: "stepSucceeded", path, at: BEGUN + n * 100 + 90 }));
  const events = [{ type: "runStarted", at: BEGUN }, ...paths, { type: "runFinished", at: BEGUN + 400 }];
  const run = {
    runId: "run-a",
    workflow: "chain",
    status: "completed",
    outputs: Object.fromEntries(values),
    events: events.map((event: ObservedEvent, n) => ({ seq: n + 1, event })),
  };
  const tick = (n: number): ObservedRun => ({ ...run, runId: `tick-${n}`, workflow: "tick", events: [] });
  return {
    leaseMs: 8_000,
    faults: [] as Observation["faults"][number][],
    accepted: [{ label: LABEL, shape: "chain", runId: "run-a", at: BEGUN, without: [] }],
    runs: [run, tick(0), tick(1)] as ObservedRun[],
    effects: planned.map(({ step, given }, n) => ({
      ...{ at: BEGUN + n * 100, until: BEGUN + n * 100 + 50, by: "http" as const, label: LABEL, step, given },
      key: `run-a:${step}:1`,
      failed: false,
    })),
    webhooks: [{ at: BEGUN + 500, id: "wh-1", body: toEnd("run-a"), refused: false }],
    schedules: [
      {
        id: "s",
        first: BEGUN,
        last: BEGUN + MINUTE_MS,
        slots: [0, 1].map((n) => ({ slot: BEGUN + n * MINUTE_MS, state: "started", runId: `tick-${n}` })),
      },
    ],
    budget: { limitMicro: 100, billedMicro: 90, notedMicro: 95 },
    failedRequests: [] as Observation["failedRequests"][number][],
    complaints: [] as string[],
    unattended: [] as Observation["unattended"][number][],
    idle: [],
  };
}

type Doctored = ReturnType<typeof undisturbed>;

function toEnd(runId: string): string {
  return JSON.stringify({ event: "workflow.completed", run_id: runId });
}

/** Puts an event into the journal of the run; the numbers stay dense. */
function insert(seen: Doctored, place: number, event: ObservedEvent): void {
  const [run, ...others] = seen.runs;
  if (run === undefined) return;
  const events = run.events.map((one) => one.event).toSpliced(place, 0, event);
  seen.runs = [{ ...run, events: events.map((one, n) => ({ seq: n + 1, event: one })) }, ...others];
}

function change(seen: Doctored, changes: Partial<ObservedRun>): void {
  seen.runs = seen.runs.map((run) => (run.runId === "run-a" ? { ...run, ...changes } : run));
}

/** Does the last effect of the step again so much later. */
function repeat(seen: Doctored, step: string, afterMs: number): void {
  const effect = seen.effects.find((one) => one.step === step);
  if (effect === undefined) return;
  const again = { ...effect, at: effect.at + afterMs, until: effect.until + afterMs };
  seen.effects = [...seen.effects, again].sort((a, b) => a.at - b.at);
}

test("what nobody has disturbed is in order", () => {
  expect(check(undisturbed())).toEqual([]);
});

const DOCTORED: readonly (readonly [string, string, (seen: Doctored) => void])[] = [
  ["ends", "an accepted run that is not there", (seen) => seen.runs.shift()],
  ["ends", "a run that has not ended", (seen) => change(seen, { status: "running" })],
  ["ends", "a run that has failed", (seen) => change(seen, { status: "failed" })],
  ["ends", "another output", (seen) => change(seen, { outputs: { one: { body: { value: "x" } } } })],
  [
    "no-others",
    "a run that nobody asked for",
    (seen) => seen.runs.push({ ...(seen.runs[1] as ObservedRun), runId: "b" }),
  ],
  ["dense", "a number that is missing", (seen) => change(seen, { events: seen.runs[0]?.events.toSpliced(2, 1) ?? [] })],
  ["once", "a step recorded twice", (seen) => insert(seen, 3, { type: "stepSucceeded", path: "one", at: BEGUN + 300 })],
  ["once", "a step begun again behind its end", (seen) => insert(seen, 3, { type: "stepStarted", path: "one", at: 1 })],
  ["once", "a second end", (seen) => insert(seen, 5, { type: "runFinished", at: BEGUN + 900 })],
  ["repeated", "an effect repeated without a fault", (seen) => repeat(seen, "three", 60)],
  ["inputs", "a step with another input", (seen) => Object.assign(seen.effects[1] ?? {}, { given: "x" })],
  ["order", "a step before its inputs", (seen) => Object.assign(seen.effects[1] ?? {}, { at: BEGUN + 10 })],
  ["order", "a step again after the next has begun", (seen) => repeat(seen, "one", 150)],
  ["effects", "a step without its effect", (seen) => seen.effects.pop()],
  ["effects", "work for nobody", (seen) => Object.assign(seen.effects[0] ?? {}, { label: "chain-9" })],
  ["webhooks", "an end that nobody was told", (seen) => seen.webhooks.pop()],
  ["webhooks", "an end that was only refused", (seen) => Object.assign(seen.webhooks[0] ?? {}, { refused: true })],
  [
    "webhooks",
    "a second id",
    (seen) => seen.webhooks.push({ at: 1, id: "wh-2", body: toEnd("run-a"), refused: false }),
  ],
  ["schedules", "a lost slot", (seen) => seen.schedules[0]?.slots.pop()],
  [
    "schedules",
    "a doubled slot",
    (seen) => seen.schedules[0]?.slots.push({ slot: BEGUN, state: "started", runId: "c" }),
  ],
  [
    "schedules",
    "two slots with one run",
    (seen) => Object.assign(seen.schedules[0]?.slots[1] ?? {}, { runId: "tick-0" }),
  ],
  ["budgets", "more billed than allowed", (seen) => Object.assign(seen.budget, { billedMicro: 101, notedMicro: 101 })],
  ["budgets", "less noted than billed", (seen) => Object.assign(seen.budget, { notedMicro: 80 })],
  ["requests", "a complaint", (seen) => seen.complaints.push("refused")],
  ["requests", "a failed request", (seen) => seen.failedRequests.push(failedAt(BEGUN))],
  ["attended", "a run of nobody", (seen) => seen.unattended.push({ runId: "run-a", at: BEGUN, forMs: 7_500 })],
  ["undisturbed", "a step cut off", (seen) => insert(seen, 1, { type: "stepInterrupted", cause: "parked", at: BEGUN })],
];

function failedAt(at: number): Observation["failedRequests"][number] {
  return { at, until: at + 10, process: "api-1", what: "GET /runs: ECONNRESET" };
}

test.each(DOCTORED)("%s: %s is found", (name, _, doctor) => {
  const seen = undisturbed();
  doctor(seen);
  expect(check(seen).map((violation) => violation.check)).toContain(name);
});

test("a fault explains what it may cause and nothing else", () => {
  const seen = undisturbed();
  seen.faults.push({ fault: KILL, at: BEGUN + 220, until: BEGUN + 240 });
  repeat(seen, "three", 60);
  seen.failedRequests.push({ ...failedAt(BEGUN + 220), process: "worker-1" });
  expect(check(seen)).toEqual([]);
  seen.failedRequests.push(failedAt(BEGUN + 220));
  expect(check(seen).map((violation) => violation.check)).toEqual(["requests"]);
});

test("a step that must not be repeated is not excused by a fault", () => {
  const label = "only-once-0";
  const seen = undisturbed();
  const effect = {
    ...(seen.effects[0] as Doctored["effects"][number]),
    label,
    step: "slow-once",
    key: "run-b:slow-once:1",
  };
  const outputs = { "slow-once": { body: { value: answerTo(label, "slow-once", "seed") } } };
  seen.accepted.push({ label, shape: "only-once", runId: "run-b", at: BEGUN, without: [] });
  seen.runs.push({ ...(seen.runs[1] as ObservedRun), runId: "run-b", outputs });
  seen.webhooks.push({ at: 1, id: "wh-b", body: toEnd("run-b"), refused: false });
  seen.effects.push(effect, { ...effect, at: BEGUN + 90 });
  seen.faults.push({ fault: KILL, at: BEGUN + 50, until: BEGUN + 60 });
  expect(check(seen).map((violation) => violation.check)).toEqual(["repeated"]);
});

test("a slot that comes while everything is looked at may still be at work", () => {
  const seen = undisturbed();
  seen.schedules[0]?.slots.push({ slot: BEGUN + 2 * MINUTE_MS, state: "started", runId: "tick-2" });
  expect(check(seen)).toEqual([]);
});

test("a take-over that takes longer than fifteen seconds is found, without the time in which nobody could take over", () => {
  const seen = undisturbed();
  const died = { type: "stepInterrupted", cause: "crash", path: "one", at: BEGUN + 16_000, diedAt: BEGUN - 500 };
  insert(seen, 1, died);
  seen.faults.push({ fault: KILL, at: BEGUN, until: BEGUN + 10 });
  expect(check(seen).map((violation) => violation.check)).toEqual(["take-over"]);
  expect(check({ ...seen, idle: [{ at: BEGUN + 1_000, until: BEGUN + 3_000 }] })).toEqual([]);
});
