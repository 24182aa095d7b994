import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type AnyWorkflow,
  agent,
  and,
  approval,
  call,
  count,
  each,
  eq,
  fail,
  ge,
  gt,
  loop,
  match,
  openTestPawl,
  type PawlOptions,
  RunFailed,
  run,
  StepFailure,
  type TestPawl,
  text,
  tool,
  wait,
  when,
  workflow,
} from "../../src/embed/pawl.ts";
import { application } from "../end-to-end/support/application.ts";

const FAKE_MCP = fileURLToPath(new URL("../fakes/mcp-server/main.ts", import.meta.url));

// Programs as people write them. Each is whole: what it needs of the world is a function of the test.

async function open(workflows: readonly AnyWorkflow[], options: Partial<PawlOptions> = {}): Promise<TestPawl> {
  const pawl = await openTestPawl({ agent: "simulated", workflows, ...options });
  onTestFinished(() => pawl.close({ drain: 0 }));
  return pawl;
}

test("an order: what was reserved and paid is given back where the parcel cannot be sent", async () => {
  const shop = { stock: 5, cash: 0, parcels: 0 };
  const Order = z.object({ id: z.string(), amount: z.number(), address: z.string() });
  const order = workflow("order", { input: Order }, ({ input }) => {
    const stock = run(
      "reserve",
      { amount: input.amount },
      ({ amount }) => {
        shop.stock -= amount;
        return { amount };
      },
      {
        undo: (made) =>
          run("restock", { amount: made.amount }, ({ amount }) => {
            shop.stock += amount;
          }),
      },
    );
    const paid = run(
      "charge",
      { of: stock.amount },
      ({ of }) => {
        shop.cash += of * 10;
        return { of };
      },
      {
        undo: (made) =>
          run("refund", { of: made.of }, ({ of }) => {
            shop.cash -= of * 10;
          }),
      },
    );
    return run("send", { paid, to: input.address }, ({ to }) => {
      if (to === "") throw new StepFailure("NO_ADDRESS", "The parcel has no address.");
      shop.parcels += 1;
      return { parcels: shop.parcels };
    });
  });
  const pawl = await open([order]);
  const good = await pawl.start(order, { id: "a", amount: 2, address: "Mill Lane 1" });
  expect(await good.result()).toEqual({ parcels: 1 });
  const bad = await pawl.start(order, { id: "b", amount: 1, address: "" });
  await expect(bad.result()).rejects.toMatchObject({ code: "NO_ADDRESS", status: "failed" });
  expect(shop).toEqual({ stock: 3, cash: 20, parcels: 1 });
});

test("an extract: pages are read until the last one, cleaned side by side, and loaded as one batch", async () => {
  const pages = [["ada", "bob"], ["", "cyd"], ["dan"]];
  const Page = z.object({ rows: z.array(z.string()), next: z.number(), more: z.boolean() });
  type Row = { readonly name: string };
  const loaded: Row[] = [];
  const etl = workflow("etl", {}, () => {
    const read = loop("pages", { max: 50, first: { rows: [] as string[], next: 0, more: true } }, (was) => {
      const next = run(
        "page",
        { was },
        ({ was }): z.infer<typeof Page> => ({
          rows: [...was.rows, ...(pages[was.next] ?? [])],
          next: was.next + 1,
          more: was.next + 1 < pages.length,
        }),
      );
      return { next, done: eq(next.more, false) };
    });
    const rows = each(
      read.rows,
      (name) =>
        run("clean", { name }, ({ name }) => {
          if (name === "") throw new StepFailure("EMPTY", "A row has no name.");
          return { name: name.toUpperCase() };
        }),
      { window: 3, onFailure: "skip" },
    );
    return run("load", { rows }, ({ rows }) => loaded.push(...rows.filter((row) => row !== null)));
  });
  const pawl = await open([etl]);
  expect(await (await pawl.start(etl, {})).result()).toBe(4);
  expect(loaded.map(({ name }) => name)).toEqual(["ADA", "BOB", "CYD", "DAN"]);
});

test("an answer from documents: a critic sends the draft back until it is good enough, within a bound", async () => {
  const Draft = z.object({ text: z.string(), score: z.number() });
  const rag = workflow("rag", { input: z.object({ question: z.string() }), budget: { usd: 1 } }, ({ input }) => {
    const found = run("search", { q: input.question }, ({ q }) => [`${q} is in document 1`, "document 2"]);
    const draft = loop("improve", { max: 4, first: { text: "", score: 0 } }, (was) => {
      const answer = agent("write", {
        prompt: text`Answer ${input.question} from ${found}. Before: ${was.text}`,
        model: "haiku",
      });
      const next = run(
        "judge",
        { was, answer },
        ({ was, answer }): z.infer<typeof Draft> => ({
          text: answer,
          score: was.score + 4,
        }),
      );
      return { next, done: ge(next.score, 7) };
    });
    return { text: draft.text, good: ge(draft.score, 7) };
  });
  const pawl = await open([rag]);
  const result = await (await pawl.start(rag, { question: "Where?" })).result();
  expect(result).toMatchObject({ good: true, text: expect.any(String) });
});

