import { expect, test } from "vitest";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { input, literal, respond, task, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import type { CallingStep } from "../../ports/tools/tool-set.ts";
import { createSends } from "./step-sends.ts";

const paid: Expr = { op: "path", root: "steps", name: "wait", path: ["output", "sum"] };
const waiter = uhlpGraph({
  name: "waiter",
  steps: [
    {
      id: "wait",
      kind: "wait",
      wait: { for: "event", name: literal("paid"), match: { order: input("order") } },
      transitions: [{ on: "success", to: "respond" }],
    },
    respond(paid),
  ],
});
const listener = uhlpGraph({
  name: "listener",
  trigger: { kind: "event", event: "paid" },
  steps: [respond(literal(1))],
});
const sender = uhlpGraph({ name: "sender", steps: [task("work")] });

const stepOf = (runId: string, more: Partial<CallingStep> = {}) =>
  ({ runId, path: "emit#1", settings: {}, ...more }) as CallingStep;

const named = ({ event: emit, start }: ReturnType<typeof createSends>) => ({ emit, start });

async function sending() {
  const { world, parts } = new HttpWorld([waiter, listener, sender]);
  const run = await world.run(sender, {}, { maxCostMicro: 70_000 });
  return { world, ...named(createSends(parts.app)), run };
}

test("an event of a step starts what it triggers and goes to the run that waits, once however often the step is tried", async () => {
  const { world, emit, run } = await sending();
  const first = await world.run(waiter, { order: 7 });
  world.clock.jump(1);
  const second = await world.run(waiter, { order: 7 });
  const event = { name: "paid", payload: { order: 7, sum: 5 } };
  const sent = await emit(event, stepOf(run.id));
  expect(sent).toMatchObject({ runs: [{ workflow: "listener" }], waiting: { run_id: first.id } });
  expect(await emit(event, stepOf(run.id))).toEqual(sent);
  expect((await world.host.settled(second.id)).status).toBe("waiting");
  expect(await emit(event, stepOf(run.id, { path: "emit#2" }))).toMatchObject({ waiting: { run_id: second.id } });
  const runs = await world.journal.listRuns({ limit: 10 });
  expect(runs.filter(({ workflow }) => workflow === "listener")).toHaveLength(2);
});

test("what it starts may cost what the run may that sends it, and belongs to its tenant", async () => {
  const { world, emit, run } = await sending();
  await emit({ name: "paid", payload: {} }, stepOf(run.id, { tenantId: "a" }));
  const [started] = (await world.journal.listRuns({ limit: 10 })).filter(({ workflow }) => workflow === "listener");
  expect(started?.tenantId).toBe("a");
  expect(await world.journal.readEvents(started?.no ?? 0, { afterSeq: 0, limit: 1 })).toMatchObject([
    { event: { type: "runStarted", maxCostMicro: 70_000 } },
  ]);
});

test("an event that nobody hears is a mistake", async () => {
  const { emit, run } = await sending();
  await expect(emit({ name: "payd", payload: {} }, stepOf(run.id))).rejects.toMatchObject({ code: "EVENT_UNKNOWN" });
});

test("a run is started once however often the step is tried, may cost what its own may, and is the tenant's", async () => {
  const { world, start, run } = await sending();
  const started = await start({ workflow: "listener", input: {} }, stepOf(run.id, { tenantId: "a" }));
  expect(started).toMatchObject({ workflow: "listener" });
  expect(await start({ workflow: "listener", input: {} }, stepOf(run.id, { tenantId: "a" }))).toEqual(started);
  const other = await start({ workflow: "listener", input: {} }, stepOf(run.id, { path: "emit#2" }));
  expect(other["run_id"]).not.toBe(started["run_id"]);
  const [second, first, ...more] = (await world.journal.listRuns({ limit: 10 })).filter((each) => each.id !== run.id);
  expect([first?.id, first?.tenantId, second?.id, more]).toEqual([started["run_id"], "a", other["run_id"], []]);
  expect(await world.journal.readEvents(first?.no ?? 0, { afterSeq: 0, limit: 1 })).toMatchObject([
    { event: { type: "runStarted", maxCostMicro: 70_000 } },
  ]);
});

test("a workflow that nobody knows is a mistake", async () => {
  const { start, run } = await sending();
  const unknown = start({ workflow: "../../etc/passwd", input: {} }, stepOf(run.id));
  await expect(unknown).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
});
