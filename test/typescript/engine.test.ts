import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Workflow } from "../../src/dialects/typescript/workflow.ts";
import {
  type AnyWorkflow,
  approval,
  call,
  each,
  eq,
  fail,
  loop,
  openPawl,
  openTestPawl,
  type Pawl,
  type PawlOptions,
  RunFailed,
  run,
  StepFailure,
  text,
  wait,
  when,
  workflow,
} from "../../src/embed/pawl.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";

async function open(options: Partial<PawlOptions>, ...workflows: AnyWorkflow[]): Promise<Pawl> {
  const folder = temporaryFolder();
  const pawl = await openPawl({ folder, data: join(folder, "data"), workflows, agent: "simulated", ...options });
  onTestFinished(() => pawl.close({ drain: 0 }));
  return pawl;
}

/** What a workflow gives for an input: when its run ends, and read from the journal afterwards. */
async function resultOf<In, Out>(flow: Workflow<In, Out>, input: In): Promise<Out> {
  const pawl = await open({}, flow as unknown as AnyWorkflow);
  const started = await pawl.start(flow as Workflow<unknown, Out>, input);
  const result = await started.result();
  expect(await pawl.run(started.id).result()).toEqual(result);
  return result;
}

test("values go from step to step, through loops, choices and lists", async () => {
  const flow = workflow(
    "w",
    { input: z.object({ list: z.array(z.number()), to: z.string().default("you") }) },
    ({ input }) => {
      const twice = each(input.list, (item, index) => ({ n: run("twice", { item }, ({ item }) => item * 2), index }));
      const grown = loop("grow", { max: 5, first: { word: "", n: 0 } }, (was) => {
        const next = run("more", { was }, ({ was }) => ({ word: `${was.word}x`, n: was.n + 1 }));
        return { next, done: eq(next.n, 3) };
      });
      const bounded = loop("bounded", { max: 2, first: 0 }, (was) => ({
        next: run("add", { was }, ({ was }) => was + 1),
        done: false,
      }));
      const kind = when(
        eq(grown.n, 3),
        () => text`Dear ${input.to}`,
        () => "never",
      );
      const other = when(eq(grown.n, 4), () => "never");
      return { twice, grown, bounded, kind, other };
    },
  );
  expect(await resultOf(flow, { list: [3, 4] })).toEqual({
    twice: [
      { n: 6, index: 0 },
      { n: 8, index: 1 },
    ],
    grown: { word: "xxx", n: 3 },
    bounded: 2,
    kind: "Dear you",
    other: null,
  });
});

test("a function that fails is tried again, then its fallback stands in, and what comes after it runs", async () => {
  let tries = 0;
  const cleaned: number[] = [];
  const flow = workflow("w", {}, () => {
    const shaky = run(
      "shaky",
      {},
      () => {
        tries += 1;
        if (tries < 3) throw new Error("not yet");
        return tries;
      },
      { retry: { attempts: 3, delay: "1ms" } },
    );
    const broken = run(
      "broken",
      {},
      (): string => {
        throw new StepFailure("NO_STOCK", "None left.");
      },
      {
        retry: 3,
        fallback: (error) => text`${error.code}: ${error.message}`,
        finally: () => void run("clean", {}, () => void cleaned.push(1)),
      },
    );
    return { shaky, broken };
  });
  expect(await resultOf(flow, {})).toEqual({ shaky: 3, broken: "NO_STOCK: None left." });
  expect(cleaned).toEqual([1]);
});

test("a run that fails rejects with the step's code, whichever way it failed", async () => {
  const thrown = workflow("thrown", {}, () =>
    run("a", {}, (): null => {
      throw new TypeError("no such thing");
    }),
  );
  const failed = workflow("failed", {}, () => fail("stop", { code: "TOO_LATE", message: "It is over." }));
  const pawl = await open({}, thrown, failed);
  const error = await (await pawl.start(thrown, {})).result().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RunFailed);
  expect(error).toMatchObject({ code: "FUNCTION_FAILED", message: "no such thing", status: "failed" });
  await expect((await pawl.start(failed, {})).result()).rejects.toMatchObject({
    code: "TOO_LATE",
    message: "It is over.",
  });
});

