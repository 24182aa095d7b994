import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { JsonObject } from "../../core/json.ts";
import { fitAnswer, isWithin } from "./fit-answer.ts";
import { tellWorkflow } from "./terminal/tell-changes.ts";

const TOKENS = 8_000;
const bounded = (answer: JsonObject) => fitAnswer(answer, { tokens: TOKENS, whereRest: "See run://r1." });

test("an answer within its bound is left as it is", () => {
  const small = { screen_content: "hello", items: [1, 2] };
  expect(bounded(small)).toBe(small);
});

test("a long text keeps its head and its tail, and the note counts what is missing and says where it is", () => {
  const text = Array.from({ length: 200_000 }, (_, index) => index + 1).join("\n");
  const { screen_content: shown, note, session_id } = bounded({ session_id: "s", screen_content: text });
  expect(session_id).toBe("s");
  expect(String(shown)).toMatch(/^1\n2\n3\n[\s\S]*characters left out[\s\S]*\n200000$/);
  expect(note).toMatch(/^Left out here: \d+ characters of texts\. See run:\/\/r1\.$/);
});

test("the room is used: what is left of a text is most of the bound", () => {
  expect(isWithin(bounded({ text: "some words ".repeat(100_000) }), TOKENS / 2)).toBe(false);
});

test("whatever an answer is like, it is within its bound", () => {
  const texts = fc.oneof(fc.string({ maxLength: 3_000 }), fc.string({ unit: "binary", maxLength: 3_000 }));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      texts.map((text) => text.repeat(20)),
      fc.integer(),
      fc.array(tie("tree"), { maxLength: 20 }),
      fc.dictionary(texts, tie("tree"), { maxKeys: 50 }),
    ),
  }));
  fc.assert(
    fc.property(fc.record({ run_id: fc.uuid(), outputs: tree }), (answer) => {
      const fitting = bounded(answer as JsonObject);
      expect(isWithin(fitting, TOKENS)).toBe(true);
    }),
    { numRuns: 25 },
  );
});

test.each([42, 1_000])("the log of %d states tells of each what is new, and is within its bound", (count) => {
  const screens = Array.from({ length: count }, (_, at) =>
    Array.from({ length: 30 }, (_, row) => `line ${at * 3 + row} of a program that puts out a lot`).join("\n"),
  );
  const variables: Record<string, string> = {};
  const execution_log = screens.map((screen_content, at) => {
    const result = { success: true, session_id: "session_1", screen_content, process_running: true, error: null };
    for (const [name, value] of Object.entries(result)) variables[`s${at}_${name}`] = String(value);
    const params = { session_id: "session_1", input_text: `next ${at}\n` };
    const entry = { state: `s${at}`, tool: "send_input", params, result, elapsed_time: 0.1, timestamp: "2026-01-01" };
    return { ...entry, variables_after: { ...variables, counted: String(at) } };
  });
  const told = tellWorkflow({ execution_log, final_variables: { ...variables, counted: "9" } });
  expect(told.final_variables).toEqual({ counted: "9" });
  expect(told.execution_log[1]).toEqual({
    state: "s1",
    tool: "send_input",
    params: { input_text: "next 1\n" },
    result: { success: true, screen_content: screens[1]?.split("\n").slice(-4).join("\n") },
    elapsed_time: 0.1,
    variables_after: { counted: "1" },
  });
  expect(isWithin(bounded(told as unknown as JsonObject), TOKENS)).toBe(true);
});

test.each([
  ["prose", "The quick brown fox jumps over the lazy dog. ".repeat(100), 1_000],
  ["digits", "1234567890".repeat(100), 334],
  ["Japanese", "日本語".repeat(100), 250],
])("%s counts as at least what a tokenizer makes of it", (_, text, least) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
});
