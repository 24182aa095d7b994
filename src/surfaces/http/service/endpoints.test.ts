import fc from "fast-check";
import { type Context, Hono } from "hono";
import { expect, test } from "vitest";
import { HttpWorld } from "../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { describeService } from "./describe-service.ts";
import { loadEndpoints } from "./endpoints.ts";
import { mountEndpoints } from "./mount-endpoints.ts";

const ENDPOINTS = await loadEndpoints();

const HOSTILE_TEXTS = [
  "",
  "x",
  "../..",
  "../../etc/passwd",
  "%00",
  "'; DROP TABLE runs; --",
  "__proto__",
  "\u{1F600}",
  "9".repeat(400),
];
const HOSTILE_BODIES = [
  "",
  "{",
  "null",
  "[]",
  "7",
  '"text"',
  '{"__proto__": {"x": 1}}',
  `${'{"a":'.repeat(200)}1${"}".repeat(200)}`,
  JSON.stringify({ workflow: { a: 1 }, name: 7, reason: [], payload: null, comment: {} }),
  JSON.stringify({ name: "x", workflow: "hello", reason: "x".repeat(3_000) }),
];

test("each route is one operation", () => {
  const routes = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(routes).size).toBe(routes.length);
  expect(new Set(ENDPOINTS.map(({ id }) => id)).size).toBe(ENDPOINTS.length);
});

test("no route hides another, whatever stands in its path", async () => {
  const { parts } = new HttpWorld([]);
  const http = new Hono<HttpEnv>();
  const named = ENDPOINTS.map((endpoint) => ({
    ...endpoint,
    serve: async (_: HttpParts, c: Context<HttpEnv>) => c.text(endpoint.id),
  }));
  mountEndpoints(http, parts, named);
  const literals = new Set(ENDPOINTS.flatMap(({ path }) => path.split("/")));
  const segment = fc
    .string({ minLength: 1, maxLength: 20 })
    .filter((text) => !literals.has(text) && !/^\.\.?$/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ENDPOINTS), segment, async ({ id, method, path }, text) => {
      const filled = path.replaceAll(/\{\w+\}/g, encodeURIComponent(text));
      expect(await (await http.request(filled, { method })).text()).toBe(id);
    }),
    { numRuns: 1_000 },
  );
});

test("a parameter of the path is given in the path only", async () => {
  const world = new HttpWorld([]);
  for (const [path, init] of [
    ["/runs/x?id=y", { method: "GET" }],
    ["/runs/x/cancel", { method: "POST", body: '{"id": "y"}' }],
  ] as const) {
    const response = await world.request(path, init);
    expect(await response.json()).toMatchObject({
      error: { code: "REQUEST_INVALID", message: expect.stringContaining('"id"') },
    });
  }
});

test("the document names every parameter of a path, and every reference leads somewhere", () => {
  const document = describeService(ENDPOINTS, "1.0.0");
  const text = JSON.stringify(document);
  const schemas = (document["components"] as { readonly schemas: JsonObject }).schemas;
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(Object.keys(schemas)).toContain(name);
  }
  expect(text).not.toContain("$defs");
  for (const { path, params } of ENDPOINTS) {
    const written = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(params.shape)).toEqual(written);
  }
});

test.each(ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
  "%s answers whatever is sent with an envelope or a stream, and never breaks",
  async (_route, { method, path, query }) => {
    const world = new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })]);
    const names = Object.keys(query.shape);
    for (const [n, text] of HOSTILE_TEXTS.entries()) {
      const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(text) || "%20");
      const asked = new URLSearchParams(names.map((name): [string, string] => [name, text]));
      const body = method === "GET" ? {} : { body: HOSTILE_BODIES[n % HOSTILE_BODIES.length] ?? "" };
      for (const prefix of ["", "/api"]) {
        const response = await world.request(`${prefix}${filled}?${asked}`, { method, ...body });
        expect(response.status, `${filled}?${asked}`).toBeLessThan(500);
        // What could be a place in the stream of all runs is followed from there.
        if (response.headers.get("content-type")?.startsWith("text/event-stream")) await response.body?.cancel();
        else {
          const answer: unknown = await response.json();
          expect(isJsonObject(answer) && "data" in answer && "error" in answer, filled).toBe(true);
        }
      }
    }
    for (const body of method === "GET" ? [] : HOSTILE_BODIES) {
      const response = await world.request(path.replaceAll(/\{\w+\}/g, "x"), { method, body });
      expect(response.status, body.slice(0, 50)).toBeLessThan(500);
    }
    expect(world.defects).toEqual([]);
  },
);

test("what is answered has the form that the document promises", async () => {
  const world = new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })]);
  const response = await world.post("/workflows/run/sync", { workflow: "hello", input: { a: [1] } });
  const { data } = (await response.json()) as { readonly data: JsonObject };
  for (const [id, path] of [
    ["getRun", `/runs/${data["run_id"]}`],
    ["listRuns", "/runs"],
    ["listApprovals", "/approvals"],
  ]) {
    const endpoint = ENDPOINTS.find((each) => each.id === id);
    const answered = (await (await world.request(path ?? "")).json()) as { readonly data: unknown };
    const { answer } = endpoint ?? {};
    expect(answer !== undefined && "safeParse" in answer && answer.safeParse(answered.data).error).toBeUndefined();
  }
});
