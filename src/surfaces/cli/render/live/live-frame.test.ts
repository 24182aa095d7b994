import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { RunTeller } from "../../../../../test/fakes/run-teller.ts";
import type { Graph } from "../../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import { createPaint } from "../text/paint.ts";
import { renderFrame } from "./live-frame.ts";
import { LiveRun } from "./live-run.ts";

test("a line per step, with what it does, how long, how often and for how much", () => {
  const { run, teller } = begin(
    toGraph([agentTask("find"), { ...agentTask("ask"), after: ["find"] }, { ...agentTask("tell"), after: ["ask"] }]),
  );
  teller.start({});
  teller.succeed("find", { afterMs: 1_200, costMicro: 10_000 });
  teller.passes(800);

  expect(frame(run, teller)).toEqual([
    "test  running  $0.0100  2.0 s  run-1",
    "✓ find  1.2 s  $0.0100",
    "● ask   800 ms",
    "· tell",
  ]);
});

test("a fan-out is one line with a bar and counts", () => {
  const { run, teller } = begin(toGraph([{ ...agentTask("scrape"), each: EACH, onFailure: "skip" }]));
  teller.start({ list: [1, 2, 3, 4, 5] });
  teller.succeed("scrape[1]", { afterMs: 100, costMicro: 1_000_000 });
  teller.succeed("scrape[0]", { afterMs: 100, costMicro: 420_000 });
  teller.fail("scrape[4]", { afterMs: 100 });

  expect(frame(run, teller)).toContain("● scrape  ▇▇▇▇▇▇▁▁▁▁ 3/5 ✗1  300 ms  $1.42  TIMEOUT Too slow.");
});

test("a step that will be tried again says when and why", () => {
  const retry = { maxAttempts: 3, backoff: "fixed", initialMs: 8_000, maxMs: 8_000, jitter: 0 } as const;
  const { run, teller } = begin(toGraph([{ ...agentTask("ask"), retry }]));
  teller.start({});
  teller.fail("ask", { afterMs: 1_000 });

  expect(frame(run, teller)[1]).toBe("↻ ask  1.0 s  again in 8.0 s  TIMEOUT Too slow.");
});

test("an approval shows its question, a wait its end", () => {
  const { run, teller } = begin(
    toGraph([
      { id: "review", kind: "approve", message: { op: "literal", value: "" } },
      { id: "go", kind: "wait", wait: { for: "event", name: { op: "literal", value: "go" } } },
    ]),
  );
  teller.start({});
  teller.tell({ type: "approvalAsked", at: teller.now, path: "review", message: "All\nright?" });

  expect(frame(run, teller)[0]).toContain("awaiting approval");
  expect(frame(run, teller)[1]).toMatch(/^\? review {2}0 ms {2}since \d\d:\d\d:\d\d {2}All right\?$/);
  expect(frame(run, teller)[2]).toBe("◷ go      0 ms  for the event go");
});

test("whoever goes on after a question has not failed: that is no other try", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  teller.tell({ type: "approvalAsked", at: teller.now, path: "ask", attempt: 1, message: "Send it?", key: "q" });
  expect(frame(run, teller)[0]).toContain("awaiting approval");
  teller.tell({ type: "approvalAnswered", at: teller.now, path: "ask", answer: "approve" });
  expect(frame(run, teller)[1]).not.toContain("try");

  teller.tell({ type: "stepInterrupted", at: teller.now, path: "ask", attempt: 2, cause: "crash" });
  expect(frame(run, teller)[1]).toContain("try 2");
});

test("whoever was in flight at deaths of the process says that it waits for its turn, and in the end that it is held", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const die = (attempt: number, more: object = {}) => {
    const death = { type: "stepInterrupted", at: teller.now, path: "ask", attempt, cause: "crash" } as const;
    teller.tell({ ...death, diedAt: teller.now, counts: true, ...more });
  };
  for (const attempt of [1, 2, 3]) die(attempt);
  expect(frame(run, teller)[1]).toContain("paused: in flight when the process died 3 times");
  teller.tell({ type: "stepStarted", at: teller.now, path: "ask", attempt: 4, flight: 1 });
  expect(frame(run, teller)[1]).not.toContain("paused");
  die(4, { holds: true });
  expect(frame(run, teller)[1]).toMatch(/^◷ ask .* held: in flight when the process died 4 times/);
});

