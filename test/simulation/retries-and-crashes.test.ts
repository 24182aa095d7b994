import { expect, test } from "vitest";
import type { RetryPolicy } from "../../src/core/graph/graph.ts";
import type { Effect } from "../../src/core/history/events.ts";
import { dag, endingOf, fails, hostOf, pathsOf, retry, task } from "./build.ts";
import type { CoreHost } from "./core-host.ts";

/** Times at which attempts began, from the first one. */
function waitsOf(policy: RetryPolicy): number[] {
  const host = hostOf(dag(task("a", { retry: policy })), {
    script: { a: fails("AGENT_FAILED", { delayMs: 0 }) },
  }).run();
  return host.events.flatMap(({ event }) => (event.type === "stepFailed" ? [event.at - host.state.startedAt] : []));
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
  expect(host.state.active.get("a")).toMatchObject({ attempt: 3, failures: 0, crashes: 2, generation: 1 });
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

test("an attempt that was in flight at three crashes is POISON", () => {
  const host = hostOf(dag(task("a"), task("b", { after: ["a"] }))).start();
  for (let n = 0; n < 3; n += 1) host.crash();
  expect(endingOf(host.run())).toEqual({ status: "failed", code: "POISON" });
  expect(pathsOf(host)).toEqual(["a", "a", "a"]);
});

test("an attempt that puts something new on record before each crash is not POISON, one that repeats itself is", () => {
  const crashAfter = (keys: readonly string[]) => {
    const host = hostOf(dag(task("a"))).start();
    for (const key of keys) {
      const attempt = host.state.active.get("a")?.attempt ?? 0;
      host.apply({ type: "stepRecorded", at: host.now, path: "a", attempt, key });
      host.crash();
    }
    return endingOf(host.run());
  };
  expect(crashAfter(["turn-1", "turn-2", "turn-3", "turn-4", "turn-5"])).toEqual({ status: "completed" });
  expect(crashAfter(["turn-1", "turn-1", "turn-1"])).toEqual({ status: "failed", code: "POISON" });
});

test("a poisoned step can be caught", () => {
  const host = hostOf(dag(task("a", { catch: dag(task("mend")) }))).start();
  for (let n = 0; n < 3; n += 1) host.crash();
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
  expect(host.state.active.get("a")?.crashes).toBe(0);
  expect(endingOf(host.run())).toEqual({ status: "completed" });
  expect(pathsOf(host)).toEqual(["a", "b", "a"]);
});

test("a step that may be done only once begins later if it was parked before it began", () => {
  const host = hostOf(dag(task("a", { atMostOnce: true }))).start();
  host.apply({ type: "stepInterrupted", at: host.now, path: "a", attempt: 1, cause: "parked", hasBegun: false });
  host.crash();
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});
