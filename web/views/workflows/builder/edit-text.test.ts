import { expect, test } from "vitest";
import { appendTo, readDefinition, removeAt, setAt } from "./edit-text.ts";

const YAML = `# About it.
name: flow   # its name
steps:
  # The first.
  - id: a
    prompt: |
      Two
      lines.
    depends_on: []   # nothing

  - id: b # the second
    depends_on:
      - a
    prompt: 'quoted'
# The end.
`;

test("a value is replaced, and every other letter stays", () => {
  const text = setAt(YAML, ["steps", 1, "prompt"], "Say: hello\nand more");
  expect(text).toBe(YAML.replace("prompt: 'quoted'", "prompt: |-\n      Say: hello\n      and more"));
});

test("a block of text becomes one line without losing the field below it", () => {
  const text = setAt(YAML, ["steps", 0, "prompt"], "One line.");
  expect(text).toBe(YAML.replace("prompt: |\n      Two\n      lines.\n", "prompt: One line.\n"));
});

test("a list of words takes the place of one in lines", () => {
  expect(setAt(YAML, ["steps", 1, "depends_on"], ["a", "c"])).toContain("    depends_on: [a, c]\n    prompt: 'quoted'");
});

test("a field is added below the last one, and an object where there was none", () => {
  expect(setAt(YAML, ["steps", 1, "max_turns"], 3)).toContain("    prompt: 'quoted'\n    max_turns: 3\n# The end.");
  const text = setAt(YAML, ["steps", 1, "retry", "max_attempts"], 2);
  expect(text).toContain("    prompt: 'quoted'\n    retry:\n      max_attempts: 2\n# The end.");
});

test("a step is added below the last one", () => {
  const text = appendTo(YAML, ["steps"], { id: "c", prompt: "More.", depends_on: ["b"] });
  expect(text).toContain("    prompt: 'quoted'\n\n  - id: c\n    prompt: More.\n    depends_on: [b]\n# The end.");
  expect(readDefinition(text)).toMatchObject({ steps: [{ id: "a" }, { id: "b" }, { id: "c" }] });
});

test("a field and a step are removed with their lines", () => {
  expect(removeAt(YAML, ["steps", 0, "prompt"])).toBe(YAML.replace("    prompt: |\n      Two\n      lines.\n", ""));
  expect(readDefinition(removeAt(YAML, ["steps", 0]))).toMatchObject({ steps: [{ id: "b" }] });
  expect(removeAt(YAML, ["steps", 1])).toContain("depends_on: []   # nothing\n");
});

const JSON_TEXT = `{
  "name": "x",
  "states": {
    "open": { "action": { "tool": "open_terminal", "params": {} }, "transitions": [] },
    "close": {
      "action": { "tool": "exit_terminal", "params": {} }
    }
  }
}
`;

test("JSON stays as it is written around what is changed", () => {
  expect(setAt(JSON_TEXT, ["states", "open", "action", "tool"], "send_input")).toBe(
    JSON_TEXT.replace('"open_terminal"', '"send_input"'),
  );
  const text = setAt(JSON_TEXT, ["states", "wait"], { action: { tool: "await_output", params: {} } });
  expect(text).toContain('    },\n    "wait": {\n      "action": {');
  expect(JSON.parse(text)).toMatchObject({ states: { open: {}, close: {}, wait: { action: {} } } });
  expect(JSON.parse(removeAt(text, ["states", "wait"]))).toEqual(JSON.parse(JSON_TEXT));
  expect(JSON.parse(removeAt(text, ["states", "open"]))).toMatchObject({ states: { close: {}, wait: {} } });
  expect(JSON.parse(appendTo(JSON_TEXT, ["states", "open", "transitions"], { next_state: "close" }))).toMatchObject({
    states: { open: { transitions: [{ next_state: "close" }] } },
  });
  expect(JSON.parse(setAt(JSON_TEXT, ["states", "open", "action", "params", "a"], 1))).toMatchObject({
    states: { open: { action: { params: { a: 1 } } } },
  });
});
