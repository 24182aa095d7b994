import { expect, test } from "vitest";
import type { CallStep, Graph } from "../../../src/core/graph/graph.ts";
import { literal, path, task, toGraph } from "../graphs.ts";
import { gate, RaceWorld } from "./race-world.ts";

/** Does something, asks, and does something with the answer; beside it a branch that asks as well. */
function inner(name: string): Graph {
  return toGraph(
    [
      task("before", { input: literal(name) }),
      gate("ok", { after: ["before"], show: path("steps.before") }),
      task("after", { after: ["ok"], input: path("steps.ok") }),
      gate("beside"),
      { kind: "respond", id: "answer", after: ["after", "beside"], value: path("steps.after") },
    ],
    { name },
  );
}

function call(id: string, workflow: string, more: Partial<CallStep> = {}): CallStep {
  return { kind: "call", id, workflow: literal(workflow), input: literal({}), ...more };
}

test("an answer in a called workflow goes on there, not at its beginning, and its parallel branches stay as they are", async () => {
  const outer = toGraph([call("child", "child"), task("last", { after: ["child"], input: path("steps.child") })], {
    name: "outer",
  });
  const world = new RaceWorld([outer, inner("child")]);
  const { runId, open } = await world.startAsking("outer", { questions: 2 });
  expect(open.map((each) => each.path).sort()).toEqual(["child/beside", "child/ok"]);
  const idOf = (at: string) => open.find((each) => each.path === at)?.approval_id ?? "";
  await world.answer(idOf("child/ok"), "approve", { edited_data: "yes" });
  await expect.poll(() => world.done).toEqual(["child/before", "child/after"]);
  expect((await world.open(runId)).map((each) => each.path)).toEqual(["child/beside"]);
  await world.answer(idOf("child/beside"), "approve");
  await world.untilEnded(runId);
  expect(world.done).toEqual(["child/before", "child/after", "last"]);
  expect(await world.http.world.outputOf(runId, "last")).toBe("yes");
});

test("the same workflow called twice, and deeper, is answered call by call", async () => {
  const middle = toGraph([call("deep", "child")], { name: "middle" });
  const outer = toGraph(
    [
      call("one", "child"),
      call("two", "middle"),
      task("last", {
        after: ["one", "two"],
        input: { op: "list", items: [path("steps.one"), path("steps.two.deep")] },
      }),
    ],
    { name: "outer" },
  );
  const world = new RaceWorld([outer, middle, inner("child")]);
  const { runId, open } = await world.startAsking("outer", { questions: 4 });
  expect(open.map((each) => each.path).sort()).toEqual(["one/beside", "one/ok", "two/deep/beside", "two/deep/ok"]);
  await Promise.all(open.map(({ approval_id: id, path: at }) => world.answer(id, "approve", { edited_data: at })));
  await world.untilEnded(runId);
  expect(await world.http.world.outputOf(runId, "last")).toEqual(["one/ok", "two/deep/ok"]);
  expect(world.done.filter((done) => done.endsWith("before"))).toHaveLength(2);
});

test("a no to a question of a call that is tried again answers the first try only, however late others say yes", async () => {
  const retry = { maxAttempts: 2, backoff: "fixed", initialMs: 0, maxMs: 0, jitter: 0 } as const;
  const outer = toGraph([call("child", "child", { retry })], { name: "outer" });
  const world = new RaceWorld([outer, toGraph([gate("ok")], { name: "child" })]);
  const { runId, open } = await world.startAsking("outer");
  const [first] = open;
  await world.answer(first?.approval_id ?? "", "reject");
  const [second] = await world.untilAsked(runId, 1);
  expect(second?.path).not.toBe(first?.path);
  const late = await world.answer(first?.approval_id ?? "", "approve", { edited_data: "stale" });
  expect([late.status, late.code]).toEqual([409, "APPROVAL_CONFLICT"]);
  expect(await world.open(runId)).toEqual([second]);
  await world.answer(second?.approval_id ?? "", "approve", { edited_data: "yes" });
  expect((await world.untilEnded(runId)).outputs).toEqual({ child: { ok: "yes" } });
});
