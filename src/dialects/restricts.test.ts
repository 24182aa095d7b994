import { expect, test } from "vitest";
import { loadDefinition } from "./load-definition.ts";
import { guides, restricts } from "./problem-list.ts";

test.each(["exclude_components", "maxCalls", "allowed_domains", "deny-tools", "tool_limit", "readOnly".toLowerCase()])(
  "%s forbids or limits something",
  (key) => expect(restricts(key)).toBe(true),
);

test.each(["retries", "maximal", "climax", "unlimited_note", "color", "permission"])("%s does not", (key) =>
  expect(restricts(key)).toBe(false),
);

test.each([
  "if",
  "condition",
  "retryOn",
  "onError",
  "on_failure",
  "concurrency",
  "compensate",
  "breakIf",
  "toleratedFailures",
  "debounce",
  "skip_if",
  "needs",
  "continue_on_error",
  "forEach",
  "runAfter",
  "cache",
  "onComplete",
])("%s says whether, when or how often something runs", (key) => expect(guides(key)).toBe(true));

test.each(["onboarding", "notify", "lifted", "waiting_message", "color", "owner", "on_call"])("%s does not", (key) =>
  expect(guides(key)).toBe(false),
);

const step = (key: string) => `name: s\nsteps:\n  - {id: a, prompt: hi, ${key}: [x]}\n`;
const AGENT = JSON.stringify({ agents: [{ name: "A", calls_max: 3 }], workflows: [{ name: "W", steps: ["A"] }] });
const UHLP = `workflowId: u\nstartAt: a\nlimits: {visits: 3}\nsteps: {a: {type: mcp, target: {tool: x}, end: true}}\n`;

const AGENT_IF = JSON.stringify({ agents: [{ name: "A", if: "x" }], workflows: [{ name: "W", steps: ["A"] }] });
const UHLP_IF = `workflowId: u\nstartAt: a\nsteps: {a: {type: mcp, target: {tool: x}, skip_if: "x", end: true}}\n`;

test.each([step("allowed_domains"), AGENT, UHLP, step("condition"), AGENT_IF, UHLP_IF])(
  "a key that is not known and restricts or guides is an error: %s",
  async (text) => {
    const found = await loadDefinition({ text });
    expect(found.problems).toMatchObject([{ code: "UNKNOWN_KEY", severity: "error" }]);
    const lenient = await loadDefinition({ text }, { isLenient: true });
    expect(lenient.problems).toMatchObject([{ code: "UNKNOWN_KEY", severity: "warning" }]);
  },
);

test("another one is a warning", async () => {
  expect((await loadDefinition({ text: step("colours") })).problems).toMatchObject([{ severity: "warning" }]);
});
