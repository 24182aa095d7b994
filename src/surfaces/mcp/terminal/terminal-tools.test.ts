import { expect, test } from "vitest";
import { fitAnswer } from "../create-terminal-server.ts";

const entry = (text: string) => ({ state: "a", params: {}, result: { text }, variables_after: { text } });
const answer = (log: ReturnType<typeof entry>[], variables = {}) => ({
  success: true,
  run_id: "r1",
  execution_log: log,
  final_variables: variables,
});

test("an answer that clients can take is left as it is", () => {
  const small = answer([entry("x")]);
  expect(fitAnswer(small)).toBe(small);
});

test("a longer one loses the variables of its log first, then the log, and says where all of it is", () => {
  const long = fitAnswer(answer([entry("x".repeat(900_000)), entry("x".repeat(900_000))]));
  expect(long).toMatchObject({ execution_log: [{ variables_after: {}, result: {} }, {}], final_variables: {} });
  expect(long["execution_log_note"]).toContain("run://r1");
  expect(JSON.stringify(long).length).toBeLessThanOrEqual(2_000_000);
  const longer = fitAnswer(answer(Array.from({ length: 9 }, () => entry("x".repeat(900_000)))));
  expect(longer["execution_log"]).toEqual([{ state: "a", params: {}, result: {}, variables_after: {} }]);
  const longest = fitAnswer(answer([], { text: "x".repeat(3_000_000) }));
  expect(longest["final_variables"]).toEqual({});
});
