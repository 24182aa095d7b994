import { expect, test } from "vitest";
import type { ApproveStep, Wait } from "../../src/core/graph/graph.ts";
import { runStatus } from "../../src/core/interpreter/run-status.ts";
import {
  compare,
  dag,
  each,
  end,
  endingOf,
  go,
  hostOf,
  input,
  inputOf,
  item,
  literal,
  machine,
  output,
  pathsOf,
  retry,
  steps,
  task,
} from "./build.ts";

function approve(more: Partial<ApproveStep> = {}): ApproveStep {
  return { kind: "approve", id: "ok", message: literal("May it?"), show: literal({ plan: "A" }), ...more };
}

function wait(waited: Wait, more: { readonly [name: string]: unknown } = {}) {
  return { kind: "wait" as const, id: "w", wait: waited, ...more };
}

const after = task("next", { after: ["ok"] });
const event = (name: string, timeoutMs?: number): Wait => ({
  for: "event",
  name: literal(name),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
});

test("a run that waits for a person says so, and goes on with what was shown once it is approved", () => {
  const host = hostOf(dag(approve(), after)).settle();
  expect(runStatus(host.state)).toBe("awaiting_approval");
  host.answer("ok", "approve");
  expect(inputOf(host.run(), "next")).toEqual({ ok: { plan: "A" } });
});

test("without something to show, an approval gives approved", () => {
  const flow = dag({ kind: "approve", id: "ok", message: literal("?") }, after);
  const host = hostOf(flow).settle();
  host.answer("ok", "approve");
  expect(inputOf(host.run(), "next")).toEqual({ ok: { approved: true } });
});

test("edited data takes the place of what was shown", () => {
  const host = hostOf(dag(approve(), after)).settle();
  host.answer("ok", "approve", { plan: "B" });
  expect(inputOf(host.run(), "next")).toEqual({ ok: { plan: "B" } });
});

test("a condition reads edited data", () => {
  const host = hostOf(dag(approve(), { ...after, when: compare(steps("ok", "plan"), "==", "B") })).settle();
  host.answer("ok", "approve", { plan: "B" });
  expect(pathsOf(host.run())).toEqual(["next"]);
});

test("a rejection fails the step, with who and without another try", () => {
  const host = hostOf(dag(approve({ retry: retry(3) }), after)).settle();
  host.answer("ok", "reject");
  expect(endingOf(host.run())).toEqual({ status: "failed", code: "APPROVAL_REJECTED" });
  expect(host.state.ending?.message).toBe("Rejected by eve");
});

test("a rejection can be caught", () => {
  const host = hostOf(dag(approve({ catch: dag(task("mend")) }), after)).settle();
  host.answer("ok", "reject");
  expect(pathsOf(host.run())).toEqual(["ok~catch/mend", "next"]);
});