test("a support ticket: it goes where its kind says, and a refund waits for a person until its deadline", async () => {
  const Ticket = z.object({
    from: z.string(),
    body: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("refund"), amount: z.number() }),
      z.object({ kind: z.literal("question"), about: z.string() }),
    ]),
  });
  const triage = workflow("triage", { input: Ticket }, ({ input }) =>
    match(input.body, "kind", {
      refund: (ticket) => {
        const asked = approval("refund?", {
          show: { amount: ticket.amount, from: input.from },
          form: z.object({ amount: z.number() }),
          timeout: "2d",
        });
        return run("pay", { asked }, ({ asked }) => `paid ${asked.amount}`);
      },
      question: (ticket) => run("reply", { about: ticket.about }, ({ about }) => `see the page on ${about}`),
    }),
  );
  const pawl = await open([triage]);
  const question = await pawl.start(triage, { from: "ada", body: { kind: "question", about: "parcels" } });
  expect(await question.result()).toBe("see the page on parcels");
  const refund = await pawl.start(triage, { from: "bob", body: { kind: "refund", amount: 20 } });
  for await (const { event, data } of refund.events())
    if (event === "step" && data.status === "awaiting_approval") break;
  await pawl.approve(refund.id, "refund?", { amount: 15 }, "cyd");
  expect(await refund.result()).toBe("paid 15");
  const late = await pawl.start(triage, { from: "dan", body: { kind: "refund", amount: 9 } });
  await pawl.advance("49h");
  await expect(late.result()).rejects.toBeInstanceOf(RunFailed);
});

test("a nightly report: a schedule starts it, at its time, with nobody near", async () => {
  const reports: string[] = [];
  const nightly = workflow("nightly", { trigger: { cron: "0 3 * * *", timezone: "Europe/Berlin" } }, () => {
    const sums = run("sum", {}, () => ({ orders: 3 }));
    return run("mail", { sums }, ({ sums }) => void reports.push(`${sums.orders} orders`));
  });
  const pawl = await open([nightly], { serve: { listen: false } });
  await pawl.advance("49h");
  expect(reports.length).toBeGreaterThanOrEqual(1);
});

test("payments from outside: a run goes on when the event of its order comes, and gives up after a week", async () => {
  const collect = workflow("collect", { input: z.object({ order: z.number() }) }, ({ input }) => {
    const paid = wait<{ readonly amount: number }>("payment", { event: text`payment-${input.order}`, timeout: "7d" });
    return when(
      gt(paid.amount, 0),
      () => run("ship", { paid }, ({ paid }) => `shipped for ${paid.amount}`),
      () => run("remind", {}, () => "reminded"),
    );
  });
  const pawl = await open([collect]);
  const one = await pawl.start(collect, { order: 1 });
  const two = await pawl.start(collect, { order: 2 });
  await pawl.signal(two.id, "payment-2", { amount: 12 });
  expect(await two.result()).toBe("shipped for 12");
  await pawl.advance("8d");
  await expect(one.result()).rejects.toMatchObject({ status: "failed" });
});

test("a batch of 5,000 with a window: never more than it at once, and each item once", async () => {
  let [now, most] = [0, 0];
  const seen = new Set<number>();
  const batch = workflow("batch", { input: z.object({ ids: z.array(z.number()) }) }, ({ input }) => {
    const done = each(
      input.ids,
      (id) =>
        run("one", { id }, async ({ id }) => {
          now += 1;
          most = Math.max(most, now);
          await Promise.resolve();
          now -= 1;
          seen.add(id);
          return id;
        }),
      { window: 50 },
    );
    return count(done);
  });
  const pawl = await open([batch]);
  const ids = Array.from({ length: 5_000 }, (_, id) => id);
  expect(await (await pawl.start(batch, { ids })).result()).toBe(5_000);
  expect(seen.size).toBe(5_000);
  expect(most).toBeLessThanOrEqual(50);
});

test("workflows call each other across dialects, with the functions of this program beside agents of a file", async () => {
  const folder = application({
    "workflows/greet.yaml": 'name: greet\nsteps:\n  - id: hello\n    prompt: "Greet {input.name}"\n',
  });
  const inner = workflow("inner", { input: z.object({ n: z.number() }) }, ({ input }) =>
    run("double", { n: input.n }, ({ n }) => n * 2),
  );
  const outer = workflow("outer", {}, () => {
    const doubled = call("doubled", inner, { n: 21 });
    const greeted = call("greeted", "greet", { name: "Ada" });
    return { doubled, greeted };
  });
  const pawl = await open([inner, outer], { folder });
  expect(await (await pawl.start(outer, {})).result()).toMatchObject({ doubled: 42, greeted: expect.anything() });
});