test("an approval is answered with what its form asks for, and what stands behind it has waited", async () => {
  const order: string[] = [];
  const flow = workflow("w", {}, () => {
    const early = run("early", {}, () => void order.push("early"));
    const answer = approval("pay?", { show: { early, sum: 3 }, form: z.object({ sum: z.number() }) });
    return run("pay", { sum: answer.sum }, ({ sum }) => {
      order.push("pay");
      return sum;
    });
  });
  const pawl = await open({}, flow);
  const started = await pawl.start(flow, {});
  await restOf(pawl, started.id, "awaiting_approval");
  expect(order).toEqual(["early"]);
  await expect(pawl.approve(started.id, "pay")).rejects.toMatchObject({ code: "APPROVAL_NOT_OPEN" });
  await expect(pawl.approve(started.id, "pay?", { sum: "x" })).rejects.toMatchObject({ code: "APPROVAL_EDIT_REFUSED" });
  await pawl.approve(started.id, "pay?", { sum: 7 });
  expect(await started.result()).toBe(7);
});

test("a run waits for an event, and calls a workflow of this program and one of a file", async () => {
  const child = workflow("child", { input: z.object({ n: z.number() }) }, ({ input }) =>
    run("square", { n: input.n }, ({ n }) => n * n),
  );
  const flow = workflow("w", {}, () => {
    const paid = wait<{ n: number }>("paid", { event: "payment" });
    return call("square", child, { n: paid.n });
  });
  const pawl = await open({}, flow, child);
  const started = await pawl.start(flow, {});
  await restOf(pawl, started.id, "waiting");
  await pawl.signal(started.id, "payment", { n: 4 });
  expect(await started.result()).toBe(16);
});

