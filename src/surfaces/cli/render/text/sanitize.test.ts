import { expect, test } from "vitest";
import { sanitize } from "./sanitize.ts";

test("escape sequences are gone, whatever they would do", () => {
  expect(sanitize("a\u001b[31mred\u001b[0m \u001b[2J\u001b]8;;http://evil\u0007link\u001b]8;;\u0007\u009b1A")).toBe(
    "ared link",
  );
});

test("text of several lines becomes one", () => {
  expect(sanitize(" one\r\n\ttwo\u2028three ")).toBe("one two three");
});

test("what moves the cursor or turns the reading direction is replaced", () => {
  expect(sanitize("a\bb\u0000c\u202ed\u2066e")).toBe("a\ufffdb\ufffdc\ufffdd\ufffde");
});

test("letters of any script stay", () => {
  expect(sanitize("Grüße 漢字 👩‍🚀 مرحبا")).toBe("Grüße 漢字 👩‍🚀 مرحبا");
});
