import { expect, test } from "vitest";
import { isParked, runStatus } from "../../src/core/interpreter/run-status.ts";
import type { TaskCall, TaskResult } from "./behaviour.ts";
import { dag, each, endingOf, fails, hostOf, item, literal, machine, pathsOf, retry, task } from "./build.ts";
import type { CoreHost } from "./core-host.ts";

/** A task that asks these questions one after another and then gives what it was told. */
function asking(keys: readonly string[], more: Partial<TaskResult> = {}) {
  return ({ answers }: TaskCall): TaskResult => {
    const key = keys[answers.length];
    return key === undefined ? { ...more, output: answers } : ({ ...more, asks: key } as TaskResult);
  };
}

const output = (value: unknown): TaskResult => ({ output: value as null });

type Plays = { readonly [id: string]: (call: TaskCall) => TaskResult };

function playing(flow: Parameters<typeof hostOf>[0], plays: Plays, more: Parameters<typeof hostOf>[1] = {}): CoreHost {
  const play = (call: TaskCall) => (plays[call.stepId] ?? (() => output(call.path)))(call);
  return hostOf(flow, { ...more, outside: { task: play, ...more.outside } });
}

const spent = (host: CoreHost) => host.state.budget.spentMicro;
const openPaths = (host: CoreHost) =>
  [...host.state.active.values()].filter(({ phase }) => phase === "approval").map(({ path }) => path);

