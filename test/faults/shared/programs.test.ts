import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type AnyWorkflow,
  approval,
  openPawl,
  type Pawl,
  run,
  StepFailure,
  workflow,
} from "../../../src/embed/pawl.ts";
import { temporaryFolder } from "../../contracts/temporary-folder.ts";
import { application } from "../../end-to-end/support/application.ts";
import { newTestDatabase } from "../../support/test-database.ts";

// Programs that share a database. Here they are in one process: an address of its own each keeps their engines apart.
async function programs() {
  const database = new URL(await newTestDatabase());
  process.env["PAWL_SECRETS__KEY"] = "0123456789abcdef0123456789abcdef";
  onTestFinished(() => void delete process.env["PAWL_SECRETS__KEY"]);
  let opened = 0;
  return async (
    workflows: readonly AnyWorkflow[],
    options: { readonly serve?: object; readonly folder?: string } = {},
  ): Promise<Pawl> => {
    database.searchParams.set("application_name", `program-${++opened}`);
    const pawl = await openPawl({ folder: temporaryFolder(), database: database.href, workflows, ...options });
    onTestFinished(() => pawl.close({ drain: 0 }));
    return pawl;
  };
}

const order = (does: () => unknown) =>
  workflow("order", {}, () => {
    const paid = run("pay", {}, does);
    approval("send?", { show: { paid } });
    return run("send", { paid }, ({ paid }) => `sent after ${paid}`);
  });

test("a run goes on where its functions are, and no other process of the database takes it", async () => {
  const open = await programs();
  const begun = Promise.withResolvers<void>();
  const first = await open([
    order(() => {
      begun.resolve();
      return new Promise(() => undefined);
    }),
  ]);
  const flow = order(() => "paid");
  const { id } = await first.start(flow, {});
  await begun.promise;
  // It serves, so that it drives whatever needs no program. The other has another workflow.
  const server = await open([], { serve: { port: 0 } });
  const other = await open([workflow("other", {}, () => run("a", {}, () => 1))]);
  await first.close({ drain: 0 });
  expect(await (await other.start({ name: "other" }, {})).result()).toBe(1);
  const second = await open([flow]);
  // The question comes only when the second program has gone on with it.
  for await (const { event, data } of second.run(id).events())
    if (event === "step" && data.status === "awaiting_approval") break;
  // Any process may be asked: the answer reaches the one that has the functions.
  await server.approve(id, "send?");
  expect(await second.run(id).result()).toBe("sent after paid");
});

test("a rerun is driven where the functions are, whichever process is asked for it, and its step that may run only once runs once", async () => {
  const open = await programs();
  let calls = 0;
  const flow = workflow("once", {}, () =>
    run(
      "pay",
      {},
      (): string => {
        calls += 1;
        if (calls === 1) throw new StepFailure("BROKEN", "No.");
        return `paid at ${calls}`;
      },
      { atMostOnce: true },
    ),
  );
  const program = await open([flow]);
  const { id } = await program.start(flow, {});
  await expect(program.run(id).result()).rejects.toMatchObject({ code: "BROKEN" });
  const server = await open([], { serve: { port: 0 } });
  const other = await open([workflow("other", {}, () => run("a", {}, () => 1))]);
  for (const asked of [server, other]) {
    const again = await asked.rerun(id);
    expect(await program.run(again.id).result()).toBe(`paid at ${calls}`);
  }
  expect(calls).toBe(3);
  await expect(other.rerun(id, { current: true })).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
});

test("a run of which no process has the workflow is told of, by whichever process is asked", async () => {
  const open = await programs();
  const begun = Promise.withResolvers<void>();
  const first = await open([
    order(() => {
      begun.resolve();
      return new Promise(() => undefined);
    }),
  ]);
  const { id } = await first.start({ name: "order" }, {});
  await begun.promise;
  expect(await first.run(id).status()).toEqual({ status: "running", error: null });
  const server = await open([], { serve: { port: 0 } });
  await first.close({ drain: 0 });
  expect(await server.run(id).status()).toMatchObject({
    error: { code: "PROGRAM_MISSING", message: expect.stringContaining("`order`") },
  });
});

const KEY = "key-of-the-shop-1234";
const CALLS = `
name: calls
steps:
  - id: priced
    type: sub_workflow
    sub_workflow: {workflow: price, input_mapping: {n: "{input.n}"}}
`;

test("a workflow in YAML that calls one of a program is driven where its functions are", async () => {
  const open = await programs();
  const begun = Promise.withResolvers<void>();
  const price = (does: (n: number) => unknown) =>
    workflow("price", { input: z.object({ n: z.number() }) }, ({ input }) =>
      run("look", { n: input.n }, ({ n }) => does(n)),
    );
  const folder = application({ "pawl.yaml": `server: {api_key: ${KEY}}\n`, "workflows/calls.yaml": CALLS });
  const hangs = price(() => {
    begun.resolve();
    return new Promise(() => undefined);
  });
  const first = await open([hangs], { folder, serve: { listen: false } });
  const asked = await first.fetch(
    new Request("http://pawl.example/workflows/run", {
      method: "POST",
      headers: { "x-api-key": KEY, "content-type": "application/json" },
      body: JSON.stringify({ workflow: "calls", input: { n: 21 } }),
    }),
  );
  const { data } = (await asked.clone().json()) as { readonly data: { readonly run_id: string } };
  expect({ status: asked.status, said: await asked.text() }).toMatchObject({
    status: expect.toSatisfy((status) => status < 300),
  });
  await begun.promise;
  // One drives whatever needs no program, the other has another one.
  const server = await open([], { serve: { port: 0 } });
  const other = await open([workflow("other", {}, () => run("a", {}, () => 1))]);
  await first.close({ drain: 0 });
  expect(await (await other.start({ name: "other" }, {})).result()).toBe(1);
  expect(await server.run(data.run_id).status()).toMatchObject({
    error: { code: "PROGRAM_MISSING", message: expect.stringContaining("`price`") },
  });
  const second = await open([price((n) => n * 2)]);
  expect(await second.run(data.run_id).result()).toMatchObject({ priced: 42 });
});