test("what runs inside a step stands below it, indented, with as many instances as there will be", () => {
  const fetch = { ...agentTask("fetch"), catch: { kind: "dag", steps: [agentTask("plan-b")] } } as const;
  const { run, teller } = begin(
    toGraph([
      { id: "batch", kind: "flow", each: { ...EACH, maxConcurrent: 1 }, flow: { kind: "dag", steps: [fetch] } },
    ]),
  );
  teller.start({ list: [1, 2, 3] });
  teller.fail("batch[0]/fetch", { afterMs: 100 });

  expect(frame(run, teller).map((line) => line.slice(0, 28).trimEnd())).toEqual([
    "test  running  $0.00  100 ms",
    "● batch       ▁▁▁▁▁▁▁▁▁▁ 0/3",
    "●   fetch     ▁▁▁▁▁▁▁▁▁▁ 0/3",
    "●     plan-b  0 ms",
  ]);
});

test("the steps of a called workflow stand below the call", () => {
  const { run, teller } = begin(
    toGraph([
      { id: "sub", kind: "call", workflow: { op: "literal", value: "other" }, input: { op: "object", entries: {} } },
    ]),
  );
  teller.start({});
  teller.call("sub", toGraph([agentTask("inner")]));

  expect(frame(run, teller)[2]).toBe("●   inner  0 ms");
});

test("a call whose graph nobody gave is said to be missing, and nothing breaks", () => {
  const { run, teller } = begin(
    toGraph([
      { id: "sub", kind: "call", workflow: { op: "literal", value: "other" }, input: { op: "object", entries: {} } },
    ]),
  );
  teller.start({});
  teller.call("sub", toGraph([agentTask("inner")]), { isGiven: false });
  teller.succeed("sub/inner", { afterMs: 100 });

  expect(frame(run, teller).at(-1)).toMatch("This view has missed something");
});

test("an event that does not fit what came before is said to be missed, and nothing breaks", () => {
  const { run, teller } = begin(toGraph([{ ...agentTask("scrape"), each: EACH }]));
  const started = { type: "runStarted", at: teller.now, runId: "run-1", workflow: "test", inputNames: [] } as const;
  run.apply({ type: "event", seq: 1, event: started });

  expect(frame(run, teller).at(-1)).toMatch("This view has missed something");
});

test("events that come twice count once", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  teller.succeed("ask", { afterMs: 100, costMicro: 1_000_000 });
  teller.repeatAll();

  expect(frame(run, teller)[1]).toBe("✓ ask  100 ms  $1.00");
});

test("where there is no room, what goes on and what failed is shown first", () => {
  const many = Array.from({ length: 500 }, (_, index) => agentTask(`step-${index}`));
  const { run, teller } = begin(toGraph(many.map((step) => ({ ...step, onFailure: "skip" }))));
  teller.start({});
  for (const { id } of many.slice(0, 498)) teller.succeed(id, { afterMs: 0 });
  teller.fail("step-499", { afterMs: 0 });

  const lines = frame(run, teller, { rows: 6 });

  expect(lines.length).toBe(5);
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^✓ step-/),
    "● step-498  0 ms",
    "✗ step-499  0 ms  TIMEOUT Too slow.",
    "… and 497 more",
  ]);
});

test("no line is wider than the terminal, whatever the ids are made of", () => {
  const { run, teller } = begin(
    toGraph([agentTask("漢字漢字漢字漢字漢字漢字漢字"), agentTask("\u001b[2J\u001b[31mred\r\nline")]),
  );
  teller.start({});

  const lines = frame(run, teller, { columns: 20 });

  expect(lines).toEqual(["test  running  $0.…", "● 漢字漢…   0 ms", "● red line  0 ms"]);
});

