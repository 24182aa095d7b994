import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { findTooLong } from "../tools/open-terminal.ts";

const most = "x".repeat(128 * 1024 - 1);

test("as much as a program can be given is not too long", () => {
  expect(findTooLong([most, most], { V: most.slice(2) })).toBeUndefined();
  expect(() => execFileSync("true", [most, most], { env: { ...process.env, V: most.slice(2) } })).not.toThrow();
});

test.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
  [
    "an argument",
    ["-c", `${most}x`],
    {},
    "An argument of the shell is too long: 131072 bytes, and 131071 are possible.",
  ],
  ["bytes that are more than letters", ["é".repeat(70_000)], {}, "An argument of the shell is too long: 140000 bytes,"],
  ["a variable", [], { V: most }, "The environment variable 'V' is too long: 131073 bytes, and 131071 are possible."],
  [
    "all together",
    Array.from({ length: 9 }, () => most),
    {},
    "The environment and the shell's arguments are too long:",
  ],
  ["very many", "x ".repeat(200_000).split(" "), {}, "The environment and the shell's arguments are too long:"],
])("%s may be too long", (_, args, environment, problem) => {
  expect(findTooLong(args, environment)?.slice(0, problem.length)).toBe(problem);
});
