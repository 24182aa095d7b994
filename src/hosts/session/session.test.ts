import { expect, test } from "vitest";
import { task, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import { indexGraph } from "../../core/graph/indexed-graph.ts";
import { newRunState } from "../../core/history/new-run-state.ts";
import { Session } from "./session.ts";

test("the times of a journal do not go backwards, whatever clocks do; a start that is written late keeps its time", () => {
  const session = new Session(newRunState(indexGraph(uhlpGraph({ steps: [task("work")] }), "")));
  const signal = (at: number) => session.apply({ type: "signalReceived", at, name: "go" });
  expect([10, 5, 12].map((at) => signal(at).at)).toEqual([10, 10, 12]);
  const started = session.apply({ type: "stepStarted", at: 11, path: "work#1", attempt: 1 });
  expect(started).toMatchObject({ at: 12, startedAt: 11 });
});