test("what calls of the run wait for is shown until none waits", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const wait = {
    type: "capacity",
    pool: "http://agents.test",
    in_flight: 20,
    width: 20,
    waiting: 480,
  };
  const closed_until = new Date(teller.now + 5_000).toISOString();
  const tell = (event: JsonObject) => run.apply({ type: "live", path: "ask", attempt: 1, event });
  tell({ ...wait, closed_until: null });
  expect(frame(run, teller).at(-1)).toBe("waiting for capacity: 20 of 20 at http://agents.test, 480 waiting");
  tell({ ...wait, waiting_in_all: 517, closed_until: null });
  expect(frame(run, teller, { columns: 120 }).at(-1)).toMatch(/480 waiting beside 37 of other runs$/);
  tell({ ...wait, closed_until });
  expect(frame(run, teller, { columns: 120 }).at(-1)).toMatch(
    /480 waiting, it refuses all and is asked again at \d\d:\d\d:\d\d$/,
  );
  tell({ ...wait, waiting: 0, closed_until: null });
  expect(frame(run, teller).at(-1)).toBe("● ask  0 ms");
});

test("what waits for the budget is shown until nothing does", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const tell = (waiting: number) =>
    run.apply({ type: "live", path: "ask", attempt: 1, event: { type: "budget", waiting } });
  tell(3);
  expect(frame(run, teller).at(-1)).toBe("waiting for the budget: 3 tries begin with what those in flight leave");
  tell(0);
  expect(frame(run, teller).at(-1)).toBe("● ask  0 ms");
});

test("the last tool or text of an agent stands on its line, whoever runs it", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const line = (type: "live" | "progress", event: JsonObject) => {
    run.apply({ type, path: "ask", attempt: 1, event });
    return frame(run, teller)[1];
  };
  expect(line("live", { type: "text", text: "Rain in\n" })).toBe("● ask  0 ms  Rain in");
  expect(line("live", { type: "text", text: "\u001b[2JParis" })).toBe("● ask  0 ms  Rain in Paris");
  expect(line("live", { type: "tool_call", name: "weather.get", input: {} })).toBe("● ask  0 ms  calls weather.get");
  expect(line("live", { type: "text", text: "So: " })).toBe("● ask  0 ms  So:");
  const content: Json = [
    { type: "text", text: "I look." },
    { type: "tool_use", name: "WebFetch" },
  ];
  expect(line("progress", { type: "assistant", message: { content } })).toBe("● ask  0 ms  calls WebFetch");
  expect(line("progress", { type: "note", message: "x" })).toBe("● ask  0 ms  calls WebFetch");
  teller.succeed("ask");
  expect(frame(run, teller)[1]).toBe("✓ ask  0 ms");
});

test("a call of a step that is sent again is shown on its line until the step goes on", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  const again_at = new Date(teller.now + 4_000).toISOString();
  const tell = (event: JsonObject) => run.apply({ type: "live", path: "ask", attempt: 1, event });
  tell({ type: "retry", host: "api.anthropic.com", cause: "ENOTFOUND", again_at });
  expect(frame(run, teller)[1]).toBe("● ask  0 ms  api.anthropic.com: ENOTFOUND, again in 4.0 s");
  tell({ type: "text", text: "Ra" });
  expect(frame(run, teller)[1]).toBe("● ask  0 ms  Ra");
});

test("when nothing can be written the picture says so", () => {
  const { run, teller } = begin(toGraph([agentTask("ask")]));
  teller.start({});
  run.apply({ type: "stalled", code: "JOURNAL_FULL", message: "The disk is full." });

  expect(frame(run, teller, { columns: 100 }).at(-1)).toBe(
    "Nothing can be written, the run stands still: JOURNAL_FULL The disk is full.",
  );
});

const EACH = { list: { op: "path", root: "input", path: ["list"] }, maxConcurrent: 5 } as const;

function begin(graph: Graph): { run: LiveRun; teller: RunTeller } {
  const run = new LiveRun(graph, { run_id: "run-1", workflow_name: "test" });
  return { run, teller: new RunTeller(graph, (notice) => run.apply(notice)) };
}

function frame(run: LiveRun, { now }: RunTeller, { columns = 80, rows = 24 } = {}): string[] {
  return renderFrame(run, { columns, rows, now, paint: createPaint(false) }).split("\n");
}
