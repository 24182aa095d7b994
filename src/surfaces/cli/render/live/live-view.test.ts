import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { RunTeller } from "../../../../../test/fakes/run-teller.ts";
import type { Graph, Step } from "../../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import { LiveView } from "./live-view.ts";

test("starts and ends are told line by line", () => {
  const { teller, lines } = begin(toGraph([agentTask("find"), { ...agentTask("ask"), after: ["find"] }]));
  teller.start({});
  teller.succeed("find", { afterMs: 2_100, costMicro: 20_000 });
  teller.succeed("ask", { afterMs: 500 });
  teller.finish();

  expect(lines).toEqual([
    "run run-1 of test",
    "[    0 ms] find started",
    "[   2.1 s] find completed in 2.1 s, $0.0200",
    "[   2.1 s] ask started",
    "[   2.6 s] ask completed in 500 ms",
    "[   2.6 s] run completed, $0.0200",
  ]);
});

test("a retry and a final failure say why, in one line each", () => {
  const retry = { maxAttempts: 2, backoff: "fixed", initialMs: 8_000, maxMs: 8_000, jitter: 0 } as const;
  const { teller, lines } = begin(toGraph([{ ...agentTask("ask"), retry }]));
  teller.start({});
  teller.fail("ask", { message: "No\u001b[2J answer\n[ 1 s] ask completed" });
  teller.passes(8_000);
  teller.tell({ type: "timerFired", at: teller.now, timer: "ask@retry1" });
  teller.fail("ask");
  teller.finish();

  expect(lines.slice(2)).toEqual([
    "[    0 ms] ask failed, again in 8.0 s: TIMEOUT No answer [ 1 s] ask completed",
    "[   8.0 s] ask failed after 8.0 s: TIMEOUT Too slow.",
    "[   8.0 s] run failed, $0.00: TIMEOUT Too slow.",
  ]);
});

test("that calls wait for a server is told once, until none waits", () => {
  const { teller, lines, view } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const wait = { type: "capacity", pool: "http://agents.test", in_flight: 1, width: 1, closed_until: null };
  for (const waiting of [4, 3, 0, 2])
    view.notice({ type: "live", path: "ask", attempt: 1, event: { ...wait, waiting } });

  expect(lines.slice(2)).toEqual([
    "[    0 ms] waiting for capacity: 1 of 1 at http://agents.test, 4 waiting",
    "[    0 ms] waiting for capacity: 1 of 1 at http://agents.test, 2 waiting",
  ]);
});

test("that nothing can be written is told once, however often it is tried", () => {
  const { teller, lines, view } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const stalled = { type: "stalled", code: "JOURNAL_IO", message: "The server is away." } as const;
  for (const notice of [stalled, stalled, { type: "unstalled" } as const, stalled]) view.notice(notice);

  expect(lines.slice(2)).toEqual([
    "[    0 ms] nothing can be written, the run stands still: JOURNAL_IO The server is away.",
    "[    0 ms] the run goes on",
    "[    0 ms] nothing can be written, the run stands still: JOURNAL_IO The server is away.",
  ]);
});

test("that a call is sent again is told, with the server and the cause", () => {
  const { teller, lines, view } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const retry = { type: "retry", host: "api.anthropic.com", cause: "ENOTFOUND", again_at: "2020-01-01T00:00:00.000Z" };
  for (const event of [retry, { type: "text", text: "Ra" }])
    view.notice({ type: "live", path: "ask", attempt: 1, event });

  expect(lines.slice(2)).toEqual(["[    0 ms] ask api.anthropic.com: ENOTFOUND, asked again"]);
});

test("up to twenty items are told one by one", () => {
  const { teller, lines } = begin(toGraph([fanOut]));
  teller.start({ list: new Array(20).fill(0) });
  for (let item = 0; item < 20; item += 1) teller.succeed(`scrape[${item}]`);

  expect(lines.length).toBe(21);
  expect(lines.at(-1)).toBe("[    0 ms] scrape[19] completed in 0 ms");
});

