import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAgentScript } from "./agent-script.ts";

const table: readonly (readonly [string, string, string])[] = [
  ["an unknown key", "steps:\n  a: {replies: [1]}", "2:16 `replies` means nothing here"],
  ["an unknown key at the top", "delay: 5", "1:8 `delay` means nothing here"],
  [
    "two acts at once",
    "steps:\n  a:\n    - reply: x\n      fail: AGENT_FAILED",
    "3:7 Only one of `reply`, `fail` can happen.",
  ],
  ["a code that is none", "steps: {a: {fail: oh no}}", "1:19 `fail` is an error code"],
  ["a negative delay", "steps:\n  a:\n    reply: x\n    delay_ms: -1", "4:15 `delay_ms` is a number, 0 or more."],
  ["a wrong effect", "steps: {a: {fail: X, effect: some}}", "1:30 `effect` is none, unknown or done."],
  ["an entry that is no map", "steps:\n  a: hello", "2:6 An entry is a map"],
  ["steps that are no map", "steps: [1]", "1:8 `steps` is a map"],
  ["an empty list", "steps: {a: []}", "1:12 An empty list says nothing"],
  ["items that are no list", "steps: {a: {items: 1}}", "1:20 `items` is a list"],
  ["a script that is no map", "- 1", "1:1 A script is a map"],
  ["bad YAML", "steps:\n  a: {reply: [}", "2:15"],
  ["the same step twice", "steps:\n  a: {reply: 1}\n  a: {reply: 2}", "3:3 Map keys must be unique"],
];
for (const [name, text, expected] of table) {
  test(`${name} is shown with its place`, () => {
    const parsed = parseAgentScript(text, "agents.yaml");
    const shown = parsed.ok
      ? []
      : parsed.problems.map(({ place, message }) => `${place?.line}:${place?.column} ${message}`);
    expect(shown[0]).toContain(expected);
  });
}

test("every problem is reported at once", () => {
  const parsed = parseAgentScript("steps: {a: {fail: 1}, b: 2, c: {turns: x}}");
  expect(parsed.ok ? [] : parsed.problems.map((problem) => problem.code)).toEqual([
    "SCRIPT_INVALID",
    "SCRIPT_INVALID",
    "SCRIPT_INVALID",
  ]);
});

test("aliases that expand to too much are refused", () => {
  const levels = Array.from(
    { length: 12 },
    (_, n) => `  s${n + 1}: {reply: &a${n + 1} [${Array.from({ length: 9 }, () => `*a${n}`).join(", ")}]}`,
  );
  const parsed = parseAgentScript(`steps:\n  s0: {reply: &a0 [x]}\n${levels.join("\n")}`);
  expect(parsed.ok ? [] : parsed.problems[0]?.message).toBe("Aliases expand to too much.");
});

test("the examples of the documentation are scripts", () => {
  const text = readFileSync(new URL("../../../../docs/simulated-agents.md", import.meta.url), "utf8");
  const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => parseAgentScript(match[1] ?? ""));
  expect(examples.length).toBeGreaterThan(2);
  expect(examples.filter((parsed) => !parsed.ok)).toEqual([]);
});

test("an empty script is a script", () => {
  expect(parseAgentScript("{}")).toMatchObject({ ok: true });
});
