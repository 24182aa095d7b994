import fc from "fast-check";
import { expect, test } from "vitest";
import { newRunState } from "../../src/core/history/new-run-state.ts";
import { RunHistory } from "../../src/operations/runs/describe/describe-run-history.ts";
import { openValues } from "../../src/operations/runs/describe/describe-run-reading.ts";
import type { StepHistory } from "../../src/operations/runs/describe/step-history.ts";
import { type StepNode, StepTree } from "../../src/operations/runs/describe/step-tree.ts";
import { describeSpan, type SpansReading, sumCosts } from "../../src/operations/runs/steps/describe-span.ts";
import { stepSpansSchema } from "../../src/operations/runs/steps/step-schemas.ts";
import type { RunRecord } from "../../src/ports/journal.ts";
import { rounds } from "../properties/rounds.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { CoreHost } from "./core-host.ts";
import { Random } from "./random.ts";
import { randomBehaviour } from "./random-behaviour.ts";
import { randomRun } from "./random-graph.ts";

const TRAITS = { hasTimeouts: true, hasAborts: true, hasAtMostOnce: true, hasCalls: true };

const RECORD: RunRecord = {
  no: 1,
  id: "run",
  workflow: "drawn",
  dialect: "direct",
  graph: "root",
  definition: "",
  createdAt: 0,
  status: "running",
  lastSeq: 1,
  parked: false,
  costMicro: 0,
  uncertainMicro: 0,
  openApprovals: 0,
  storedBytes: 0,
};

/** A run that fails, asks, is cut off and maybe cancelled. */
function drawRun({ seed, size }: { readonly seed: number; readonly size: number }): CoreHost {
  const random = new Random(seed);
  const behaviour = randomBehaviour({ seed, failing: 0.3, isCostly: true, isGreedy: false });
  const host = new CoreHost({ ...randomRun(seed, size, TRAITS), behaviour });
  if (random.chance(0.5)) host.dieAfter(random.int(1, 30), random.int(1, 60));
  if (random.chance(0.3)) host.later(random.int(0, 40), () => host.cancel());
  return host.run();
}

function readUpTo(host: CoreHost, seq: number): SpansReading {
  const history = new RunHistory(host.state.graph);
  for (const [hash, graph] of host.state.graphs) history.state.graphs.set(hash, graph);
  for (const { event } of host.events.slice(0, seq)) history.apply(event);
  const sources = { journal: new MemoryJournal(), blobs: new MemoryBlobs() };
  expect(newRunState(host.state.graph).seq + seq).toBe(history.state.seq);
  return {
    record: RECORD,
    history,
    sources,
    values: openValues(sources, 1),
    tree: new StepTree(history),
    costs: sumCosts(history),
  };
}

/** Every instance with its fan-outs opened, whether it has begun or not. */
function openAll({ tree }: SpansReading): readonly string[] {
  const found: string[] = [];
  const open = (under: Iterable<StepNode>) => {
    for (const node of under) {
      expect(tree.find(node.path)).toMatchObject({ is: node.is, path: node.path });
      if (node.is === "instance") found.push(`${node.path} ${node.status}`);
      else for (const item of tree.itemsOf(node)) open(tree.under(item.path) ?? []);
    }
  };
  open(tree.nodes());
  return found;
}

function listed({ tree }: SpansReading): readonly string[] {
  return [...tree.entries()]
    .filter(({ path }) => tree.find(path)?.is === "instance")
    .map(({ path, status }) => `${path} ${status}`);
}

function checkSpans({ life, step, path, status, attempts, waits }: StepHistory): void {
  const numbers = attempts.map(({ attempt }) => attempt);
  expect(numbers, path).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  for (const { queuedAt, startedAt = queuedAt, endedAt = startedAt } of attempts) {
    expect(queuedAt, path).toBeLessThanOrEqual(startedAt);
    expect(startedAt, path).toBeLessThanOrEqual(endedAt);
  }
  const running = attempts.filter(({ endedAt }) => endedAt === undefined);
  const open = waits.filter(({ until }) => until === undefined);
  if (life.is === "ended") return expect([running, open], path).toEqual([[], []]);
  if (running.length > 0)
    expect([step.step.kind, life.instance.phase, running.length], path).toEqual(["task", "dispatched", 1]);
  const kinds = { retrying: ["retry"], waiting: ["timer", "event"], awaiting_approval: ["person"], held: ["held"] };
  const expected = Object.hasOwn(kinds, status) ? kinds[status as keyof typeof kinds] : [];
  expect(open.length, path).toBe(expected.length === 0 ? 0 : 1);
  for (const { kind } of open) expect(expected, path).toContain(kind);
}

const drawn = fc.record({
  size: fc.integer({ min: 1, max: 14 }),
  seed: fc.noShrink(fc.integer({ min: 1, max: 2 ** 31 })),
});

test("of any run, as of any event, the steps in time are those of the run, and their spans have begun and ended as they have", () => {
  fc.assert(
    fc.property(drawn, (of) => {
      const host = drawRun(of);
      const random = new Random(of.seed + 1);
      for (const seq of [host.events.length, random.int(1, host.events.length), random.int(1, host.events.length)]) {
        const reading = readUpTo(host, seq);
        expect(openAll(reading)).toEqual(listed(reading));
        const items = [...reading.tree.nodes()].map((node) => describeSpan(reading, node));
        expect(stepSpansSchema.shape.items.parse(items)).toEqual(items);
        for (const step of reading.history.steps.values()) checkSpans(step);
      }
    }),
    { numRuns: rounds(60), seed: 20260 },
  );
});