test("larger fan-outs are told in tenths", () => {
  const { teller, lines } = begin(toGraph([fanOut]));
  teller.start({ list: new Array(500).fill(0) });
  for (let item = 0; item < 500; item += 1) {
    if (item % 100 === 0) teller.fail(`scrape[${item}]`);
    else teller.succeed(`scrape[${item}]`, { costMicro: 10_000 });
  }

  expect(lines.length).toBe(11);
  expect(lines.slice(-2)).toEqual([
    "[    0 ms] scrape 450/500, 5 failed, $4.45: TIMEOUT Too slow.",
    "[    0 ms] scrape 500/500, 5 failed, $4.95",
  ]);
});

test("what is inside a larger fan-out is not told, but counts", () => {
  const inner = { ...agentTask("fetch"), catch: { kind: "dag", steps: [agentTask("plan-b")] } } as const;
  const { teller, lines } = begin(toGraph([{ ...fanOut, kind: "flow", flow: { kind: "dag", steps: [inner] } }]));
  teller.start({ list: new Array(30).fill(0) });
  for (let item = 0; item < 3; item += 1) {
    teller.fail(`scrape[${item}]/fetch`);
    teller.succeed(`scrape[${item}]/fetch~catch/plan-b`, { costMicro: 1_000_000 });
  }

  expect(lines.slice(1)).toEqual(["[    0 ms] scrape 3/30, $3.00"]);
});

test("what a run waits for is told", () => {
  const { teller, lines } = begin(
    toGraph([
      { id: "review", kind: "approve", message: { op: "literal", value: "" }, approvalTimeoutMs: 60_000 },
      { id: "nap", kind: "wait", wait: { for: "duration", durationMs: { op: "literal", value: 60_000 } } },
    ]),
  );
  teller.start({});
  teller.tell({ type: "approvalAsked", at: teller.now, path: "review", message: "Good?" });

  expect(lines.slice(1)).toEqual([
    "[    0 ms] nap waits until 2026-01-02T03:05:05.000Z",
    "[    0 ms] review awaits approval (until 2026-01-02T03:05:05.000Z): Good?",
  ]);
});

test("that a run waits in line is told where it does so for a second, also what it waits for then", () => {
  vi.useFakeTimers();
  const { teller, lines, view } = begin(toGraph([agentTask("ask")]));
  const started = { type: "runStarted", runId: "run-1", workflow: "test", inputNames: [] } as const;
  const place = { key: "k", limit: 2, whenFull: "queue" } as const;
  const startsAt = teller.now + 60_000;
  teller.tell({ ...started, at: teller.now, place, rate: { key: "r", slot: 1, startsAt } });
  expect(lines.slice(1)).toEqual([]);
  teller.passes(1_000);
  vi.advanceTimersByTime(1_000);
  teller.passes(4_000);
  teller.tell({ type: "placeTaken", at: teller.now });
  teller.passes(55_000);
  teller.tell({ type: "timerFired", at: teller.now, timer: "@start" });
  expect(lines.slice(1)).toEqual([
    "[    0 ms] in line for a place: at most 2 go on at once",
    "[   5.0 s] begins at 2026-01-02T03:05:05.000Z",
    "[    0 ms] ask started",
  ]);

  const other = begin(toGraph([agentTask("ask")]), TTY);
  other.teller.tell({ ...started, at: other.teller.now, place: { ...place, limit: 1, waitMs: 60_000 } });
  other.teller.tell({ type: "placeTaken", at: other.teller.now });
  other.teller.passes(2_000);
  other.view.say("a message");
  expect(other.lines.at(-1)).toMatch(
    /^● 2.0 s {2}\$0.00 +begins at 2026-01-02T03:05:05.000Z, unless a newer run takes its place$/,
  );
  view.clear();
  other.view.clear();
});

