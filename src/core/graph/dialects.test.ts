import { expect, test } from "vitest";
import { ERRORS } from "../errors/error-table.ts";
import { remedyOf } from "./dialects.ts";

test.each([
  ["sandcastle", "LIST_MISSING", "Check the path in `parallel_over`."],
  ["uhlp", "LIST_MISSING", "Check the path in `list`."],
  ["uhlp", "MAX_VISITS", "Look for a loop that does not end, or raise `maxSteps`."],
  ["terminal", "MAX_VISITS", "Look for a loop that does not end, or raise `max_states`."],
  ["agents", "AGENT_TURNS_EXHAUSTED", "Raise `max_iterations`, or ask for less."],
] as const)("a remedy names the keys of its own dialect: %s, %s", (dialect, code, remedy) =>
  expect(remedyOf(code, dialect)).toBe(remedy),
);

test.each(["uhlp", "direct", "of a later version"])("others are those of the error table: %s", (dialect) =>
  expect(remedyOf("STEP_FAILED", dialect)).toBe(ERRORS.STEP_FAILED.remedy),
);
