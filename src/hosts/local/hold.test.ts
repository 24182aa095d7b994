import { expect, test, vi } from "vitest";
import { path, task, toGraph } from "../../../test/faults/graphs.ts";
import { fail, succeed, untilAborted, World } from "../../../test/faults/world.ts";

const graph = toGraph([task("first"), task("slow", { after: ["first"], input: path("steps.first") })]);

/** A step that works until it is told to stop. */
const hangs = {
  slow: async (_: unknown, signal: AbortSignal) => {
    await untilAborted(signal);
    return fail("STOPPED");
  },
};

async function park(world: World, hold: boolean): Promise<string> {
  const { id } = await world.start(graph);
  await vi.waitFor(() => expect(world.calls).toHaveLength(2));
  await world.host.park(new AbortController().signal, hold ? id : undefined);
  return id;
}

test("a run that a person holds stays parked when another process starts", async () => {
  const world = new World({ plays: hangs });
  const id = await park(world, true);
  const next = world.next({ plays: {} });
  expect(await next.host.recover()).toEqual({ resumed: 0 });
  expect(next.calls).toEqual([]);
  expect(await next.recordOf(id)).toMatchObject({ status: "waiting", parked: true });
});

test("a run that a person holds goes on when it is resumed, and no crash is counted", async () => {
  const world = new World({ plays: hangs });
  const id = await park(world, true);
  const next = world.next({ plays: { slow: () => succeed("done") } });
  await next.host.request(id, { type: "resume" });
  expect(await next.host.settled(id)).toMatchObject({ status: "completed", parked: false });
  expect(next.calls.map((call) => call.path)).toEqual(["slow"]);
  const interrupted = (await next.eventsOf(id)).filter(({ type }) => type === "stepInterrupted");
  expect(interrupted).toMatchObject([{ cause: "parked" }]);
});

test("a run that was parked with its process goes on by itself with the next one", async () => {
  const world = new World({ plays: hangs });
  const id = await park(world, false);
  const next = world.next({ plays: { slow: () => succeed("done") } });
  await next.host.recover();
  expect(await next.host.settled(id)).toMatchObject({ status: "completed" });
});

test("a run that a person holds can be cancelled without doing anything more", async () => {
  const world = new World({ plays: hangs });
  const id = await park(world, true);
  const next = world.next({ plays: {} });
  await next.host.request(id, { type: "cancel" });
  expect(await next.host.settled(id)).toMatchObject({ status: "cancelled" });
  expect(next.calls).toEqual([]);
});
