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
