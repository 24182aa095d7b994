import { expect, test } from "vitest";
import { loadDefinition } from "./load-definition.ts";

const uhlp = (concurrency: string) =>
  `workflowId: w\nstartAt: a\nconcurrency: ${concurrency}\nsteps: {a: {type: mcp, target: t, end: true}}\n`;
const sandcastle = (concurrency: string) => `name: w\nconcurrency: ${concurrency}\nsteps: [{id: a, prompt: hi}]\n`;

test.each([
  [
    uhlp("{key: trigger.payload.customer, limit: 2, whenFull: cancelOlder, scope: app}"),
    {
      limit: 2,
      whenFull: "cancelOlder",
      scope: "app",
      key: { op: "first" },
    },
  ],
  [uhlp("{}"), { limit: 1, whenFull: "queue" }],
  [
    sandcastle('{key: "{input.customer}", when_full: cancel_older, scope: app}'),
    { limit: 1, whenFull: "cancelOlder", scope: "app", key: { root: "input", path: ["customer"] } },
  ],
])("`concurrency` says how many runs of a key go on at once: %s", async (text, concurrency) => {
  const { problems, graph } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  expect(graph?.concurrency).toMatchObject(concurrency);
});

test.each([
  [uhlp("{key: steps.a.output.x}"), "STEP_UNKNOWN", 3],
  [uhlp("{key: run.id}"), "EXPRESSION_INVALID", 3],
  [uhlp("{key: trigger.payload.a, onConflict: queue}"), "`whenFull`: `queue`, `cancelOlder` or `skip`", 3],
  [uhlp("{limit: 0}"), "VALUE_INVALID", 3],
  [sandcastle('{key: "{steps.a.output}"}'), "EXPRESSION_INVALID", 2],
  [sandcastle("{overlap: skip}"), "`when_full`: `queue`, `cancel_older` or `skip`", 2],
  [sandcastle("{when_full: drop}"), "VALUE_INVALID", 2],
])("what `concurrency` cannot mean is said with its line: %s", async (text, said, line) => {
  const { problems } = await loadDefinition({ text });
  expect(problems).toHaveLength(1);
  expect(JSON.stringify(problems[0])).toContain(said);
  expect(problems[0]?.place?.line).toBe(line);
});

const uhlpRate = (rate: string) =>
  `workflowId: w\nstartAt: a\nrate: ${rate}\nsteps: {a: {type: mcp, target: t, end: true}}\n`;
const sandcastleRate = (rate: string) => `name: w\nrate: ${rate}\nsteps: [{id: a, prompt: hi}]\n`;

test.each([
  [
    uhlpRate("{key: trigger.payload.customer, limit: 5, per: 1m, whenFull: skip, scope: app}"),
    { limit: 5, perMs: 60_000, whenFull: "skip", scope: "app", key: { op: "first" } },
  ],
  [uhlpRate("{limit: 1, per: 0.5}"), { limit: 1, perMs: 500, whenFull: "queue" }],
  [
    sandcastleRate('{key: "{input.customer}", limit: 5, per: 2h, scope: app}'),
    { limit: 5, perMs: 7_200_000, whenFull: "queue", scope: "app", key: { root: "input", path: ["customer"] } },
  ],
])("`rate` says how many runs of a key begin within a time: %s", async (text, rate) => {
  const { problems, graph } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  expect(graph?.rate).toMatchObject(rate);
});

test.each([
  [uhlpRate("{key: run.id, limit: 1, per: 1m}"), "EXPRESSION_INVALID", 3],
  [uhlpRate("{limit: 1}"), "per", 3],
  [uhlpRate("{per: 1m}"), "limit", 3],
  [uhlpRate("{limit: 1001, per: 1m}"), "VALUE_INVALID", 3],
  [uhlpRate("{limit: 1, per: 0}"), "VALUE_INVALID", 3],
  [uhlpRate("{limit: 1, per: 1m, whenFull: cancelOlder}"), "VALUE_INVALID", 3],
  [uhlpRate("{limit: 1, per: 1m, period: 1m}"), "Write `per`, such as `1m`.", 3],
  [sandcastleRate('{key: "{steps.a.output}", limit: 1, per: 1m}'), "The `key` of `rate` reads something other", 2],
  [sandcastleRate("{limit: 1, per: 1m, policy: skip}"), "`when_full`: `queue` or `skip`", 2],
  [sandcastleRate("{limit: 1, window: 60}"), "Write `per`, such as `1m`.", 2],
  [sandcastleRate("{limit: 1, per: 0s}"), "VALUE_INVALID", 2],
])("what `rate` cannot mean is said with its line: %s", async (text, said, line) => {
  const { problems } = await loadDefinition({ text });
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems)).toContain(said);
  expect(problems[0]?.place?.line).toBe(line);
});

const uhlpDebounce = (debounce: string) => uhlp(debounce).replace("concurrency:", "debounce:");
const sandcastleDebounce = (debounce: string) => sandcastle(debounce).replace("concurrency:", "debounce:");

test.each([
  [uhlpDebounce("{key: trigger.payload.customer, wait: 10s, scope: app}"), { key: { op: "first" }, scope: "app" }],
  [sandcastleDebounce('{key: "{input.customer}", wait: 10}'), { key: { root: "input", path: ["customer"] } }],
])("`debounce` says how long a run waits for a newer one: %s", async (text, shared) => {
  const { problems, graph } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  expect(graph?.concurrency).toMatchObject({ limit: 1, whenFull: "cancelOlder", waitMs: 10_000, ...shared });
});

test.each([
  [uhlpDebounce("{}"), "wait"],
  [uhlpDebounce("{delay: 10s}"), "Write `wait`, such as `1m`."],
  [uhlpDebounce("{wait: 10s}\nconcurrency: {}"), "not both"],
  [uhlpDebounce("{wait: 10s, key: steps.a.output.x}"), "STEP_UNKNOWN"],
  [sandcastleDebounce("{wait: 10s}\nconcurrency: {}"), "not both"],
  [sandcastleDebounce('{wait: 10s, key: "{steps.a.output}"}'), "The `key` of `debounce` reads something other"],
])("what `debounce` cannot mean is said: %s", async (text, said) => {
  expect(JSON.stringify((await loadDefinition({ text })).problems)).toContain(said);
});
