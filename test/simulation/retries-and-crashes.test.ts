import { expect, test } from "vitest";
import type { RetryPolicy } from "../../src/core/graph/graph.ts";
import type { Effect } from "../../src/core/history/events.ts";
import { findHeld } from "../../src/core/interpreter/attempt/crashes.ts";
import { runStatus, waitsForOthers } from "../../src/core/interpreter/run-status.ts";
import { dag, each, endingOf, fails, hostOf, literal, pathsOf, retry, task } from "./build.ts";
import type { CoreHost } from "./core-host.ts";

/** Times at which attempts began, from the first one. */
function waitsOf(policy: RetryPolicy): number[] {
  const host = hostOf(dag(task("a", { retry: policy })), {
    script: { a: fails("AGENT_FAILED", { delayMs: 0 }) },
  }).run();
  return host.events.flatMap(({ event }) => (event.type === "stepFailed" ? [event.at - host.state.startedAt] : []));
}

const SLOW = { output: "at last", delayMs: 3_600_000 };

/** A run whose first step is held. */
function held(): CoreHost {
  const host = hostOf(dag(task("a"), task("b", { after: ["a"] })), { script: { a: SLOW } }).start();
  for (let death = 0; death < 5; death += 1) dieInFlight(host);
  expect(host.settle().state.active.get("a")?.phase).toBe("held");
  return host;
}

function attemptsOf(host: CoreHost): number[] {
  return host.calls.map(({ attempt }) => attempt);
}

test.each([
  ["fixed", [0, 100, 200, 300]],
  ["linear", [0, 100, 300, 600]],
  ["exponential", [0, 100, 300, 700]],
] as const)("a failed step is retried after its backoff: %s", (backoff, at) => {
  expect(waitsOf(retry(4, { backoff }))).toEqual(at);
});

test("no delay is longer than the longest allowed", () => {
  expect(waitsOf(retry(5, { backoff: "exponential", maxMs: 250 }))).toEqual([0, 100, 300, 550, 800]);
});

test("jitter moves the delays by its share at most, and is the same every time", () => {
  const policy = retry(4, { jitter: 0.5 });
  const at = waitsOf(policy);
  expect(waitsOf(policy)).toEqual(at);
  const delays = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  for (const delay of delays) expect(Math.abs(delay - 100)).toBeLessThanOrEqual(50);
  expect(new Set(delays).size).toBe(3);
});

