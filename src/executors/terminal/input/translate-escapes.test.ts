import { expect, test } from "vitest";
import { translateEscapes } from "../tools/send-input.ts";

test.each([
  ["ls\\n", "ls\n"],
  ["a\\r\\t\\e", "a\r\t\u001b"],
  ["\\x03\\x1b[A", "\u0003\u001b[A"],
  ["\\u001b\\u00e9\\u{1F600}", "\u001bé😀"],
  ["\\0 \\07 \\033[A", "\0 \u0007 \u001b[A"],
  ["\\\\n \\\\x03", "\\n \\x03"],
  ["\\d+\\.\\b\\$HOME\\'", "\\d+\\.\\b\\$HOME\\'"],
  ["\\xZZ \\u12 \\u{110000}", "\\xZZ \\u12 \\u{110000}"],
  ["real\ncontrol\u0003", "real\ncontrol\u0003"],
  ["ends with \\", "ends with \\"],
])("%j is sent as %j", (written, sent) => {
  expect(translateEscapes(written)).toBe(sent);
});
