import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { PawlError } from "../../core/errors/pawl-error.ts";
import { readAgentScript } from "./agent-script.ts";

const table: readonly (readonly [string, string, string])[] = [
  ["an unknown key", "steps:\n  a: {replies: [1]}", "2:7 `replies` means nothing in an entry. "],
  ["an unknown key at the top", "delay: 5", "1:1 `delay` means nothing here."],
  [
    "two acts at once",
    "steps:\n  a:\n    - reply: x\n      fail: AGENT_FAILED",
    "3:7 Only one of `reply`, `fail` can happen.",
  ],
  ["a code that is none", "steps: {a: {fail: oh no}}", "1:19 `fail` cannot be `oh no`. Write it like `AGENT_FAILED`."],
  [
    "a negative delay",
    "steps:\n  a:\n    reply: x\n    delay_ms: -1",
    "4:15 `delay_ms` must be a number of 0 or more.",
  ],
  ["a wrong effect", "steps: {a: {fail: X, effect: some}}", "1:30 `effect` cannot be `some`; it is one of none,"],
  ["an entry that is no map", "steps:\n  a: hello", "2:6 An entry must be a map, for example"],
  ["a step without an entry", "steps:\n  a:", "2:5 An entry has no value."],
  ["steps that are no map", "steps: [1]", "1:8 `steps` must be a map, not a list."],
  ["an empty list", "steps: {a: []}", "1:12 An empty list says nothing."],
  ["items that are no list", "steps: {a: {items: 1}}", "1:20 `items` must be a list, not a number."],
  ["a call that is none", "steps: {a: {call: [forecast]}}", "1:20 A call must be a map such as"],
  ["a script that is no map", "- 1", "1:1 The script must be a map, not a list."],
  ["bad YAML", "steps:\n  a: {reply: [}", "2:15"],
  ["the same step twice", "steps:\n  a: {reply: 1}\n  a: {reply: 2}", "3:3 "],
];
for (const [name, text, expected] of table) {
  test(`${name} is shown with its place`, async () => {
    const { code, message } = await readAgentScript(text, "agents.yaml").then(
      () => ({ code: "read", message: "" }),
      (error: PawlError) => error,
    );
    expect(message).toContain(`agents.yaml:${expected}`);
    expect(code).toBe("SCRIPT_INVALID");
  });
}

test("every problem is reported at once", async () => {
  await expect(readAgentScript("steps: {a: {fail: 1}, b: 2, c: {turns: x}}", "s.yaml")).rejects.toMatchObject({
    details: [
      expect.stringContaining("`fail`"),
      expect.stringContaining("An entry"),
      expect.stringContaining("`turns`"),
    ],
  });
});

test("aliases that expand to too much are refused", async () => {
  const levels = Array.from(
    { length: 12 },
    (_, n) => `  s${n + 1}: {reply: &a${n + 1} [${Array.from({ length: 9 }, () => `*a${n}`).join(", ")}]}`,
  );
  const script = readAgentScript(`steps:\n  s0: {reply: &a0 [x]}\n${levels.join("\n")}`, "s.yaml");
  await expect(script).rejects.toThrow(/alias/i);
});

test("nothing is an answer, and an unknown cost is none", async () => {
  const { steps } = await readAgentScript("steps: {a: {reply: null}, b: {cost_usd: null}, __proto__: {turns: 2}}", "s");
  expect([...steps]).toMatchObject([
    ["a", { attempts: [{ reply: null }] }],
    ["b", { attempts: [{ cost_usd: null }] }],
    ["__proto__", { attempts: [{ turns: 2 }] }],
  ]);
});

test("the examples of the documentation are scripts", async () => {
  const text = readFileSync(new URL("../../../docs/simulated-agents.md", import.meta.url), "utf8");
  const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
  expect(examples.length).toBeGreaterThan(2);
  for (const example of examples) await expect(readAgentScript(example, "s.yaml")).resolves.toBeDefined();
});

test("an empty script is a script", async () => {
  for (const text of ["{}", "", "# nothing yet\n"])
    expect(await readAgentScript(text, "s.yaml")).toMatchObject({ steps: new Map() });
});
