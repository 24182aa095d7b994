import { describe, expect, test } from "vitest";
import type { BuiltInPattern } from "../graph/policy.ts";
import { findBuiltIn } from "./find-in-text.ts";

const findIn = (kind: BuiltInPattern, text: string): readonly string[] =>
  findBuiltIn(kind, text).map(({ start, end }) => text.slice(start, end));

const LONG_KEY = `sk-ant-${"a1".repeat(300)}`;
const TOKEN = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(6_000)}.${"c".repeat(43)}`;
const PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----";

const CASES: readonly (readonly [BuiltInPattern, string, readonly string[]])[] = [
  ["email", "Write to ada.l+x@mail.example.co.uk, not to a@b or @c.", ["ada.l+x@mail.example.co.uk"]],
  ["email", "<jürgen@müller.de>-ada@example.com_x", ["jürgen@müller.de", "-ada@example.com"]],
  ["phone", "+49 (30) 1234-5678 or (030) 123 4567", ["+49 (30) 1234-5678", "(030) 123 4567"]],
  ["phone", "tel:+49301234567, 555-123-4567x89", ["+49301234567", "555-123-4567"]],
  ["phone", "01 23 45 67 89, 030 1234567, 07700 900123", ["01 23 45 67 89", "030 1234567", "07700 900123"]],
  ["phone", "2026-05-01 1712345678 3.14159 10.0.0.1 192.168.100.200 100.200.3000.4", []],
  ["card", "4111 1111 1111 1111, 5500-0000-0000-0004", ["4111 1111 1111 1111", "5500-0000-0000-0004"]],
  ["card", "order 12 4111 1111 1111 1111 99", ["4111 1111 1111 1111"]],
  ["card", "4111111111111111 378282246310005", ["4111111111111111 378282246310005".slice(0, 16), "378282246310005"]],
  ["card", "card_4111111111111111, 号4111111111111111号", ["4111111111111111", "4111111111111111"]],
  // A wrong digit, one digit only, places behind a point, and a time that passes for the check digit.
  ["card", "4111111111111112 0000000000000000 0.4111111111111111 1763804614006", []],
  ["secret", `key=${LONG_KEY}.`, [LONG_KEY]],
  [
    "secret",
    "AKIAIOSFODNN7EXAMPLE, task-force-of-the-whole-land, sk-learn-and-other-packages",
    ["AKIAIOSFODNN7EXAMPLE"],
  ],
  ["secret", `my_ghp_${"x".repeat(36)} ${TOKEN}`, [`ghp_${"x".repeat(36)}`, TOKEN]],
  ["secret", "Authorization: Bearer abc.def-ghi_jklmnop==", ["abc.def-ghi_jklmnop=="]],
  ["secret", `${PEM} and -----BEGIN PRIVATE KEY-----MIIcut off`, [PEM, "-----BEGIN PRIVATE KEY-----MIIcut off"]],
];

describe("a built-in pattern finds", () => {
  test.each(CASES)("%s in %s", (kind, text, expected) => {
    expect(findIn(kind, text)).toEqual(expected);
  });

  test.each<BuiltInPattern>(["email", "phone", "card", "secret"])("%s in texts made to be slow, and ends", (kind) => {
    for (const part of [
      "a",
      "1",
      "a@",
      "1 ",
      "a.",
      "+1-",
      "sk-",
      "eyJ-",
      "eyJaaaaaaaa.",
      "-----BEGIN PRIVATE KEY-----",
    ]) {
      expect(findBuiltIn(kind, part.repeat(1_000_000 / part.length))).toBeInstanceOf(Array);
    }
  });
});
