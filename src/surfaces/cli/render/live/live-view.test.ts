import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { RunTeller } from "../../../../../test/fakes/run-teller.ts";
import type { Graph, Step } from "../../../../core/graph/graph.ts";
import { PlainView } from "./live-view.ts";

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
  expect(lines.at(-1)).toBe("[    0 ms] scrape 500/500, 5 failed, $4.95");
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

const fanOut: Step = {
  ...agentTask("scrape"),
  each: { list: { op: "path", root: "input", path: ["list"] }, maxConcurrent: 1_000 },
  onFailure: "skip",
};

function begin(graph: Graph): { teller: RunTeller; lines: string[]; view: PlainView } {
  const lines: string[] = [];
  const write = (text: string) => lines.push(...text.trimEnd().split("\n")) > 0;
  const view = new PlainView({ stream: { write } });
  view.begin(graph, { run_id: "run-1", workflow_name: "test" });
  return { teller: new RunTeller(graph, (notice) => view.notice(notice)), lines, view };
}
