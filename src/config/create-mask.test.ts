import { expect, test } from "vitest";
import { createMask, createPieceMask } from "./create-mask.ts";

test("a secret is taken out as it stands, inside JSON and inside a URL", () => {
  const mask = createMask(['se"cret/1']);
  expect(mask('a se"cret/1 b')).toBe("a [redacted] b");
  expect(mask(JSON.stringify({ key: 'se"cret/1' }))).toBe('{"key":"[redacted]"}');
  const echoed = JSON.stringify({ answer: `You sent ${JSON.stringify({ key: 'se"cret/1' })}.` });
  const shown = JSON.stringify({ answer: 'You sent {"key":"[redacted]"}.' });
  expect(JSON.parse(mask(JSON.stringify([echoed])))).toEqual([shown]);
  expect(mask(`https://x.example/?k=${encodeURIComponent('se"cret/1')}`)).toBe("https://x.example/?k=[redacted]");
});

test("a secret is taken out as a workflow puts it into a regular expression or into text to type", () => {
  const mask = createMask(["s3-(cr)\\t"]);
  expect(mask(JSON.stringify({ pattern: "got s3\\-\\(cr\\)\\\\t." }))).toBe('{"pattern":"got [redacted]."}');
  expect(mask(JSON.stringify({ input_text: "echo s3-(cr)\\\\t" }))).toBe('{"input_text":"echo [redacted]"}');
});

test("a secret is taken out where the edge of a screen breaks it", () => {
  const mask = createMask(["a-long-token", 'quo"ted-one']);
  expect(mask("$ use a-lon\ng-token\n$")).toBe("$ use [redacted]\n$");
  expect(mask(JSON.stringify({ screen: 'x a-\nlong-token quo"\nted-one' }))).toBe(
    '{"screen":"x [redacted] [redacted]"}',
  );
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

test.each([
  ["whole", ["the secret-1 is"], "the [redacted] is"],
  ["cut once", ["the sec", "ret-1 is"], "the [redacted] is"],
  ["cut everywhere", [..."the secret-1 is"], "the [redacted] is"],
  ["only begun", ["a sec", "ond thought"], "a second thought"],
  ["at the end", ["the secr", "et-1"], "the [redacted]"],
  ["a longer one that contains it", ["secret-1", "-and-more."], "[redacted]."],
  ["two that overlap", ["xsecret-1", "9z"], "x[redacted]9z"],
])("a secret in pieces: %s", (_, pieces, shown) => {
  const mask = createPieceMask(["secret-1", "secret-1-and-more", "ret-1x99999"])();
  expect(pieces.map((piece) => mask.push(piece)).join("") + mask.end()).toBe(shown);
});

test("of a text in pieces only what may begin a secret is kept back", () => {
  const mask = createPieceMask(["secret-1"])();
  expect(["one ", "two s", "un"].map((piece) => mask.push(piece))).toEqual(["one ", "two ", "sun"]);
});
