import fc from "fast-check";
import { expect, test } from "vitest";
import {
  hasLongInteger,
  IntegerTooLong,
  MAX_INTEGER_DIGITS,
  parseExact,
  toCanonicalNumber,
  writeExact,
} from "./exact-json.ts";

test("a whole number that a double cannot hold is a bigint, and every other number is none", () => {
  const text = '[9007199254740991,9007199254740992,-9007199254740993,1e20,0.30000000000000004,-0,"9007199254740993"]';
  expect(parseExact(text)).toEqual([
    9007199254740991,
    9007199254740992n,
    -9007199254740993n,
    1e20,
    0.1 + 0.2,
    -0,
    "9007199254740993",
  ]);
});

test("what is written is what was read", () => {
  const text = '{"a":[18446744073709551616,{"__proto__":-9223372036854775808}],"b":"x"}';
  expect(writeExact(parseExact(text))).toBe(text);
  expect(JSON.stringify(JSON.parse(text))).toBe(text);
});

test("JSON of this process is exact, with a reviver and in a response too", async () => {
  const text = '{"id":9007199254740993}';
  expect(JSON.parse(text)).toEqual({ id: 9007199254740993n });
  expect(JSON.parse(text, (key, value: unknown) => (key === "id" ? String(value) : value))).toEqual({
    id: "9007199254740993",
  });
  expect(await new Response(text).json()).toEqual({ id: 9007199254740993n });
  expect(await Response.json({ id: 9007199254740993n }).text()).toBe(text);
});

test("an integer of too many digits is refused with its place", () => {
  const digits = "7".repeat(MAX_INTEGER_DIGITS + 1);
  expect(() => parseExact(`{"${digits}":["${digits}",${digits}]}`)).toThrow(
    new IntegerTooLong(`An integer of more than ${MAX_INTEGER_DIGITS} digits in JSON at position ${2 * 301 + 8}`),
  );
  expect(parseExact(digits.slice(1))).toBe(BigInt(digits.slice(1)));
});

test("a long integer is found wherever it stands", () => {
  const parts = fc.array(fc.oneof(fc.constantFrom(" ", ",", ".", "e", "-", "x"), fc.stringMatching(/^\d{1,20}$/)));
  fc.assert(
    fc.property(parts, (written) => {
      const text = written.join("");
      expect(hasLongInteger(text)).toBe(/(?:^|[[,:\s-])\d{16,}(?=[,\]}\s]|$)/.test(text));
    }),
  );
});

test("a number has one form", () => {
  expect([2n ** 53n, 2n ** 53n - 1n, 2 ** 53, 1e20, 1e21, 1.5].map(toCanonicalNumber)).toEqual([
    2n ** 53n,
    2 ** 53 - 1,
    2n ** 53n,
    10n ** 20n,
    1e21,
    1.5,
  ]);
});