test("a person may skip: what depends on it runs with null, and the run is complete", () => {
  const host = hostOf(dag(approve(), after)).settle();
  host.answer("ok", "skip");
  expect(inputOf(host.run(), "next")).toEqual({ ok: null });
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("the first answer counts, and the second one finds out whose it was", () => {
  const host = hostOf(dag(approve())).settle();
  host.answer("ok", "reject");
  host.answer("ok", "approve");
  expect(endingOf(host.run())?.code).toBe("APPROVAL_REJECTED");
  expect(host.state.answers.get("ok")).toMatchObject([{ answer: "reject", by: "eve" }]);
});

test.each([
  ["abort", { status: "failed", code: "APPROVAL_TIMED_OUT" }],
  ["skip", { status: "completed" }],
] as const)("an approval that nobody answers in time, with %s", (onApprovalTimeout, ending) => {
  const host = hostOf(dag(approve({ approvalTimeoutMs: 1_000, onApprovalTimeout }), after)).run();
  expect(endingOf(host)).toEqual(ending);
});

test("the answer comes just before the time-out: it counts, and the timer is stopped", () => {
  const host = hostOf(dag(approve({ approvalTimeoutMs: 1_000 }))).later(1_000, () => host.answer("ok", "approve"));
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("the answer comes just after the time-out: the time-out counts", () => {
  const host = hostOf(dag(approve({ approvalTimeoutMs: 1_000 }), task("other"))).later(1_001, () =>
    host.answer("ok", "approve"),
  );
  expect(endingOf(host.run())?.code).toBe("APPROVAL_TIMED_OUT");
  expect(host.state.answers.size).toBe(0);
});

test("each visit asks anew: the path carries it", () => {
  const flow = machine([approve({ transitions: [go("ok", compare(output("plan"), "==", "A")), end()] })]);
  const host = hostOf(flow).settle();
  host.answer("ok#1", "approve");
  host.settle();
  host.answer("ok#1", "reject");
  expect([...host.state.active.keys()]).toEqual(["ok#2"]);
  host.answer("ok#2", "approve", { plan: "B" });
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("an approval survives a crash and is not asked again", () => {
  const host = hostOf(dag(approve(), after)).settle();
  host.crash();
  host.settle();
  expect(host.events.filter((stored) => stored.event.type === "approvalAsked")).toHaveLength(1);
  host.answer("ok", "approve");
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("an approval's time-out goes on counting over a crash", () => {
  const host = hostOf(dag(approve({ approvalTimeoutMs: 1_000 }))).later(900, () => host.crash());
  host.run();
  expect(host.now - host.state.startedAt).toBe(1_000);
});

const reminder = { afterMs: 1_000, everyMs: 500, times: 3 };
const escalation = { afterMs: 2_000, to: ["boss"] };

test("a question is reminded of so often as it says, counted on over crashes, and then escalated once", () => {
  const host = hostOf(dag(approve({ reminder, escalation })));
  const seen: unknown[] = [];
  for (const at of [900, 1_100, 1_600, 2_100, 9_000]) {
    host.later(at, () => {
      const { reminded, isEscalated } = host.state.active.get("ok") ?? {};
      seen.push([reminded, isEscalated]);
      host.crash();
    });
  }
  host.later(9_100, () => host.answer("ok", "approve"));
  expect(endingOf(host.run())).toEqual({ status: "completed" });
  expect(seen).toEqual([
    [0, false],
    [1, false],
    [2, false],
    [3, true],
    [3, true],
  ]);
  const fired = host.events.flatMap(({ event }) => (event.type === "timerFired" ? [event.timer] : []));
  expect(fired.toSorted()).toEqual(["ok@escalate", "ok@remind", "ok@remind", "ok@remind"]);
});

test("an answer and a time-out end all reminders; a question that is asked again begins them anew", () => {
  const again = { transitions: [go("ok", compare(output("plan"), "==", "A")), end()] };
  const flow = machine([approve({ reminder: { afterMs: 1_000, times: 9 }, approvalTimeoutMs: 60_000, ...again })]);
  const host = hostOf(flow).later(2_500, () => host.answer("ok#1", "approve"));
  host.later(4_000, () => {
    expect(host.state.active.get("ok#2")?.reminded).toBe(1);
    host.answer("ok#2", "approve", { plan: "B" });
  });
  expect(endingOf(host.run())).toEqual({ status: "completed" });
  expect(host.state.timers.size).toBe(0);
  const late = hostOf(dag(approve({ reminder, escalation, approvalTimeoutMs: 1_200 }))).run();
  expect([endingOf(late)?.code, late.state.timers.size]).toEqual(["APPROVAL_TIMED_OUT", 0]);
});

test.each([
  ["a duration", { for: "duration", durationMs: literal(5_000) }, 5_000],
  ["a computed duration", { for: "duration", durationMs: input("ms") }, 7_000],
  ["no time at all", { for: "duration", durationMs: literal(0) }, 0],
  ["an instant that has passed", { for: "instant", at: literal(1) }, 0],
] as const)("a wait for %s", (_, waited, ms) => {
  const host = hostOf(dag(wait(waited)), { input: { ms: 7_000 } }).run();
  expect(host.now - host.state.startedAt).toBe(ms);
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("a wait that cannot be computed fails with WAIT_INVALID", () => {
  expect(endingOf(hostOf(dag(wait({ for: "duration", durationMs: input("nothing") }))).run())?.code).toBe(
    "WAIT_INVALID",
  );
});

test("a wait for an event gives its payload", () => {
  const host = hostOf(dag(wait(event("paid")), task("next", { after: ["w"] }))).later(50, () =>
    host.signal("paid", { sum: 3 }),
  );
  expect(inputOf(host.run(), "next")).toEqual({ w: { sum: 3 } });
});

test("a condition reads an event's payload", () => {
  const flow = dag(wait(event("paid")), task("next", { after: ["w"], when: compare(steps("w", "sum"), ">", 2) }));
  const host = hostOf(flow).later(50, () => host.signal("paid", { sum: 3 }));
  expect(pathsOf(host.run())).toEqual(["next"]);
});

test("signals that come before anybody waits are kept and read in order", () => {
  const flow = machine([
    task("first", { transitions: [go("w")] }),
    wait(event("go"), { assign: { one: output() }, transitions: [go("x")] }),
    { kind: "wait", id: "x", wait: event("go") },
  ]);
  const host = hostOf(flow, { script: { first: { output: 1, delayMs: 100 } } });
  host.later(1, () => host.signal("go", "one")).later(2, () => host.signal("go", "two"));
  expect(host.run().output()).toBe("two");
  expect(host.state.signals.size).toBe(0);
});

test("two steps that wait for one name are served in the order in which they began", () => {
  const flow = dag({ ...wait(event("go")), each: each(literal([0, 1])) });
  const host = hostOf(flow)
    .later(5, () => host.signal("go", "one"))
    .later(6, () => host.signal("go", "two"));
  expect(host.run().output()).toEqual({ w: ["one", "two"] });
});

test("a signal of another name wakes nobody", () => {
  const host = hostOf(dag(wait(event("go", 100)))).later(5, () => host.signal("stop", null));
  expect(endingOf(host.run())?.code).toBe("WAIT_TIMED_OUT");
});

test("an event that does not come in time fails the wait, which may be tried again", () => {
  const host = hostOf(dag(wait(event("go", 1_000), { retry: retry(2) }))).later(1_500, () => host.signal("go", "late"));
  expect(host.run().output()).toEqual({ w: "late" });
});

test("the name of an event may be computed per item", () => {
  const flow = dag({
    ...wait({ for: "event", name: item("name") }),
    each: each(literal([{ name: "a" }, { name: "b" }])),
  });
  const host = hostOf(flow)
    .later(5, () => host.signal("b", 2))
    .later(6, () => host.signal("a", 1));
  expect(host.run().output()).toEqual({ w: [1, 2] });
});
