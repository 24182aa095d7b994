import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { AT_ONCE, application } from "../../end-to-end/support/application.ts";
import { startServer } from "../../end-to-end/support/server.ts";

/** Patterns that a search with going back does not end on, and texts that nearly fit them. */
const CORES = [
  "(a+)+",
  "(a|a)*",
  "(a|aa)+",
  "(.*a){20}",
  "([a-z]+)*",
  "(\\w+\\s?)+",
  "(a*)*b",
  "(x+x+)+y",
  "(a?){30}a{30}",
  "((a+)+)+",
];
const TEXTS = [
  `${"a".repeat(50)}!`,
  `${"a".repeat(50_000)}!`,
  `${"x".repeat(5_000)}!`,
  `${"a ".repeat(5_000)}!`,
  `a@${"a".repeat(30_000)}!`,
];

const FAN_OUT = {
  $ref: "#/definitions/a",
  definitions: {
    a: { properties: { x: { allOf: [{ $ref: "#/definitions/a" }, { $ref: "#/definitions/a" }] } } },
  },
};

const nest = (levels: number): Json => (levels === 0 ? 1 : { x: nest(levels - 1) });

const cases: readonly { readonly schema: JsonObject; readonly value: Json }[] = [
  ...CORES.flatMap((core) => TEXTS.map((value) => ({ schema: { pattern: `^${core}$` }, value }))),
  ...CORES.map((core) => ({ schema: { patternProperties: { [`^${core}$`]: false } }, value: { [TEXTS[1] ?? ""]: 1 } })),
  { schema: { uniqueItems: true }, value: Array.from({ length: 20_000 }, (_, i) => ({ i })) },
  { schema: FAN_OUT, value: nest(60) },
  { schema: { anyOf: [{ type: "null" }, { $ref: "#" }] }, value: 1 },
];

test("schemas that strangers send hold nobody up, as inputs and as outputs", async () => {
  const cwd = application({ "answers.yaml": AT_ONCE, "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n' });
  const server = await startServer([], { cwd, env: {} });
  const delaysMs: number[] = [];
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const askedAt = performance.now();
      await (await fetch(`${server.url}/healthz`)).text();
      delaysMs.push(performance.now() - askedAt);
      await setTimeout(10);
    }
  })();
  const run = async (definition: JsonObject, input: JsonObject) => {
    const startedAt = performance.now();
    const response = await fetch(`${server.url}/workflows/run/sync`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ workflow: JSON.stringify(definition), input }),
    });
    const said = await response.text();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(response.status, said.slice(0, 300)).toBeLessThan(500);
    return said;
  };
  for (const { schema, value } of cases) {
    const steps = [{ id: "answer", prompt: "Say it." }];
    await run({ name: "in", input_schema: { properties: { x: schema } }, steps }, { x: value });
    await run({ name: "out", steps: [{ id: "answer", prompt: "Say it.", output_schema: schema }] }, {});
  }
  const fanned = await run(
    {
      name: "fan",
      input_schema: { properties: { x: FAN_OUT }, definitions: FAN_OUT.definitions },
      steps: [{ id: "answer", prompt: "?" }],
    },
    { x: nest(60) },
  );
  expect(fanned).toContain("SCHEMA_TOO_COSTLY");
  isOver = true;
  await asking;
  // A pattern that goes back never ends: the bound is for machines that do other things too.
  const sorted = delaysMs.sort((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length * 0.99)]).toBeLessThan(1_500);
  server.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
});