test("reminders and the escalation of a question are told", () => {
  const rules = { reminder: { afterMs: 60_000, times: 2 }, escalation: { afterMs: 150_000, to: ["boss", "owner"] } };
  const { teller, lines } = begin(toGraph([{ ...review, ...rules } as Step]));
  teller.start({});
  teller.tell({ type: "approvalAsked", at: teller.now, path: "review", message: "Good?" });
  for (const [ms, purpose] of [
    [60_000, "remind"],
    [60_000, "remind"],
    [30_000, "escalate"],
  ] as const) {
    teller.passes(ms);
    teller.tell({ type: "timerFired", at: teller.now, timer: `review@${purpose}` });
  }
  expect(lines.slice(2)).toEqual([
    "[1 min 00 s] review still awaits approval (reminded)",
    "[2 min 00 s] review still awaits approval (reminded)",
    "[2 min 30 s] review awaits approval by boss, owner too (escalated)",
  ]);
});

test("events that come twice are told once", () => {
  const retry = { maxAttempts: 2, backoff: "fixed", initialMs: 8_000, maxMs: 8_000, jitter: 0 } as const;
  const { teller, lines } = begin(toGraph([{ ...agentTask("ask"), retry }]));
  teller.start({});
  teller.fail("ask");
  const before = [...lines];
  teller.repeatAll();

  expect(lines).toEqual(before);
});

test("a call whose graph nobody gave is said to be missing, and nothing breaks", () => {
  const call = { workflow: { op: "literal", value: "other" }, input: { op: "object", entries: {} } } as const;
  const { teller, lines } = begin(toGraph([{ id: "sub", kind: "call", ...call }]));
  teller.start({});
  teller.call("sub", toGraph([agentTask("inner")]), { isGiven: false });
  teller.succeed("sub/inner", { afterMs: 100 });

  expect(lines.at(-1)).toMatch("This view has missed something");
});

test("an event that does not fit what came before is said to be missed, and nothing breaks", () => {
  const { lines, view } = begin(toGraph([fanOut]));
  const started = { type: "runStarted", at: 0, runId: "run-1", workflow: "test", inputNames: [] } as const;
  view.notice({ type: "event", seq: 1, event: started });

  expect(lines.at(-1)).toMatch("This view has missed something");
});

test("whoever was in flight at deaths of the process waits for its turn, and in the end is held", () => {
  const { teller, lines } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const death = { type: "stepInterrupted", path: "ask", cause: "crash", counts: true } as const;
  const die = (attempt: number, more: object = {}) =>
    teller.tell({ ...death, at: teller.now, attempt, diedAt: teller.now, ...more });
  for (const attempt of [1, 2, 3]) die(attempt);
  teller.tell({ type: "stepStarted", at: teller.now, path: "ask", attempt: 4, flight: 1 });
  die(4, { holds: true });

  expect(lines.slice(2)).toEqual([
    "[    0 ms] ask paused: in flight when the process died 3 times",
    "[    0 ms] ask held: in flight when the process died 4 times",
  ]);
});

test("at a terminal one line below says what goes on, for how long and for how much", () => {
  const { teller, lines } = begin(toGraph([agentTask("find"), { ...agentTask("ask"), after: ["find"] }, review]), TTY);
  teller.start({});
  teller.tell({ type: "approvalAsked", at: teller.now, path: "review", message: "Good?" });
  teller.succeed("find", { afterMs: 1_200, costMicro: 10_000 });
  expect(lines.at(-1)).toBe("● 1.2 s  $0.0100  review (awaiting approval), ask");

  teller.succeed("ask", { afterMs: 800 });
  teller.tell({ type: "approvalAnswered", at: teller.now, path: "review", answer: "approve" });
  teller.finish();
  expect(lines.at(-1)).toBe("[   2.0 s] run completed, $0.0100");
});

test("the status line counts the items of a large fan-out, and names three of what runs", () => {
  const more = ["a", "b", "c", "d"].map((id) => agentTask(id));
  const { teller, lines, view } = begin(toGraph([{ ...fanOut, onFailure: "skip" }, ...more]), TTY);
  teller.start({ list: new Array(500).fill(0) });
  for (let item = 0; item < 30; item += 1) teller.succeed(`scrape[${item}]`);
  view.say("a message");

  expect(lines.at(-1)).toBe("● 0 ms  $0.00  scrape 30/500, a, b and 2 more");
});

