import { expect, test } from "vitest";
import { createMask } from "./create-mask.ts";

test("a secret is taken out as it stands, inside JSON and inside a URL", () => {
  const mask = createMask(['se"cret/1']);
  expect(mask('a se"cret/1 b')).toBe("a [redacted] b");
  expect(mask(JSON.stringify({ key: 'se"cret/1' }))).toBe('{"key":"[redacted]"}');
  expect(mask(`https://x.example/?k=${encodeURIComponent('se"cret/1')}`)).toBe("https://x.example/?k=[redacted]");
});

test("of two secrets of which one contains the other nothing is left behind", () => {
  expect(createMask(["secret", "secret-and-more"])("secret-and-more")).toBe("[redacted]");
});

test("too short secrets tear no words apart", () => {
  expect(createMask(["abc"])("abcdef")).toBe("abcdef");
});

test("without secrets a text comes back as it is", () => {
  expect(createMask([])("anything")).toBe("anything");
});