test("a step succeeds at its second try", () => {
  const host = hostOf(dag(task("a", { retry: retry(3) })), { script: { a: [fails(), { output: "at last" }] } }).run();
  expect(host.output()).toEqual({ a: "at last" });
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("an error that is not retryable is final", () => {
  const host = hostOf(dag(task("a", { retry: retry(3) })), {
    script: { a: fails("AGENT_REFUSED", { retryable: false } as never) },
  }).run();
  expect(attemptsOf(host)).toEqual([1]);
});

test.each([
  ["none", 3, "AGENT_FAILED"],
  ["unknown", 1, "AGENT_FAILED"],
  ["done", 1, "AGENT_FAILED"],
] as const)(
  "a step that may be done only once is tried again only if its effect is none: %s",
  (effect: Effect, tries, code) => {
    const flow = dag(task("a", { atMostOnce: true, retry: retry(3) }));
    const host = hostOf(flow, { script: { a: fails("AGENT_FAILED", { effect } as never) } }).run();
    expect(attemptsOf(host)).toHaveLength(tries);
    expect(endingOf(host)?.code).toBe(code);
  },
);

test.each([
  [{ effect: "none" }, 2],
  [{ effect: "unknown" }, 1],
  [{ effect: "done" }, 1],
  [{ effect: "unknown", answered: true }, 2],
] as const)("the generation grows where it is known what came of the attempt: %j", (known, generation) => {
  const host = hostOf(dag(task("a", { retry: retry(2, { initialMs: 1_000 }) })), {
    script: { a: fails("TIMEOUT", known as never) },
  }).start();
  host.tick();
  expect(host.state.active.get("a")?.generation).toBe(generation);
});

test("a crash uses up no try and keeps the generation", () => {
  const host = hostOf(dag(task("a", { retry: retry(2) })), { script: { a: [fails(), { output: 1 }] } }).start();
  host.crash();
  host.crash();
  expect(host.state.active.get("a")).toMatchObject({ attempt: 3, failures: 0, generation: 1 });
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

/** The step is in flight, and a suspect's start is on record. */
function dieInFlight(host: CoreHost, lastSeenAt?: number): void {
  if ((host.state.active.get("a")?.deaths.length ?? 0) >= 3) host.tick();
  host.crash(lastSeenAt);
}

test("a step that was alone in flight at five deaths is held, and the run rests without an end", () => {
  const host = hostOf(dag(task("a", { retry: retry(3) }), task("b", { after: ["a"] })), {
    script: { a: SLOW },
  }).start();
  host.crash();
  host.crash();
  host.crash();
  expect(host.state.active.get("a")).toMatchObject({ phase: "dispatched", attempt: 4 });
  dieInFlight(host);
  expect(host.state.active.get("a")).toMatchObject({ phase: "dispatched", attempt: 5 });
  dieInFlight(host);
  host.settle();
  expect(host.state.active.get("a")).toMatchObject({ phase: "held", attempt: 5, failures: 0, generation: 1 });
  expect(runStatus(host.state)).toBe("waiting");
  expect(waitsForOthers(host.state)).toBe(true);
  expect(findHeld(host.state)).toMatchObject({ code: "POISON", message: expect.stringContaining('"a"') });
});

test("a held step goes on when a person resumes the run, with nothing against it", () => {
  const host = held();
  host.release();
  expect(host.state.active.get("a")).toMatchObject({ phase: "dispatched", deaths: [] });
  expect(host.state.stepsHeld).toBe(0);
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("a run that was parked with its process goes on without its held steps", () => {
  const host = held();
  host.apply({ type: "runResumed", at: host.now });
  expect(host.state.active.get("a")?.phase).toBe("held");
});

test("a held step can be cancelled", () => {
  const host = held();
  host.cancel();
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
});

test("everything else goes on beside a held item, in its place of the window too", () => {
  const flow = dag(task("a", { each: each(literal([0, 1, 2]), 1) }), task("join", { after: ["a"] }));
  const host = hostOf(flow, { script: { "a[0]": SLOW } }).start();
  for (let death = 0; death < 3; death += 1) host.crash();
  for (let death = 0; death < 2; death += 1) {
    host.tick();
    host.crash();
  }
  host.settle();
  expect([...host.state.active.values()].map(({ path, phase }) => [path, phase])).toEqual([["a[0]", "held"]]);
  expect([...host.outputs().keys()]).toEqual(["a[1]", "a[2]"]);
  host.release();
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("a death counts only against attempts that began less than a minute before", () => {
  const host = hostOf(dag(task("a")), { script: { a: SLOW } }).start();
  for (let death = 0; death < 100; death += 1) {
    host.now += 60_000;
    host.crash();
  }
  expect(host.state.active.get("a")).toMatchObject({ phase: "dispatched", deaths: [], attempt: 101 });
  host.now += 59_999;
  host.crash();
  expect(host.state.active.get("a")?.deaths).toHaveLength(1);
});

test("the time of a death is the last sign of life, however much later it is found out", () => {
  const host = hostOf(dag(task("a")), { script: { a: SLOW } }).start();
  const seenAt = host.now + 1_000;
  host.now += 8 * 3_600_000;
  host.crash(seenAt);
  expect(host.events.at(-1)?.event).toMatchObject({ type: "stepInterrupted", diedAt: seenAt, counts: true });
  // Only deaths of the last ten minutes speak against the attempt that begins now.
  expect(host.state.active.get("a")?.deaths).toEqual([]);
});

test("deaths are forgotten after ten minutes", () => {
  const host = hostOf(dag(task("a")), { script: { a: SLOW } }).start();
  for (let death = 0; death < 50; death += 1) {
    host.now += 301_000;
    host.crash(host.state.active.get("a")?.startedAt);
  }
  expect(host.state.active.get("a")).toMatchObject({ phase: "dispatched" });
  expect(host.state.active.get("a")?.deaths.length).toBeLessThan(3);
});

test("no death counts against a suspect that had not begun", () => {
  const host = hostOf(dag(task("a")), { script: { a: SLOW } }).start();
  for (let death = 0; death < 10; death += 1) host.crash();
  expect(host.state.active.get("a")?.deaths).toHaveLength(3);
});

test("a process that has died while the suspect waited has another enemy: it takes four deaths alone", () => {
  const host = hostOf(dag(task("a")), { script: { a: SLOW } }).start();
  for (let death = 0; death < 4; death += 1) host.crash();
  for (let death = 0; death < 3; death += 1) dieInFlight(host);
  expect(host.state.active.get("a")).toMatchObject({ phase: "dispatched", deathsApart: 1 });
  dieInFlight(host);
  host.settle();
  expect(host.state.active.get("a")?.phase).toBe("held");
});

test("an attempt that puts something new on record clears itself, one that repeats itself does not", () => {
  const dieAfter = (keys: readonly string[]) => {
    const host = hostOf(dag(task("a")), { script: { a: SLOW } }).start();
    for (const key of keys) {
      if ((host.state.active.get("a")?.deaths.length ?? 0) >= 3) host.tick();
      const attempt = host.state.active.get("a")?.attempt ?? 0;
      host.apply({ type: "stepRecorded", at: host.now, path: "a", attempt, key });
      host.crash();
    }
    return host.state.active.get("a")?.phase;
  };
  expect(dieAfter(["turn-1", "turn-2", "turn-3", "turn-4", "turn-5", "turn-6"])).toBe("dispatched");
  expect(dieAfter(["turn-1", "turn-1", "turn-1", "turn-1", "turn-1", "turn-1"])).toBe("held");
});

test("an attempt that fails has not taken the process down", () => {
  const script = { a: [fails("AGENT_FAILED"), { output: 1 }] };
  const host = hostOf(dag(task("a", { retry: retry(2) })), { script }).start();
  for (let death = 0; death < 3; death += 1) host.crash();
  while (host.state.active.get("a")?.failures === 0) host.tick();
  expect(host.state.active.get("a")?.deaths).toEqual([]);
});

test("in a journal of before deaths were told apart the third one has failed the attempt", () => {
  const host = hostOf(dag(task("a", { catch: dag(task("mend")) }))).start();
  for (let attempt = 1; attempt <= 3; attempt += 1)
    host.apply({ type: "stepInterrupted", at: host.now, path: "a", attempt, cause: "crash" });
  expect(host.state.active.get("a")?.failure?.code).toBe("POISON");
  expect(pathsOf(host.run())).toEqual(["a", "a", "a", "a~catch/mend"]);
});

test("a step that may be done only once and was cut off fails with INTERRUPTED", () => {
  const host = hostOf(dag(task("a", { atMostOnce: true, retry: retry(5) }))).start();
  host.crash();
  expect(endingOf(host.run())).toEqual({ status: "failed", code: "INTERRUPTED" });
  expect(pathsOf(host)).toEqual(["a"]);
});

test("a crash during a backoff waits for the rest of it", () => {
  const host = hostOf(dag(task("a", { retry: retry(2, { initialMs: 1_000 }) })), {
    script: { a: [fails(), { output: 1 }] },
  });
  host.start().later(500, () => host.crash());
  host.run();
  expect(host.now - host.state.startedAt).toBe(1_002);
});

test("a run that is parked starts nothing until it is taken up, and that is no crash", () => {
  const host = hostOf(dag(task("a"), task("b")), { limits: { maxInFlight: 1 } }).start();
  host.park();
  expect([...host.state.active.values()].map(({ phase }) => phase)).toEqual(["parked", "blocked"]);
  host.crash();
  expect(host.state.active.get("a")?.deaths).toEqual([]);
  expect(endingOf(host.run())).toEqual({ status: "completed" });
  expect(pathsOf(host)).toEqual(["a", "b", "a"]);
});

test("a step that may be done only once begins later if it was parked before it began", () => {
  const host = hostOf(dag(task("a", { atMostOnce: true }))).start();
  host.apply({ type: "stepInterrupted", at: host.now, path: "a", attempt: 1, cause: "parked", hasBegun: false });
  host.crash();
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});
