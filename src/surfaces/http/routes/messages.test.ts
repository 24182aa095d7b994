import { describe, expect, test } from "vitest";
import { HttpWorld } from "../../../../test/fakes/http-world.ts";
import { input, respond, shaped, task, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { readRunResult } from "../../../operations/runs/read-run-result.ts";

const ORDERS = { kind: "queue", queueName: "orders & more" } as const;
const PATH = "/queues/orders%20%26%20more/messages";

function listening(name: string) {
  return uhlpGraph({ name, trigger: ORDERS, steps: [task("work")] });
}

interface Delivered {
  readonly data: {
    readonly message_id: string;
    readonly runs: readonly { readonly run_id: string; readonly workflow: string; readonly duplicate: boolean }[];
  };
}

async function deliver(world: HttpWorld, path: string, body: unknown): Promise<Delivered["data"]> {
  const response = await world.post(path, body);
  expect(response.status).toBe(202);
  return ((await response.json()) as Delivered).data;
}

describe("a message of a queue", () => {
  test("starts a run in each workflow of the queue, once", async () => {
    const world = new HttpWorld([listening("one"), listening("two"), uhlpGraph({ name: "other", steps: [task("x")] })]);
    const first = await deliver(world, PATH, { messageId: "m-1", payload: { n: 1 } });
    expect(first.runs.map(({ workflow, duplicate }) => [workflow, duplicate])).toEqual([
      ["one", false],
      ["two", false],
    ]);
    const again = await deliver(world, PATH, { messageId: "m-1", payload: { n: 1 } });
    expect(again.runs).toEqual(first.runs.map((run) => ({ ...run, duplicate: true })));
    expect(await world.world.journal.listRuns({ limit: 10 })).toHaveLength(2);
  });

  test("starts one run however often it comes at the same moment", async () => {
    const world = new HttpWorld([listening("one")]);
    const all = await Promise.all(
      Array.from({ length: 20 }, () => deliver(world, PATH, { messageId: "m", payload: {} })),
    );
    expect(all.flatMap(({ runs }) => runs).filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(world.defects).toEqual([]);
    expect(world.world.defects).toEqual([]);
  });

  test("without an id is another one each time", async () => {
    const world = new HttpWorld([listening("one")]);
    const [first, second] = [await deliver(world, PATH, { payload: 1 }), await deliver(world, PATH, { payload: 1 })];
    expect(first.message_id).not.toBe(second.message_id);
    expect(second.runs).toMatchObject([{ duplicate: false }]);
  });

  test("is what the workflow reads", async () => {
    const graph = uhlpGraph({
      name: "one",
      trigger: ORDERS,
      steps: [respond(shaped("generic", input("requestData")))],
    });
    const world = new HttpWorld([graph]);
    const { runs } = await deliver(world, PATH, { messageId: "m", payload: { n: 1 } });
    const [run] = runs;
    const record = await world.world.host.settled(run?.run_id ?? "");
    const { outcome } = await readRunResult(world.world, record);
    const queueDetails = { queueName: "orders & more", messageId: "m", payload: { n: 1 } };
    expect(outcome).toMatchObject({ output: { data: { source: "queue", queueDetails } } });
  });

  test("that does not fit one of its workflows starts none", async () => {
    const strict = uhlpGraph({ name: "two", trigger: ORDERS, schema: { type: "number" }, steps: [task("x")] });
    const world = new HttpWorld([listening("one"), strict]);
    const response = await world.post(PATH, { payload: "x" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ data: null, error: { code: "INPUT_INVALID" } });
    expect(await world.world.journal.listRuns({ limit: 1 })).toEqual([]);
  });

  test.each([
    ["/queues/unknown/messages", {}, 404],
    [PATH, [], 400],
    [PATH, "{", 400],
    [PATH, { messageId: 7 }, 400],
  ])("%s %j is answered with %i", async (path, body, status) => {
    const response = await new HttpWorld([listening("one")]).post(path, body);
    expect([response.status, await response.json()]).toMatchObject([status, { data: null }]);
  });
});

describe("an event", () => {
  const all = uhlpGraph({ name: "all", trigger: { kind: "event", event: "paid" }, steps: [task("x")] });
  const shop = uhlpGraph({
    name: "shop",
    trigger: { kind: "event", event: "paid", sourceAppId: "shop" },
    steps: [task("x")],
  });

  test("starts the workflows that listen to whoever sent it", async () => {
    const world = new HttpWorld([all, shop]);
    const workflows = async (body: unknown) =>
      (await deliver(world, "/triggers/paid", body)).runs.map((run) => run.workflow);
    expect(await workflows({ payload: {} })).toEqual(["all"]);
    expect(await workflows({ sourceAppId: "shop", payload: {} })).toEqual(["all", "shop"]);
    expect(await workflows({ sourceAppId: "bank", payload: {} })).toEqual(["all"]);
  });

  test("with the id of an earlier one starts nothing", async () => {
    const world = new HttpWorld([all]);
    await deliver(world, "/triggers/paid", { messageId: "e", payload: {} });
    expect((await deliver(world, "/triggers/paid", { messageId: "e", payload: {} })).runs).toMatchObject([
      { duplicate: true },
    ]);
  });

  test("that nobody listens to is answered with 404", async () => {
    expect((await new HttpWorld([all]).post("/triggers/payd", {})).status).toBe(404);
  });
});
