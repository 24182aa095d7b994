import { expect, test, vi } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { dataOf, readEvents } from "../../../../../test/fakes/read-events.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed } from "../../../../../test/faults/world.ts";

const FAN_OUT = `
name: many
steps:
  - id: each
    prompt: "Look at {input._item}"
    parallel_over: input.items
    retry: { max_attempts: 1, on_failure: skip }
  - id: all
    depends_on: [each]
    prompt: "Join {steps.each.output}"
`;

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  return new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })], {
    agent: { provider: "simulated" },
    ...options,
  });
}

async function startRun(world: HttpWorld, body: unknown, way = "/sync"): Promise<string> {
  const response = await world.post(`/workflows/run${way}`, body);
  return ((await response.json()) as { readonly data: { readonly run_id: string } }).data.run_id;
}

test("a run that has ended is told from its beginning to its end", async () => {
  const world = newWorld({ plays: { each: ({ path }) => (path === "each[1]" ? fail("BOOM") : succeed(path)) } });
  const id = await startRun(world, { workflow: FAN_OUT, input: { items: ["a", "b", "c"] } });
  const events = await readEvents(await world.request(`/runs/${id}/stream`));
  const last = new Map<unknown, unknown>();
  for (const event of events) if (event.event === "step") last.set(dataOf(event)["path"], dataOf(event)["status"]);
  expect(Object.fromEntries(last as Map<string, string>)).toEqual({
    "each[0]": "completed",
    "each[1]": "failed",
    "each[2]": "completed",
    all: "completed",
    ...(last.has("each") ? { each: last.get("each") } : {}),
  });
  expect(events.slice(-2).map(({ event }) => event)).toEqual(["result", "end"]);
  expect(dataOf(events.at(-2))).toMatchObject({ run_id: id, status: "partial", error: null });
  expect(events.filter(({ event }) => event === "status").map((event) => dataOf(event)["status"])).toEqual(["partial"]);
});

test("whoever asks again with the last id they saw gets exactly the rest", async () => {
  const world = newWorld();
  const id = await startRun(world, { workflow: FAN_OUT, input: { items: ["a", "b"] } });
  const whole = await readEvents(await world.request(`/runs/${id}/stream`));
  const numbered = whole.filter((event) => event.id !== undefined);
  expect(numbered.length).toBeGreaterThan(6);
  for (const [n, seen] of numbered.slice(0, -1).entries()) {
    const again = await world.request(`/runs/${id}/stream`, { headers: { "last-event-id": seen.id ?? "" } });
    const rest = (await readEvents(again)).filter((event) => event.id !== undefined);
    expect(rest).toEqual(numbered.slice(n + 1));
  }
  const over = await world.request(`/runs/${id}/stream?after=${numbered.at(-1)?.id}`);
  expect([over.status, await over.text()]).toEqual([204, ""]);
  const odd = await readEvents(await world.request(`/runs/${id}/stream?after=nothing`));
  expect(odd.filter((event) => event.id !== undefined)).toEqual(numbered);
});

test("a run under way is followed as it goes, and what a step tells meanwhile, where that is asked for", async () => {
  const finish = Promise.withResolvers<void>();
  const world = newWorld({
    plays: {
      work: async (task) => {
        await finish.promise;
        task.emit({ type: "log", event: { said: "almost" } });
        return succeed("done");
      },
    },
  });
  const id = await startRun(world, { workflow: "hello" }, "");
  const response = await world.request(`/runs/${id}/stream?progress=true`);
  const events = await readEvents(response, ({ event }) => {
    if (event === "status") finish.resolve();
    return false;
  });
  expect(events.map(({ event }) => event)).toContain("progress");
  expect(dataOf(events.find(({ event }) => event === "progress"))).toMatchObject({ event: { said: "almost" } });
  expect(dataOf(events.at(-2))).toMatchObject({ status: "completed", outputs: "done" });
});

test("text comes as it is said, where that is asked for, and never without a bound for who reads slowly", async () => {
  const finish = Promise.withResolvers<void>();
  const world = newWorld({
    plays: {
      work: async (task) => {
        await finish.promise;
        task.emit({ type: "live", event: { type: "text", text: "Ra" } });
        task.emit({ type: "log", event: { said: "almost" } });
        for (let n = 0; n < 5_000; n += 1) task.emit({ type: "live", event: { type: "tool_call", id: `${n}` } });
        task.emit({ type: "log", event: { said: "done" } });
        return succeed("Rain");
      },
    },
  });
  const id = await startRun(world, { workflow: "hello" }, "");
  const [told, plain] = await Promise.all(
    ["?progress=true", ""].map(async (query) => {
      const response = await world.request(`/runs/${id}/stream${query}`);
      return readEvents(response, ({ event }) => {
        if (event === "status" && query !== "") finish.resolve();
        return false;
      });
    }),
  );
  const live = (told ?? []).filter(({ event }) => event === "live");
  expect(dataOf(live[0])).toEqual({ path: "work#1", attempt: 1, event: { type: "text", text: "Ra" } });
  expect(live.length).toBeLessThanOrEqual(1_024);
  const said = (told ?? []).filter(({ event }) => event === "progress").map((event) => dataOf(event)["event"]);
  expect(said).toEqual([{ said: "almost" }, { said: "done" }]);
  expect((plain ?? []).map(({ event }) => event)).not.toContain("live");
});

