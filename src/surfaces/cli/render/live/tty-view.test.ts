import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { RunTeller } from "../../../../../test/fakes/run-teller.ts";
import { createLiveView } from "./live-view.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("the last picture stays, and what is written next stands below it", async () => {
  const { view, teller, written } = await begin();
  teller.start({});
  teller.succeed("ask", { afterMs: 2_000 });
  teller.finish();

  await view.end();

  const text = stripVTControlCharacters(written.join(""));
  expect(text).toMatch(/test {2}completed {2}\$0\.00 {2}2\.0 s {2}run-1\n✓ ask {2}2\.0 s\n$/);
});

test("however much happens, it is drawn at most ten times a second", async () => {
  vi.useFakeTimers();
  const { view, teller, written } = await begin();
  teller.start({});
  const before = written.length;

  for (let ms = 0; ms < 1_000; ms += 1) {
    teller.passes(1);
    view.notice({ type: "progress", path: "ask", attempt: 1, event: null });
    vi.advanceTimersByTime(1);
  }

  expect(written.length - before).toBeLessThanOrEqual(10 * WRITES_PER_DRAWING);
  expect(written.length - before).toBeGreaterThan(0);
});

test("what is said in between comes on a line of its own", async () => {
  const { view, written } = await begin();

  view.say("Ctrl-C\u001b[2J again ends at once.");
  await view.end();

  expect(stripVTControlCharacters(written.join(""))).toContain("Ctrl-C again ends at once.\n");
});

const WRITES_PER_DRAWING = 3;

async function begin() {
  const stream = Object.assign(new PassThrough(), { columns: 60, rows: 10 });
  const written: string[] = [];
  stream.on("data", (chunk: Buffer) => written.push(chunk.toString()));
  const graph = toGraph([agentTask("ask")]);
  const teller = new RunTeller(graph, (notice) => view.notice(notice));
  const view = createLiveView({ stream, isTty: true, color: false, now: () => teller.now });
  view.begin(graph, { run_id: "run-1", workflow_name: "test" });
  await import("./screen.ts");
  // The view learns of what was loaded one turn after whoever asked first.
  await Promise.resolve();
  await Promise.resolve();
  return { view, teller, written };
}
