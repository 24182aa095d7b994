import { expect, test } from "vitest";
import { timetablesOf } from "../../operations/schedules/defined-schedules.ts";
import { startsByOf } from "../../operations/schedules/saved-schedules.ts";
import { buildTriggerTable } from "../../operations/triggers/trigger-table.ts";
import { loadDefinition } from "../load-definition.ts";

const file = (triggers: string) =>
  `workflowId: w\nstartAt: a\ntriggers: ${triggers}\nsteps: {a: {type: mcp, target: t, end: true}}\n`;

const ALL = `[
  {type: http, name: read, config: {pathPattern: /orders, method: GET}},
  {type: http, config: {pathPattern: /orders, method: POST, auth: open}},
  {type: trigger, config: {triggerEvent: paid}},
  {type: cron, config: {schedule: "0 6 * * *"}},
  {type: cron, name: nightly, config: {schedule: "0 1 * * *", timezone: Europe/Berlin, input: {deep: true}, catchUp: all, overlap: cancelPrevious}}]`;

test("one file has several routes, an event and times, each with its own words", async () => {
  const { problems, graph } = await loadDefinition({ text: file(ALL) });
  expect(problems).toEqual([]);
  if (graph === undefined) throw new Error("It has no problem.");
  const target = { definition: { text: "", graph }, shownAs: "w.yaml", file: "/w.yaml" };
  const table = buildTriggerTable([target]);
  expect(table.problems).toEqual([]);
  expect(table.routes.list().map(({ method, target: { trigger } }) => [method, trigger.name, trigger.auth])).toEqual([
    ["GET", "read", undefined],
    ["POST", undefined, "open"],
  ]);
  expect([...table.events.keys()]).toEqual(["paid"]);
  expect(timetablesOf(graph)).toMatchObject([
    { cron: "0 6 * * *", timezone: "UTC", part: [] },
    {
      cron: "0 1 * * *",
      timezone: "Europe/Berlin",
      name: "nightly",
      part: ["nightly"],
      says: { input: { deep: true }, catchUp: "all", overlap: "cancel_previous" },
    },
  ]);
  expect(startsByOf(graph)).toBe("several");
});

test.each([
  ["[]", "is empty"],
  ["[{type: queue, config: {queueName: q}}, {type: queue, config: {queueName: q}}]", "have the same start: `queue q`"],
  [
    "[{type: queue, name: x, config: {queueName: q}}, {type: trigger, name: x, config: {triggerEvent: e}}]",
    "have the same name: `x`",
  ],
  ['[{type: cron, config: {schedule: "0 6 * * *", catchUp: some}}]', "`catchUp`"],
  [
    "[{type: http, config: {pathPattern: /x}}]\ntrigger: {type: http, config: {pathPattern: /x, method: post}}",
    "have the same start: `POST /x`",
  ],
  ["[{type: trigger, config: {triggerEvent: e}}]\ntrigger: {type: trigger, config: {triggerEvent: e}}", "`event e`"],
  ["[{type: queue, name: 1st, config: {queueName: q}}]", "`name`"],
])("what `triggers` cannot mean is said with its line: %s", async (triggers, said) => {
  const { problems } = await loadDefinition({ text: file(triggers) });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ severity: "error", place: { line: 3 } });
  expect(problems[0]?.message).toContain(said);
});

test("a queue and an event of one name are two starts", async () => {
  const { problems } = await loadDefinition({
    text: file("[{type: queue, config: {queueName: q}}, {type: trigger, config: {triggerEvent: q}}]"),
  });
  expect(problems).toEqual([]);
});