test("a task that asks waits as an approval does, and goes on with the answer", () => {
  const host = playing(dag(task("a"), task("b", { after: ["a"] })), { a: asking(["deploy"]) }).settle();
  expect(runStatus(host.state)).toBe("awaiting_approval");
  expect(host.state.tasksInFlight).toBe(0);
  host.answer("a", "reject");
  host.run();
  expect(host.outputs().get("a")).toEqual([{ answer: "reject", by: "eve" }]);
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("the attempts before and after a question are of one generation, and no failure or crash is put down to it", () => {
  const host = playing(dag(task("a", { retry: retry(2) })), { a: asking(["one", "two"]) }).settle();
  host.answer("a", "approve");
  host.settle();
  expect(host.state.active.get("a")).toMatchObject({ generation: 1, failures: 0, deaths: [], attempt: 2 });
  host.answer("a", "skip");
  host.run();
  expect(host.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(host.outputs().get("a")).toMatchObject([{ answer: "approve" }, { answer: "skip" }]);
});

test("each question is answered for itself, and who answers an earlier one again changes nothing", () => {
  const host = playing(dag(task("a")), { a: asking(["one", "two"]) }).settle();
  const first = host.state.active.get("a")?.askedSeq ?? 0;
  host.answer("a", "approve", undefined, first);
  host.settle();
  host.answer("a", "approve", undefined, first);
  expect(openPaths(host)).toEqual(["a"]);
  expect(host.state.answers.get("a")).toMatchObject([{ askedSeq: first, answer: "approve" }]);
});

test("the cost of every attempt is booked once, and early ones are not booked twice", () => {
  const plays = { a: asking(["deploy"], { costMicro: 100, earlyCostMicro: 40, delayMs: 10 }) };
  const host = playing(dag(task("a")), plays, { maxCostMicro: 1_000 }).settle();
  expect(host.state.budget).toMatchObject({ spentMicro: 100 });
  host.answer("a", "approve");
  host.run();
  expect(spent(host)).toBe(200);
});

test("asking is no other try", () => {
  const host = playing(dag(task("a"), task("b", { after: ["a"] })), { a: asking(["q"]) }, { uses: { maxTries: 2 } });
  host.settle().answer("a", "approve");
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("a step that may be done only once goes on after its question, and not after a crash", () => {
  const flow = dag(task("a", { atMostOnce: true }));
  const host = playing(flow, { a: asking(["deploy"]) }).settle();
  host.answer("a", "approve");
  expect(endingOf(host.run())).toEqual({ status: "completed" });
  const cut = playing(flow, { a: asking(["deploy"], { delayMs: 50 }) }).settle();
  cut.answer("a", "approve");
  cut.crash();
  expect(endingOf(cut.run())).toEqual({ status: "failed", code: "INTERRUPTED" });
});

test("questions and answers survive crashes, and nothing is asked twice", () => {
  const whole = playing(dag(task("a")), { a: asking(["one", "two"]) }, { outside: { answer: approve } }).run();
  for (let seq = 1; seq < whole.events.length; seq += 1) {
    const plays = { a: asking(["one", "two"]) };
    const host = playing(dag(task("a")), plays, { outside: { answer: approve } })
      .dieAfter(seq)
      .run();
    expect(host.outputs()).toEqual(whole.outputs());
    expect(host.events.filter(({ event }) => event.type === "approvalAsked")).toHaveLength(2);
  }
});

const approve = () => ({ answer: "approve" as const, delayMs: 5 });

test("a retry that is known to have done nothing begins anew and asks again; any other keeps the answers", () => {
  const asked = (effect: "none" | "unknown") => {
    const play = (call: TaskCall) =>
      call.answers.length === 0
        ? ({ asks: "deploy" } as const)
        : call.failures === 0
          ? fails("AGENT_FAILED", { effect } as Partial<TaskResult>)
          : output("done");
    const host = playing(dag(task("a", { retry: retry(3) })), { a: play }, { outside: { answer: approve } }).run();
    expect(endingOf(host)).toEqual({ status: "completed" });
    return host.events.filter(({ event }) => event.type === "approvalAsked").length;
  };
  expect(asked("none")).toBe(2);
  expect(asked("unknown")).toBe(1);
});

test("an item that waits for a person gives its place in the window to the next", () => {
  const flow = dag(task("a", { each: each(literal([0, 1, 2, 3]), 1), input: item() }));
  const plays = { a: (call: TaskCall) => (call.input === 0 ? asking(["q"])(call) : output(call.input)) };
  const host = playing(flow, plays).settle();
  expect(host.outputs().size).toBe(3);
  expect(openPaths(host)).toEqual(["a[0]"]);
  host.answer("a[0]", "approve");
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("answered items wait for a place in the window, before those that have not begun", () => {
  const flow = dag(task("a", { each: each(literal([0, 1, 2, 3]), 1), input: item() }));
  const plays = {
    a: (call: TaskCall) =>
      Number(call.input) < 2 ? asking(["q"], { delayMs: 10 })(call) : { output: call.input, delayMs: 1_000 },
  };
  const host = playing(flow, plays).later(100, () => {
    host.answer("a[1]", "approve");
    host.answer("a[0]", "approve");
    expect(pathsOf(host)).toEqual(["a[0]", "a[1]", "a[2]"]);
    expect(isParked(host.state)).toBe(false);
  });
  expect(pathsOf(host.run())).toEqual(["a[0]", "a[1]", "a[2]", "a[1]", "a[0]", "a[3]"]);
});

test("a run whose answered item waits for the place of one that waits for a person is parked", () => {
  const flow = dag(
    task("a", {
      each: each(literal([0, 1]), 1),
      input: item(),
      catch: dag({ kind: "approve", id: "help", message: literal("?") }),
    }),
  );
  const plays = { a: (call: TaskCall) => (call.input === 0 ? asking(["q"])(call) : fails()) };
  const host = playing(flow, plays).settle();
  host.answer("a[0]", "approve");
  host.settle();
  expect(host.state.active.get("a[0]")?.phase).toBe("answered");
  expect(runStatus(host.state)).toBe("awaiting_approval");
  host.crash();
  host.answer("a[1]~catch/help", "approve");
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("a sibling that fails with abort takes the question back", () => {
  const flow = dag(task("a"), task("b"));
  const host = playing(flow, { a: asking(["q"]), b: () => fails("AGENT_FAILED", { delayMs: 20 }) });
  expect(endingOf(host.run())).toEqual({ status: "failed", code: "AGENT_FAILED" });
});

test("a task that asks after its flow has failed is not waited for, and its cost is booked", () => {
  const flow = dag(task("a"), task("b"));
  const plays = { a: asking(["q"], { delayMs: 50, costMicro: 70 }), b: () => fails() };
  const host = playing(flow, plays).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "AGENT_FAILED" });
  expect(spent(host)).toBe(70);
});

test("cancel takes the question back and runs finally; an answer then comes too late", () => {
  const host = playing(dag(task("a", { finally: dag(task("tidy")) })), { a: asking(["q"]) }).settle();
  host.cancel();
  host.answer("a", "approve");
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
  expect(pathsOf(host)).toEqual(["a", "a~finally/tidy"]);
});

test("a question that comes after the task was told to stop is not asked, but paid for", () => {
  const plays = { a: asking(["q"], { delayMs: 500, onAbort: "finish", costMicro: 30 }) };
  const host = playing(dag(task("a")), plays).later(10, () => host.cancel());
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
  expect(spent(host)).toBe(30);
});

test("a question that comes after its task was given up is only booked", () => {
  const plays = {
    a: asking(["q"], { delayMs: 60_000, onAbort: "finish", costMicro: 30 }),
    tidy: () => ({ output: null, delayMs: 120_000 }),
  };
  const flow = dag(task("a"), task("b", { finally: dag(task("tidy")) }));
  const host = playing(flow, plays).later(10, () => host.cancel());
  expect(endingOf(host.run())?.status).toBe("cancelled");
  expect(spent(host)).toBe(30);
  expect(host.state.approvalsOpen).toBe(0);
});

test.each([
  ["just before the run's time-out counts", 990, { status: "completed" }],
  ["just after it comes too late", 1_001, { status: "failed", code: "RUN_TIMEOUT" }],
] as const)("an answer %s", (_, atMs, ending) => {
  const host = playing(dag(task("a")), { a: asking(["q"], { delayMs: 0 }) }, { limits: { timeoutMs: 1_000 } });
  host.later(atMs, () => host.answer("a", "approve"));
  expect(endingOf(host.run())).toEqual(ending);
});

test("a nested flow's time-out goes on while a person is asked", () => {
  const flow = dag({ kind: "flow", id: "f", timeoutMs: 1_000, flow: dag(task("a")) });
  expect(endingOf(playing(flow, { a: asking(["q"]) }).run())?.code).toBe("TIMEOUT");
});

test("a run that is parked with an open question goes on with the answer once it is resumed", () => {
  const flow = dag(task("a"), task("b"));
  const host = playing(flow, { a: asking(["q"]), b: () => ({ output: 1, delayMs: 100 }) });
  host.later(50, () => {
    host.park();
    host.answer("a", "approve");
    expect(host.state.active.get("a")?.phase).toBe("blocked");
    host.crash();
  });
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("each visit of a machine asks its own questions", () => {
  const flow = machine([task("a", { transitions: [{ on: "success", to: "b" }] }), task("b")]);
  const host = playing(flow, { a: asking(["q"]), b: asking(["q"]) }).settle();
  host.answer("a#1", "approve");
  host.settle();
  expect(openPaths(host)).toEqual(["b#1"]);
});