test("equal requests with one key have one run, and an input that does not fit has none", async () => {
  const flow = workflow("w", { input: z.object({ n: z.number() }) }, ({ input }) =>
    run("a", { n: input.n }, ({ n }) => n),
  );
  const pawl = await open({}, flow);
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.push((await pawl.start(flow, { n: 1 }, { idempotencyKey: "k" })).id);
  expect(new Set(ids).size).toBe(1);
  await expect(pawl.start(flow, { n: 2 }, { idempotencyKey: "k" })).rejects.toMatchObject({
    code: "IDEMPOTENCY_MISMATCH",
  });
  await expect(pawl.start(flow, { n: "x" } as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(
    pawl.start(
      workflow("other", {}, () => undefined),
      {},
    ),
  ).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
});

test("a step whose function is missing or of another version waits for it, and goes on when it comes", async () => {
  const build = (version: number) => workflow("w", {}, () => run("a", {}, () => version, { version }));
  const pawl = await open({}, build(1));
  const started = await pawl.start(build(1), {});
  expect(await started.result()).toBe(1);
  const folder = temporaryFolder();
  const first = await openPawl({ folder, data: join(folder, "data"), workflows: [hanging()] });
  const { id } = await first.start(hanging(), {});
  await first.close({ drain: 0 });
  const second = await openPawl({ folder, data: join(folder, "data"), workflows: [build(2)] });
  onTestFinished(() => second.close({ drain: 0 }));
  await second.add([build(1)]);
  expect(await second.run(id).result()).toBe(1);

  function hanging() {
    return workflow("w", {}, () =>
      run(
        "a",
        {},
        (_, { signal }) =>
          new Promise<number>((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
      ),
    );
  }
});

test("a program serves its workflows: by a route, by name over the API, on a schedule; and a schedule that is none is refused", async () => {
  const input = z.object({ id: z.string() });
  const lead = workflow("lead", { input, trigger: { route: "POST /leads/{id}", open: true } }, ({ input }) =>
    run("find", { id: input.id }, ({ id }) => ({ found: id })),
  );
  const nightly = workflow("nightly", { trigger: { cron: "0 3 * * *", timezone: "Europe/Berlin" } }, () =>
    run("report", {}, () => "done"),
  );
  const pawl = await open({ serve: { port: 0 } }, lead, nightly);
  const answer = await fetch(`${pawl.url}/leads/7`, {
    method: "POST",
    body: JSON.stringify({ id: "7" }),
    headers: { "content-type": "application/json" },
  });
  expect([answer.status, await answer.json()]).toEqual([200, { found: "7" }]);
  const started = await fetch(`${pawl.url}/workflows/run`, {
    method: "POST",
    body: JSON.stringify({ workflow: "nightly" }),
    headers: { "content-type": "application/json" },
  });
  const { data } = (await started.json()) as { data: { run_id: string } };
  expect(await pawl.run(data.run_id).result()).toBe("done");
  const schedules = await (await fetch(`${pawl.url}/schedules`)).json();
  expect(schedules).toMatchObject({
    data: { items: [{ workflow_name: "nightly", cron_expression: "0 3 * * *", timezone: "Europe/Berlin" }] },
  });
  await expect(
    pawl.add([workflow("never", { trigger: { cron: "every day" } }, () => undefined)]),
  ).rejects.toMatchObject({
    code: "DEFINITION_INVALID",
  });
  const never = workflow("never", { trigger: { cron: "at night" } }, () => undefined);
  await expect(open({}, never)).rejects.toMatchObject({
    code: "DEFINITION_INVALID",
    message: expect.stringMatching(/`never` at .*engine\.test\.ts:\d+/),
  });
});

test("a program's named route, queue and event start runs with what they bring", async () => {
  const flow = workflow(
    "orders",
    {
      trigger: [
        { route: "POST /orders/{id}", name: "read" },
        { queue: "orders", name: "lane" },
        { event: "paid", name: "money" },
      ],
      input: z.object({ id: z.string() }),
    },
    ({ input }) => run("find", { id: input.id }, ({ id }) => ({ found: id })),
  );
  const pawl = await open({ serve: { port: 0 } }, flow);
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    return (await fetch(`${pawl.url}${path}`, { method: "POST", body: JSON.stringify(body), headers })).json();
  };
  expect(await post("/orders/7", { id: "7" })).toEqual({ found: "7" });
  for (const [path, id] of [
    ["/queues/orders/messages", "8"],
    ["/triggers/paid", "9"],
  ] as const) {
    const { data } = (await post(path, { messageId: id, payload: { id } })) as { data: { runs: { run_id: string }[] } };
    expect(await pawl.run(data.runs[0]?.run_id ?? "").result()).toEqual({ found: id });
  }
});

test("two workflows of one name are refused with both lines, unless they say the same", async () => {
  const build = (step: string) => workflow("w", {}, () => run(step, { place: step }, () => step));
  const same = () => workflow("w", {}, () => run("a", { place: "a" }, () => "a"));
  const pawl = await open({}, build("a"), same());
  expect(await (await pawl.start(same(), {})).result()).toBe("a");
  await expect(open({}, build("a"), build("b"))).rejects.toMatchObject({
    code: "DEFINITION_INVALID",
    message: expect.stringMatching(/`w`: one at .*engine\.test\.ts:\d+:\d+, one at .*engine\.test\.ts:\d+:\d+/),
  });
  // One that comes later takes the place of the one before.
  await pawl.add([build("b")]);
  expect(await (await pawl.start(build("b"), {})).result()).toBe("b");
});

async function restOf(pawl: Pawl, id: string, status: string): Promise<void> {
  for await (const { event, data } of pawl.run(id).events()) if (event === "status" && data.status === status) return;
}

const PROGRAM = join(import.meta.dirname, "fan-out-program.ts");
const COUNT = 60;

test("of a program that is killed again and again no function that has ended is called twice", async () => {
  const folder = temporaryFolder();
  const notes = join(folder, "notes");
  const lines = () => (existsSync(notes) ? readFileSync(notes, "utf8").split("\n").filter(Boolean) : []);
  const start = () =>
    spawn(process.execPath, [PROGRAM, join(folder, "data"), notes, String(COUNT)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
  for (const kills of [10, 40, 80]) {
    const child = start();
    const exited = once(child, "exit");
    await expect.poll(() => lines().length, { interval: 2 }).toBeGreaterThan(kills);
    child.kill("SIGKILL");
    await exited;
  }
  const last = start();
  const said = await textOf(last.stdout);
  expect(said).toContain(`ended ${COUNT * (COUNT - 1)}\n`);
  const begun = lines()
    .filter((line) => line.startsWith("begin"))
    .map((line) => line.split(" ")[1]);
  const ended = lines()
    .filter((line) => line.startsWith("end"))
    .map((line) => line.split(" ")[1]);
  expect(new Set(ended).size).toBe(COUNT);
  // A call that was cut off is made again; those that a kill cut off after their end and before their record are at most the window of each kill.
  expect(begun.length - COUNT).toBeLessThanOrEqual(3 * 4);
});

test("in a test three days pass at once, each wait at its time, and nothing is left of it", async () => {
  const flow = workflow("w", {}, () => {
    const begun = run("begun", {}, () => 1);
    wait("first", "1d", { after: [begun] });
    const middle = run("middle", {}, () => 2);
    wait("second", "2d", { after: [middle] });
    return run("end", {}, () => 3);
  });
  const pawl = await openTestPawl({ workflows: [flow] });
  const began = pawl.now();
  const started = await pawl.start(flow, {});
  const done: string[] = [];
  const reading = (async () => {
    for await (const { event, data } of started.events())
      if (event === "step" && data.status === "completed") done.push(data.path);
  })();
  // The second wait is over in time only if it began when the first one was over.
  await pawl.advance("73h");
  expect(await started.result()).toBe(3);
  await reading;
  expect(done).toEqual(["begun", "first", "middle", "second", "end"]);
  expect(pawl.now() - began).toBeGreaterThanOrEqual(73 * 3_600_000);
  await pawl.close();
});

test("a time-out ends work that hangs when the test moves time on", async () => {
  const flow = workflow("w", {}, () =>
    run("hang", {}, (_, { signal }) => new Promise<number>((_, fail) => signal.addEventListener("abort", fail)), {
      timeout: "30m",
      retry: 2,
      fallback: 7,
    }),
  );
  const pawl = await openTestPawl({ workflows: [flow] });
  onTestFinished(() => pawl.close());
  const started = await pawl.start(flow, {});
  await pawl.advance("2h");
  expect(await started.result()).toBe(7);
});

test("two parts of a program that open the same data share its engine until both have closed it", async () => {
  const first = workflow("first", {}, () => run("a", {}, () => "a"));
  const second = workflow("second", {}, () => run("b", {}, () => "b"));
  const folder = temporaryFolder();
  const options = { folder, data: join(folder, "data"), agent: "simulated" };
  const [one, two] = await Promise.all([
    openPawl({ ...options, workflows: [first] }),
    openPawl({ ...options, workflows: [second] }),
  ]);
  await one.close();
  expect(await (await two.start(first, {})).result()).toBe("a");
  expect(await (await two.start(second, {})).result()).toBe("b");
  await two.close();
  const again = await openPawl({ ...options, workflows: [first] });
  expect(await (await again.start(first, {})).result()).toBe("a");
  await again.close();
});

test("a server of the program answers for it, and asks for a key", async () => {
  const flow = workflow("w", {}, () => run("a", {}, () => 1));
  const pawl = await open({ serve: { listen: false } }, flow);
  expect(pawl.url).toBeUndefined();
  await expect(pawl.fetch(new Request("https://shop.example/runs"))).rejects.toMatchObject({ code: "HOST_REFUSED" });
  const folder = temporaryFolder();
  writeFileSync(join(folder, "pawl.yaml"), "server: {api_key: s3cret-of-the-shop}\n");
  const guarded = await open({ serve: { listen: false }, folder, data: join(folder, "data") }, flow);
  const started = await guarded.start(flow, {});
  await started.result();
  const ask = (headers: { [name: string]: string }) =>
    guarded.fetch(new Request(`https://shop.example/runs/${started.id}`, { headers }));
  expect((await ask({})).status).toBe(401);
  const answer = await ask({ "x-api-key": "s3cret-of-the-shop" });
  expect(await answer.json()).toMatchObject({ data: { status: "completed" } });
});

/** An order whose last step fails, or waits for ever. */
function orderSaga(done: string[], ending: "fails" | "completes" | "hangs") {
  const does = <T>(name: string, result: T): T => {
    done.push(name);
    return result;
  };
  const log = (name: string) => run(`un-${name}`, {}, () => void done.push(`un-${name}`));
  return workflow("order", { input: z.object({ id: z.number() }) }, ({ input }) => {
    const reserved = run("reserve", { id: input.id }, ({ id }) => does("reserve", { slot: id * 2 }), {
      undo: (output) => run("release", { slot: output.slot }, ({ slot }) => void done.push(`release ${slot}`)),
    });
    const paid = run("pay", { slot: reserved.slot }, () => does("pay", "paid"), {
      // One that fails does not stop those before it.
      undo: () => fail("refund", { code: "BANK_CLOSED", message: "Tomorrow." }),
    });
    run("note", { paid }, () => void done.push("note"), { undo: () => log("note") });
    run("send", { paid }, () => (ending === "hangs" ? new Promise<string>(() => undefined) : "sent"), {
      undo: () => log("send"),
    });
    if (ending === "fails") fail("refuse", { code: "NO_STOCK", message: "None left." }, { after: [paid] });
    return paid;
  });
}

test("where a run fails or is cancelled, what was done is undone backwards, each once; else nothing is", async () => {
  const done: string[] = [];
  const failing = orderSaga(done, "fails");
  const pawl = await open({}, failing);
  const failed = await pawl.start(failing, { id: 21 });
  await expect(failed.result()).rejects.toMatchObject({ code: "NO_STOCK" });
  const undone = done.filter((what) => /^(un-|release)/.test(what));
  expect(undone.at(-1)).toBe("release 42");
  expect(undone).toEqual([...new Set(undone)]);
  done.length = 0;
  const completing = orderSaga(done, "completes");
  await pawl.add([completing]);
  expect(await (await pawl.start(completing, { id: 1 })).result()).toBe("paid");
  expect(done).toEqual(["reserve", "pay", "note"]);
  done.length = 0;
  const hanging = orderSaga(done, "hangs");
  await pawl.add([hanging]);
  const cancelled = await pawl.start(hanging, { id: 1 });
  for await (const { event, data } of cancelled.events())
    if (event === "step" && data.step_id === "note" && data.status === "completed") break;
  await pawl.cancel(cancelled.id);
  await expect(cancelled.result()).rejects.toMatchObject({ code: "RUN_CANCELLED" });
  expect(done).toEqual(["reserve", "pay", "note", "un-note", "release 2"]);
});

test("what waits for a run hears that the engine was closed, and so does what asks it afterwards", async () => {
  const begun = Promise.withResolvers<void>();
  const flow = workflow("waits", {}, () => {
    wait("while", "1h");
    return 1;
  });
  const busy = workflow("busy", {}, () =>
    run("work", {}, (): Promise<number> => {
      begun.resolve();
      return new Promise(() => undefined);
    }),
  );
  const pawl = await openTestPawl({ workflows: [flow, busy] });
  const [waiting, working] = [await pawl.start(flow, {}), await pawl.start(busy, {})];
  const follow = async () => {
    for await (const event of waiting.events()) expect(event).toBeDefined();
  };
  const told = Promise.allSettled([waiting.result(), working.result(), follow()]);
  await begun.promise;
  await pawl.close({ drain: 0 });
  const closed = { status: "rejected", reason: expect.objectContaining({ code: "ENGINE_CLOSED" }) };
  expect(await told).toEqual([closed, closed, closed]);
  expect(await Promise.allSettled([pawl.start(flow, {}), waiting.status(), pawl.signal(waiting.id, "x")])).toEqual([
    closed,
    closed,
    closed,
  ]);
});

test("a setting of Restate is refused that does not say where it calls the program, and left out in a test", async () => {
  process.env["RESTATE_URL"] = "http://127.0.0.1:8080";
  onTestFinished(() => void delete process.env["RESTATE_URL"]);
  const refused = { code: "CONFIG_INVALID", message: expect.stringContaining("RESTATE_URL") };
  const folder = temporaryFolder();
  await expect(openPawl({ folder, data: join(folder, "data"), workflows: [] })).rejects.toMatchObject(refused);
  await (await openTestPawl({ workflows: [] })).close();
});

test("what is no JSON is refused by name", async () => {
  const flow = workflow("odd", {}, () => run("odd", {}, (): unknown => () => 1));
  const pawl = await openTestPawl({ workflows: [flow] });
  onTestFinished(() => pawl.close({ drain: 0 }));
  await expect(pawl.start(flow, undefined as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  const { id } = await pawl.start(flow, {});
  await expect(pawl.run(id).result()).rejects.toMatchObject({ message: "It gave no JSON, but a function." });
});

test("of runs with one key as many begin within a time as `rate` says, and one that is skipped is refused", async () => {
  const flow = workflow(
    "rated",
    { input: z.object({ customer: z.string() }), rate: { key: "customer", limit: 1, per: "1h", whenFull: "skip" } },
    ({ input }) => run("work", { input }, ({ input }) => input.customer),
  );
  const pawl = await open({ workflows: [flow] });
  expect(await (await pawl.start(flow, { customer: "a" })).result()).toBe("a");
  await expect(pawl.start(flow, { customer: "a" })).rejects.toMatchObject({ code: "PLACES_TAKEN" });
  expect(await (await pawl.start(flow, { customer: "b" })).result()).toBe("b");
});

test("of runs that are started one after another only the newest begins, as `debounce` says", async () => {
  const flow = workflow(
    "debounced",
    { input: z.object({ customer: z.string(), n: z.number() }), debounce: { key: "customer", wait: "1s" } },
    ({ input }) => run("work", { input }, ({ input }) => input.n),
  );
  const pawl = await open({ workflows: [flow] });
  const first = await pawl.start(flow, { customer: "a", n: 1 });
  const second = await pawl.start(flow, { customer: "a", n: 2 });
  await expect(first.result()).rejects.toMatchObject({ code: "RUN_CANCELLED" });
  expect(await second.result()).toBe(2);
});

test("of runs with one key as many go on as `runsAtOnce` says, the others in their order, and one that is skipped is refused", async () => {
  const order: string[] = [];
  let most = 0;
  let underWay = 0;
  const flow = (name: string, whenFull: "queue" | "skip") =>
    workflow(
      name,
      {
        input: z.object({ customer: z.object({ id: z.number() }), n: z.number() }),
        runsAtOnce: { key: "customer.id", whenFull },
      },
      ({ input }) =>
        run(`${name} work`, { input }, async ({ input }) => {
          underWay += 1;
          most = Math.max(most, underWay);
          order.push(`${name} ${input.n}`);
          await new Promise((resolve) => setTimeout(resolve, 5));
          underWay -= 1;
          return input.n;
        }),
    );
  const queue = flow("queue", "queue");
  const skip = flow("skip", "skip");
  const pawl = await open({}, queue, skip);
  const customer = { id: 7 };
  const started: { result(): Promise<number> }[] = [];
  for (let n = 0; n < 5; n += 1) started.push(await pawl.start(queue, { customer, n }));
  expect(await Promise.all(started.map((each) => each.result()))).toEqual([0, 1, 2, 3, 4]);
  expect([most, order]).toEqual([1, [0, 1, 2, 3, 4].map((n) => `queue ${n}`)]);
  const first = await pawl.start(skip, { customer, n: 0 });
  await expect(pawl.start(skip, { customer, n: 1 })).rejects.toMatchObject({ code: "PLACES_TAKEN" });
  expect(await first.result()).toBe(0);
});
