import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../test/fakes/direct-graph.ts";
import { indexGraph } from "../../core/graph/indexed-graph.ts";
import type { Command } from "../../core/history/commands.ts";
import { newRunState } from "../../core/history/new-run-state.ts";
import { LiveRun, type LiveRunHooks, type LiveRunParts } from "./live-run.ts";

test("many commands of one commit are performed in parts, in their order, and the run is busy until the last one", async () => {
  const performed: string[] = [];
  const done = Promise.withResolvers<void>();
  const hooks = {
    perform: (_: LiveRun, command: Command) => performed.push("timer" in command ? command.timer : ""),
    afterCommit: () => done.resolve(),
  } as unknown as LiveRunHooks;
  const state = newRunState(indexGraph(toGraph([agentTask("a")]), "hash"));
  const run = new LiveRun({ no: 1, about: { id: "r" }, state, row: {} } as unknown as LiveRunParts, hooks);
  const commands = Array.from({ length: 10_000 }, (_, n) => ({ type: "stopTimer", timer: `${n}` }) as const);

  run.perform(commands);
  expect(performed.length).toBeLessThan(1_000);
  expect(run.isBusy).toBe(true);
  // What a later commit has caused comes behind.
  run.perform([{ type: "stopTimer", timer: "last" }]);

  await done.promise;
  expect(performed).toEqual([...commands.map(({ timer }) => timer), "last"]);
  expect(run.isBusy).toBe(false);
});
