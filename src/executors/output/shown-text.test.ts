import { expect, test } from "vitest";
import { toShownText } from "./shown-text.ts";

for (const [what, text, shown] of [
  ["colours", "\u001b[1;31mred\u001b[0m and \u009b32mgreen", "red and green"],
  ["titles and links", "\u001b]0;title\u0007a\u001b]8;;https://x.example\u001b\\b\u001b]8;;\u001b\\", "ab"],
  ["a title without an end keeps what follows", "\u001b]0;all of it", "0;all of it"],
  ["other escapes", "\u001bca\u001b(Bb\u001b", "ab"],
  ["control characters", "a\u0000\u0008\u007f\tb\r\nc\rd\fe", "a\tb\nc\nd\ne"],
  ["zero-width characters", "pay\u200b\u200c\u200d\u2060\ufeff\u00adload", "payload"],
  ["bidi overrides", "\u202eabc\u2066def\u2069\u200f", "abcdef"],
  ["tags and variation selectors", "hi\u{e0001}\u{e0049}\u{e007f}\ufe0f\u{e0100}", "hi"],
  ["half a character", "a\ud800", "a\ufffd"],
  ["what people write", "Grüße, 你好, שלום, ٠١ \u0600, 🙂 é\u0301", "Grüße, 你好, שלום, ٠١ \u0600, 🙂 é\u0301"],
] as const) {
  test(`a text is shown without what acts or hides: ${what}`, () => expect(toShownText(text)).toBe(shown));
}

test("a text that is made to be slow is not", () => {
  const startedAt = performance.now();
  for (const part of ["\u001b]", "\u009d", "\u001b[", "\u001b[0 ", "\u001b ", "0 "])
    toShownText(`\u001b[${part.repeat(1_000_000)}`);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
