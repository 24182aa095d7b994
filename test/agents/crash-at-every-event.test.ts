import { expect, test } from "vitest";
import type { Graph } from "../../src/core/graph/graph.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import type { RunRecord } from "../../src/ports/journal.ts";
import { playScript } from "../fakes/model-server/play-script.ts";
import { type CrashPoint, crashingJournal, dieAt } from "../faults/crashing-journal.ts";
import { World } from "../faults/world.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { inlineWorld, tool } from "./inline-world.ts";

const TURNS = 5;
const FINAL = "All is done.";

/** Four turns with five calls of tools, two of them at once, and the answer, whatever came of the calls. */
const script = () =>
  playScript({
    turns: [
      { when: { results: 0 }, call: [{ name: "look" }, { name: "charge", input: { city: "Paris" } }] },
      { when: { results: 2 }, call: { name: "charge", input: { city: "Rome" } } },
      { when: { results: 3 }, call: { name: "look" } },
      { when: { results: 4 }, say: "Nearly.", call: { name: "look" } },
      { when: { results: 5 }, say: FINAL },
    ],
  });

async function agentGraph(): Promise<Graph> {
  const text = JSON.stringify({ agents: [{ name: "Cashier" }], workflows: [{ name: "Pay", steps: ["Cashier"] }] });
  const { graph } = await loadDefinition({ text });
  if (graph === undefined) throw new Error("The definition has problems.");
  return graph;
}

/** A run whose host is left behind at a point, and goes on with another one. */
async function runWithCrash(graph: Graph, crash: CrashPoint | undefined) {
  const charged: string[] = [];
  const looked: string[] = [];
  const { executor, requests } = await inlineWorld(script(), {
    tools: [
      tool("charge", (_, key) => `charged ${charged.push(key)}`),
      tool("look", (_, key) => `seen ${looked.push(key)}`, { isRepeatable: true }),
    ],
  });
  const memory = new MemoryJournal();
  const died = Promise.withResolvers<void>();
  const leave = dieAt(crash, () => {
    died.resolve();
    return new Promise(() => undefined);
  });
  const { journal, commits } = crashingJournal(memory, leave);
  const host = { findExecutor: async () => executor };
  const first = new World({ journal, host });
  const end = (world: World, id: string): Promise<RunRecord> => world.host.settled(id);
  const ran = first.start(graph, { message: "Charge." }, { runId: "run-1" }).then(({ id }) => end(first, id));
  const isCrashed = await Promise.race([died.promise.then(() => true), ran.then(() => false)]);
  const second = isCrashed ? new World({ journal: memory, blobs: first.blobs, files: first.files, host }) : first;
  const { resumed } = isCrashed ? await second.host.recover() : { resumed: 1 };
  // Before its first commit there is no run.
  if (resumed === 0) return { commits: commits(), isCrashed, isBegun: false } as const;
  const record = await end(second, "run-1");
  return {
    commits: commits(),
    isCrashed,
    isBegun: true,
    status: record.status,
    output: await second.outputOf("run-1", "result"),
    defects: [...first.defects, ...second.defects],
    charged,
    looked,
    asked: requests.map(({ shown }) => shown.messages.flatMap(({ results }) => results).length),
  } as const;
}

test("an agent whose host is left behind at any event goes on: nothing that has answered is asked or called again", async () => {
  const graph = await agentGraph();
  const undisturbed = await runWithCrash(graph, undefined);
  expect(undisturbed).toMatchObject({ asked: [0, 2, 3, 4, 5], charged: { length: 2 }, looked: { length: 3 } });
  expect(undisturbed.commits).toBeGreaterThan(15);

  let crashes = 0;
  for (let commit = 1; commit <= undisturbed.commits; commit += 1) {
    for (const when of ["before", "after"] as const) {
      const ran = await runWithCrash(graph, { commit, when });
      const at = `${commit}:${when}`;
      if (ran.isCrashed) crashes += 1;
      if (!ran.isBegun) continue;
      expect([at, ran.status, ran.output, ran.defects]).toEqual([at, "completed", undisturbed.output, []]);
      expect(ran.output).toMatchObject({ final_message: FINAL });
      // Who may not be called twice is not, whatever happens; each call has its own key.
      expect(new Set(ran.charged).size).toBe(ran.charged.length);
      expect(ran.charged.length).toBeLessThanOrEqual(2);
      // What says that it does no harm is called again at most where it was cut off, with the same key.
      expect(new Set(ran.looked).size).toBe(3);
      expect(ran.looked.length).toBeLessThanOrEqual(4);
      // At most the turn whose answer was not on record yet is paid again.
      expect([at, new Set(ran.asked).size]).toEqual([at, TURNS]);
      expect(ran.asked.length).toBeLessThanOrEqual(TURNS + 1);
    }
  }
  expect(crashes).toBe(undisturbed.commits * 2);
});
