import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { spends, World } from "../../../../test/faults/world.ts";

const ONE_BY_ONE = toGraph([
  { ...agentTask("a"), each: { list: { op: "literal", value: [1, 2, 3] }, maxConcurrent: 1 } },
]);

test("a yes to more money holds wherever it is given: another process knows what was asked and what a try needs", async () => {
  const world = new World({ plays: { a: spends(100) } });
  const { id, status } = await world.run(ONE_BY_ONE, {}, { maxCostMicro: 250, onExceeded: "ask" });
  expect(status).toBe("awaiting_approval");
  expect(world.calls).toHaveLength(3);

  const next = world.next();
  await next.host.request(id, { type: "answer", path: "a[2]", answer: { answer: "approve" } });
  expect((await next.host.settled(id)).status).toBe("completed");
  expect(await next.eventsOf(id)).toContainEqual(expect.objectContaining({ type: "limitRaised", by: { cost: 250 } }));
  expect(next.calls).toHaveLength(1);
});