test("the status line stands for one line however narrow the terminal is, and is taken away whole", () => {
  const { teller, lines, written, view, stream } = begin(toGraph([agentTask("漢字漢字漢字漢字漢字漢字漢字")]), TTY);
  stream.columns = 30;
  teller.start({});
  expect(lines.at(-1)).toBe("● 0 ms  $0.00  漢字漢字漢字…");

  stream.columns = 10;
  view.clear();
  expect(written.at(-1)).toBe("\r\u001b[2A\u001b[J");
});

test("however much happens, the status line is drawn at most ten times a second", () => {
  vi.useFakeTimers();
  const { teller, written, view } = begin(toGraph([agentTask("ask")]), TTY);
  teller.start({});
  const before = written.length;
  for (let ms = 0; ms < 1_000; ms += 1) {
    teller.passes(1);
    view.notice({ type: "progress", path: "ask", attempt: 1, event: null });
    vi.advanceTimersByTime(1);
  }
  view.clear();

  expect(written.length - before).toBe(11);
});

test("the status line ends with what calls wait for, which of them is sent again, and what an agent does", () => {
  const { teller, lines, view } = begin(toGraph([agentTask("ask")]), TTY);
  teller.start({});
  const status = (type: "live" | "progress", event: JsonObject) => {
    view.notice({ type, path: "ask", attempt: 1, event });
    view.say("a message");
    return lines.at(-1)?.replace("● 0 ms  $0.00  ask", "").trim();
  };
  const wait = { type: "capacity", pool: "http://agents.test", in_flight: 20, width: 20, waiting: 480 };
  const closed_until = new Date(teller.now + 5_000).toISOString();
  expect(status("live", { ...wait, waiting_in_all: 517, closed_until })).toMatch(
    /^waiting for capacity: 20 of 20 at http:\/\/agents.test, 480 waiting beside 37 of other runs, it refuses all/,
  );
  expect(status("live", { ...wait, waiting: 0, closed_until: null })).toBe("");
  expect(status("live", { type: "budget", waiting: 3 })).toMatch("waiting for the budget: 3 tries begin");
  expect(status("live", { type: "budget", waiting: 0 })).toBe("");
  const again_at = new Date(teller.now + 4_000).toISOString();
  expect(status("live", { type: "retry", host: "api.test", cause: "ENOTFOUND", again_at })).toBe(
    "api.test: ENOTFOUND, again in 4.0 s",
  );
  expect(status("live", { type: "text", text: "Rain in\n" })).toBe("Rain in");
  expect(status("live", { type: "text", text: "\u001b[2JParis" })).toBe("Rain in Paris");
  expect(status("live", { type: "tool_call", name: "weather.get", input: {} })).toBe("calls weather.get");
  const content: Json = [
    { type: "text", text: "I look." },
    { type: "tool_use", name: "WebFetch" },
  ];
  expect(status("progress", { type: "assistant", message: { content } })).toBe("calls WebFetch");
});

afterEach(() => {
  vi.useRealTimers();
});

const TTY = { columns: 200 };

const review: Step = { id: "review", kind: "approve", message: { op: "literal", value: "" } };

const fanOut: Step = {
  ...agentTask("scrape"),
  each: { list: { op: "path", root: "input", path: ["list"] }, maxConcurrent: 1_000 },
  onFailure: "skip",
};

function begin(graph: Graph, { columns }: { columns?: number } = {}) {
  const lines: string[] = [];
  const written: string[] = [];
  const write = (text: string) => {
    written.push(text);
    return lines.push(...stripVTControlCharacters(text).trim().split("\n")) > 0;
  };
  const teller = new RunTeller(graph, (notice) => view.notice(notice));
  const isTty = columns !== undefined;
  const stream = { write, columns: columns ?? 0 };
  const view = new LiveView(graph, "run-1", { stream, isTty, color: false, now: () => teller.now });
  return { teller, lines, view, written, stream };
}
