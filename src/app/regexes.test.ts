import { describe, expect, test } from "vitest";
import { MAX_WORK } from "../core/expressions/expr.ts";
import { Regexes } from "./regexes.ts";

const matches = (text: string, pattern: string) => new Regexes().matches(text, pattern, NO_LIMIT);
const NO_LIMIT = () => undefined;

describe("a regular expression", () => {
  test.each([
    ["order-17", "[0-9]+", true],
    ["order-17", "^[0-9]+$", false],
    ["a\nb", "(?m)^b$", true],
    ["GROSS", "(?i)gross", true],
    ["größe", "^\\p{L}+$", true],
    ["", "", true],
    ["a", "", true],
  ])("in %j: %j is %j", (text, pattern, isFound) => {
    expect(matches(text, pattern)).toBe(isFound);
  });

  test.each(["[", "(?=a)", "\\1", "a{1001}", "(", "\ud800[", "a".repeat(1_001), "[a-z]{1000}".repeat(20)])(
    "that cannot be used matches nothing: %j",
    (pattern) => {
      expect(matches("aaaa", pattern)).toBe(false);
    },
  );

  test("that would take a backtracking engine for ever does not", () => {
    expect(matches("a".repeat(100_000), "^(a+)+$|b")).toBe(true);
    expect(matches(`${"a".repeat(100_000)}!`, "^(a|aa)+$")).toBe(false);
    expect(matches("x".repeat(50_000), "(x+x+)+y")).toBe(false);
  });

  test("is not tried where text and pattern are too much together", () => {
    const pay = (looks: number) => {
      if (looks > MAX_WORK) throw new Error("too costly");
    };
    const tried = (text: string, pattern: string) => new Regexes().matches(text, pattern, pay);
    expect(() => tried("a".repeat(16 * 1024 * 1024), "(?:a?){900}")).toThrow("too costly");
    // Short as it is written, and long as a program.
    expect(() => tried("a".repeat(1024 * 1024), "a{1000}")).toThrow("too costly");
    expect(tried("a".repeat(4 * 1024 * 1024), "a$")).toBe(true);
  });
});

test("hundreds of patterns in turn are all answered", () => {
  const regexes = new Regexes();
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 300; n += 1) expect(regexes.matches(`id-${n}`, `^id-${n}$`, NO_LIMIT)).toBe(true);
  }
});
