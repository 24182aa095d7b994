import { expect, expectTypeOf, test } from "vitest";
import { HttpWorld } from "../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../test/fakes/uhlp-graph.ts";
import { ApiError, createPawlClient, type RunStreamEvent } from "./pawl-client.ts";

const THREE = uhlpGraph({
  name: "three",
  steps: [task("a", [{ on: "success", to: "b" }]), task("b", [{ on: "success", to: "c" }]), task("c")],
});

function newWorld(wrap: (response: Response, request: Request) => Response = (response) => response) {
  const world = new HttpWorld([THREE]);
  const own: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    return wrap(await world.http.fetch(request), request);
  };
  return { world, client: createPawlClient({ url: "http://localhost/", fetch: own }) };
}

test("routes are called with the types of their document, and answers come without their envelope", async () => {
  const { client } = newWorld();
  const run = await client.call("POST /workflows/run/sync", { workflow: "three", input: {} });
  expectTypeOf(run.status).toEqualTypeOf<
    | "queued"
    | "running"
    | "waiting"
    | "awaiting_approval"
    | "completed"
    | "partial"
    | "failed"
    | "cancelled"
    | "budget_exceeded"
  >();
  expect(run).toMatchObject({ status: "completed", steps: [{ path: "a#1" }, { path: "b#1" }, { path: "c#1" }] });
  const { items } = await client.call("GET /runs", { workflow: "three", limit: 1 });
  expect(items).toMatchObject([{ run_id: run.run_id }]);
});

test("a file is sent and read as it is", async () => {
  const { client } = newWorld();
  const content = Uint8Array.from([0, 255, 10, 13, 128]);
  const path = "a folder/b#c";
  expect(await client.call("PUT /storage/{path}", { path, content })).toEqual({ path, bytes: 5 });
  expect(await client.call("GET /storage/{path}", { path })).toEqual(content);
  await expect(client.call("GET /storage/{path}", { path: "none" })).rejects.toMatchObject({ code: "STORAGE_MISSING" });
});

test("a refusal is an error with its code, what to do, and its status", async () => {
  const { client } = newWorld();
  const error = await client.call("GET /runs/{id}", { id: "none" }).catch(String);
  expect(error).toContain('There is no run "none".');
  await expect(client.call("GET /runs/{id}", { id: "none" })).rejects.toMatchObject({
    name: "ApiError",
    code: "RUN_NOT_FOUND",
    remedy: expect.stringContaining("pawl runs ls"),
    status: 404,
  });
});

test("a run is followed without a gap or a repetition though every connection breaks", async () => {
  const lasts: (string | null)[] = [];
  const { client } = newWorld((response, request) => {
    if (!request.url.includes("/stream")) return response;
    lasts.push(request.headers.get("last-event-id"));
    return cutAfter(response, 3);
  });
  const { run_id: id } = await client.call("POST /workflows/run/sync", { workflow: "three", input: {} });
  const seen: RunStreamEvent[] = [];
  for await (const event of client.followRun(id)) seen.push(event);
  const ids = seen.flatMap((event) => ("id" in event ? [event.id] : []));
  expect(lasts.length).toBeGreaterThan(2);
  expect(lasts.slice(1).every((last) => last !== null)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  const ended = seen.flatMap((event) =>
    event.event === "step" && event.data.status === "completed" ? [event.data.path] : [],
  );
  expect(ended).toEqual(["a#1", "b#1", "c#1"]);
  expect(seen.at(-1)).toMatchObject({ event: "end", data: { run_id: id } });
});

test("who answers otherwise is no Pawl server, and who does not answer cannot be reached", async () => {
  const page: typeof fetch = async () => new Response("<html>", { headers: { "content-type": "text/html" } });
  const other = createPawlClient({ url: "http://127.0.0.1:9", fetch: page });
  await expect(other.call("GET /runs")).rejects.toMatchObject({ code: "NOT_A_PAWL_SERVER" });
  await expect(other.followRun("x").next()).rejects.toMatchObject({ code: "NOT_A_PAWL_SERVER" });
  const nobody: typeof fetch = async () => {
    throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:9") });
  };
  const none = createPawlClient({ url: "http://127.0.0.1:9", fetch: nobody });
  const error = await none.call("GET /runs").catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: "SERVER_UNREACHABLE", remedy: expect.stringContaining("pawl serve") });
});

test("a key is sent to the server, and not to where it points", async () => {
  const sent: (string | null)[] = [];
  const pointing: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    sent.push(`${request.redirect} ${request.headers.get("x-api-key")}`);
    return new Response(null, { status: 302, headers: { location: "http://elsewhere.example/" } });
  };
  const client = createPawlClient({ url: "http://localhost", apiKey: "k", fetch: pointing });
  await expect(client.call("GET /runs")).rejects.toMatchObject({ code: "NOT_A_PAWL_SERVER" });
  expect(sent).toEqual(["manual k"]);
});

/** The response as a connection brings it that breaks after some events. */
function cutAfter(response: Response, events: number): Response {
  let left = events;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      if (new TextDecoder().decode(chunk).includes("id:")) left -= 1;
      if (left === 0) controller.error(new Error("The connection broke."));
    },
  });
  return new Response(response.body?.pipeThrough(cut), { headers: response.headers });
}

test("a route takes the fields of its operation, wherever they are sent, and has its types", async () => {
  const { client } = newWorld();
  const schedule = await client.call("POST /schedules", { workflow: "three", cron: "0 6 * * *" });
  expectTypeOf(schedule.overlap).toEqualTypeOf<"skip" | "queue" | "cancel_previous">();
  const id = schedule.schedule_id;
  expect(await client.call("PATCH /schedules/{id}", { id, enabled: false })).toMatchObject({ enabled: false });
  expect((await client.call("GET /schedules")).items).toHaveLength(1);
  const page = await client.call("GET /schedules/{id}/slots", { id, limit: 5 });
  expect(page).toEqual({ items: [], next_cursor: null });
  expect(await client.call("DELETE /schedules/{id}", { id })).toEqual({ schedule_id: id });
  await expect(client.call("GET /schedules/{id}", { id })).rejects.toMatchObject({ code: "SCHEDULE_NOT_FOUND" });
  // @ts-expect-error: the input has no such field.
  await expect(client.call("GET /schedules", { nothing: 1 })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
});
