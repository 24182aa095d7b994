import { expect, test } from "vitest";
import { loadDefinition } from "../load-definition.ts";

const compile = (wait: string, trigger = "") =>
  loadDefinition({
    text: `workflowId: test\n${trigger}startAt: a\nsteps:\n  a: { type: control, subtype: wait, ${wait}, end: true }\n`,
  });

test("a wait says by which fields it knows its event", async () => {
  const { graph, problems } = await compile(
    "event: paid, match: { order.id: trigger.payload.id, kind: \"'card'\" }, timeout: 2d",
  );
  expect(problems).toEqual([]);
  expect(graph?.flow.steps[0]).toMatchObject({
    wait: { for: "event", match: { "order.id": { op: "first" }, kind: { value: "card" } }, timeoutMs: 172_800_000 },
  });
});

test.each([
  ["event: paid, match: {}", "1 to 8 fields", 5],
  ["event: paid, match: { a..b: 1 }", "`a..b` is no path", 5],
  ["event: paid, match: { '0': 1 }", "`0` is no path", 5],
  ["event: trigger.payload.event, match: { id: 1 }", "cannot be computed", 5],
  ["duration: 5, match: { id: 1 }", "waits for none", 5],
  ["event: paid, match: { id: nowhere.id }", "nowhere", 5],
])("%s is refused", async (wait, message, line) => {
  const { problems } = await compile(wait);
  expect(problems.filter(({ severity }) => severity === "error")).toMatchObject([
    { message: expect.stringContaining(message), place: { line: line - 1 } },
  ]);
});

test("a workflow does not wait for the event that starts it", async () => {
  const trigger = "trigger: { type: trigger, config: { event: paid } }\n";
  const { problems } = await compile("event: paid, match: { id: 1 }", trigger);
  expect(problems).toMatchObject([{ code: "VALUE_INVALID", message: expect.stringContaining("starts a run") }]);
  expect((await compile("event: refunded, match: { id: 1 }", trigger)).problems).toEqual([]);
});

test("Sandcastle says it in its words", async () => {
  const text = (event: string) => `name: test
steps:
  - { id: a, type: wait, event: "${event}", match: { order_id: input.id, kind: card } }
`;
  const { graph, problems } = await loadDefinition({ text: text("paid") });
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(graph?.flow.steps[0]).toMatchObject({
    wait: { match: { order_id: { op: "path" }, kind: { value: "card" } } },
  });
  expect((await loadDefinition({ text: text("paid {input.id}") })).problems).toMatchObject([
    { code: "VALUE_INVALID", message: expect.stringContaining("written as it is") },
  ]);
});