test("a reader who does not read holds up nothing, and is no stream any more when it goes", async () => {
  const world = newWorld();
  const id = await startRun(world, { workflow: FAN_OUT, input: { items: ["a"] } }, "");
  const response = await world.request(`/runs/${id}/stream`);
  const reader = response.body?.getReader();
  await reader?.read();
  expect(world.streams.open).toBe(1);
  expect((await world.world.host.settled(id)).status).toBe("completed");
  await reader?.cancel();
  expect(world.streams.open).toBe(0);
  await world.request(`/runs/${id}/stream`, { method: "HEAD" });
  expect(world.streams.open).toBe(0);
});

test("many who follow one run are told the same, and it is read once for all of them", async () => {
  const finish = Promise.withResolvers<void>();
  const world = newWorld({ plays: { each: () => finish.promise.then(() => succeed("seen")) } });
  const input = { items: Array.from({ length: 20 }, (_, n) => n) };
  const id = await startRun(world, { workflow: FAN_OUT, input }, "");
  const reads = vi.spyOn(world.world.journal, "readEvents");
  const told = Promise.all(
    Array.from({ length: 200 }, async () => readEvents(await world.request(`/runs/${id}/stream`))),
  );
  finish.resolve();
  const all = (await told).map((events) => events.filter((event) => event.id !== undefined));
  expect(new Set(all.map((events) => JSON.stringify(events))).size).toBe(1);
  expect(all[0]?.at(-1)?.event).toBe("end");
  expect(reads.mock.calls.length).toBeLessThan(150);
});

test("a follower who was away while others read to the end is told what they were", async () => {
  const finish = Promise.withResolvers<void>();
  const world = newWorld({ plays: { each: () => finish.promise.then(() => succeed("seen")) } });
  const id = await startRun(world, { workflow: FAN_OUT, input: { items: [1, 2, 3] } }, "");
  const numbered = (text: string) => text.split("\n\n").filter((part) => part.startsWith("id: "));
  const reader = (await world.request(`/runs/${id}/stream`)).body?.getReader();
  if (reader === undefined) throw new Error("There is no stream.");
  let slow = "";
  const read = async () => {
    const { done, value } = await reader.read();
    slow += new TextDecoder().decode(value);
    return !done;
  };
  while (!slow.includes("event: status")) await read();
  finish.resolve();
  const whole = await (await world.request(`/runs/${id}/stream`)).text();
  while (await read());
  expect(numbered(slow)).toEqual(numbered(whole));
});

test("causes are told before consequences: an end before what it begins, a start before what it tells", async () => {
  const CHAIN = `
name: chain
steps:
  - { id: plan, prompt: "List {input.n}" }
  - { id: write, depends_on: [plan], prompt: "Write {input._item}", parallel_over: input.items }
  - { id: all, depends_on: [write], prompt: "Join {steps.write.output}" }
`;
  const finish = Promise.withResolvers<void>();
  const world = newWorld({
    plays: {
      plan: () => finish.promise.then(() => succeed("planned")),
      write: (task) => {
        task.emit({ type: "log", event: { said: task.path } });
        return succeed(task.path);
      },
    },
  });
  const id = await startRun(world, { workflow: CHAIN, input: { n: 1, items: ["a", "b"] } }, "");
  const events = await readEvents(await world.request(`/runs/${id}/stream?progress=true`), ({ event }) => {
    if (event === "status") finish.resolve();
    return false;
  });
  const told = events
    .filter(({ event }) => event === "step" || event === "progress")
    .map((event) => `${dataOf(event)["path"]} ${event.event === "step" ? dataOf(event)["status"] : "says"}`);
  const at = (what: string) => {
    expect(told).toContain(what);
    return told.indexOf(what);
  };
  expect(at("plan completed")).toBeLessThan(at("write[0] running"));
  expect(at("write[0] running")).toBeLessThan(at("write[0] says"));
  expect(at("write[1] running")).toBeLessThan(at("write[1] says"));
  expect(at("write[1] completed")).toBeLessThan(at("all running"));
});

test("outputs that are large are named, not sent", async () => {
  const world = newWorld({ plays: { work: () => succeed("x".repeat(70_000)) } });
  const id = await startRun(world, { workflow: "hello" });
  const result = (await readEvents(await world.request(`/runs/${id}/stream`))).find(({ event }) => event === "result");
  expect(dataOf(result)).toMatchObject({
    outputs: null,
    outputs_ref: `/runs/${id}?whole=true&steps=false&prompts=false`,
  });
});

test("when the server stops, followers are told to come back", async () => {
  const never = Promise.withResolvers<never>();
  const world = newWorld({ plays: { work: () => never.promise } });
  const id = await startRun(world, { workflow: "hello" }, "");
  const reading = readEvents(await world.request(`/runs/${id}/stream`));
  await new Promise((resolve) => setImmediate(resolve));
  world.streams.stop();
  const events = await reading;
  expect(events.at(-1)?.event).toBe("error");
  expect(dataOf(events.at(-1))).toMatchObject({ code: "SERVER_STOPPING" });
  never.reject(new Error("over"));
});

test("an unknown run is an answer, not a stream", async () => {
  const response = await newWorld().request("/runs/01890000/stream");
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ data: null, error: { code: "RUN_NOT_FOUND" } });
});