test("an API of one's own: Hono starts runs and mounts the engine's API beside its routes", async () => {
  const signup = workflow("signup", { input: z.object({ mail: z.string() }) }, ({ input }) => {
    const known = run("known", { mail: input.mail }, ({ mail }) => mail.endsWith("@example.com"));
    when(and(known, eq(input.mail, "root@example.com")), () =>
      fail("taken", { code: "TAKEN", message: "Choose another." }),
    );
    return run("welcome", { mail: input.mail }, ({ mail }) => `welcome ${mail}`);
  });
  const folder = application({ "pawl.yaml": "server: {api_key: key-of-the-shop-1234}\n" });
  const pawl = await open([signup], { folder, serve: { listen: false } });
  const app = new Hono();
  app.post("/signup", async (c) => {
    const started = await pawl.start(signup, await c.req.json());
    return c.json({ id: started.id, said: await started.result() });
  });
  app.mount("/pawl", pawl.fetch);
  const answer = await app.request("/signup", { method: "POST", body: JSON.stringify({ mail: "ada@example.com" }) });
  const { id, said } = (await answer.json()) as { readonly id: string; readonly said: string };
  expect(said).toBe("welcome ada@example.com");
  const shown = await app.request(`/pawl/runs/${id}`, { headers: { authorization: "Bearer key-of-the-shop-1234" } });
  expect(await shown.json()).toMatchObject({ data: { status: "completed", workflow_name: "signup" } });
  expect((await app.request(`/pawl/runs/${id}`)).status).toBe(401);
});

test("a step calls a tool of an MCP server, and gives what the program says that it gives", async () => {
  const mcpServers = { fake: { command: process.execPath, args: [FAKE_MCP] } };
  const folder = application({ ".mcp.json": JSON.stringify({ mcpServers }) });
  const sum = workflow("sum", { input: z.object({ a: z.number() }) }, ({ input }) => {
    const added = tool<{ readonly sum: number }>("add", "fake.add", { a: input.a, b: 2 });
    return run("double", { sum: added.sum }, ({ sum }) => sum * 2);
  });
  const pawl = await open([sum], { folder });
  expect(await (await pawl.start(sum, { a: 19 })).result()).toBe(42);
});

const TWIN = `
name: twin
input_schema: {type: object, properties: {name: {type: string}}, required: [name]}
steps:
  - {id: left, prompt: "Left of {input.name}", model: haiku}
  - {id: right, prompt: "Right of {input.name}", model: haiku, retry: {max_attempts: 2}, depends_on: [left]}
  - {id: both, depends_on: [left, right], prompt: "{steps.left.output} and {steps.right.output}", model: haiku}
`;

interface Told {
  readonly type: string;
  readonly path?: string;
}

test("a definition in TypeScript has the history of its twin in YAML", async () => {
  const twin = workflow("twin-ts", { input: z.object({ name: z.string() }) }, ({ input }) => {
    const left = agent("left", { prompt: text`Left of ${input.name}`, model: "haiku" });
    const right = agent("right", { prompt: text`Right of ${input.name}`, model: "haiku", retry: 2, after: [left] });
    return agent("both", { prompt: text`${left} and ${right}`, model: "haiku" });
  });
  const key = "key-of-the-shop-1234";
  const folder = application({ "pawl.yaml": `server: {api_key: ${key}}\n`, "workflows/twin.yaml": TWIN });
  const pawl = await open([twin], { folder, serve: { listen: false } });
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
    const answer = await pawl.fetch(new Request(`http://pawl.example${path}`, init));
    const said = await answer.text();
    expect({ status: answer.status, said }).toMatchObject({ status: expect.toSatisfy((status) => status < 300) });
    return (JSON.parse(said) as { readonly data: unknown }).data;
  };
  const historyOf = async (name: string) => {
    const { run_id: id } = (await ask("/workflows/run", {
      workflow: name,
      input: { name: "Ada" },
      agent: "simulated",
    })) as {
      run_id: string;
    };
    await pawl.run(id).result();
    const told = (await ask(`/runs/${id}/events`)) as { readonly items: readonly { readonly event: Told }[] };
    return told.items.map(({ event: { type, path = "" } }) => `${type} ${path}`);
  };
  const written = await historyOf("twin");
  expect(written.length).toBeGreaterThan(5);
  expect(await historyOf("twin-ts")).toEqual(written);
});
