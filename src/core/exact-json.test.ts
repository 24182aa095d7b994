import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../../test/properties/rounds.ts";
import { parseExact, toCanonicalNumber, toWritable, writeExact } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { hasLongInteger, MAX_INTEGER_DIGITS, NumberTooLarge, unmark } from "./long-integers.ts";
import { writeMarked } from "./marked-json.ts";

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
});

test("JSON of this process is the engine's own", () => {
  expect(JSON.parse('{"id":9007199254740993}')).toEqual({ id: 2 ** 53 });
  expect(() => JSON.stringify(1n)).toThrow(TypeError);
});

test("a library writes bigints as they are, and those of fields are read again behind it", () => {
  const text =
    '{"id":9007199254740993,"given":{"id":9007199254740993,"__proto__":[-9007199254740993]},"name":"\ue00012"}';
  expect(JSON.stringify(toWritable(parseExact(text)))).toBe(text);
  const library: Json = JSON.parse(writeMarked(parseExact(text), new Set(["given"])));
  expect(writeExact(unmark(library))).toBe(text.replace("93", "92"));
});

test.each(["1e400", "[-1.5E+309]", `{"a":${"9".repeat(310)}.5}`, `${"1".repeat(250)}e99`])(
  "a number that no double holds is refused by name: %s",
  (text) => {
    const [number = ""] = /[\d.eE+]{5,}/.exec(text) ?? [];
    expect(() => parseExact(text)).toThrow(NumberTooLarge);
    expect(() => parseExact(text)).toThrow(`The number ${number.slice(0, 40)}`);
  },
);

test("texts and numbers that look large are none", () => {
  const text = '["1e400","\\"1e999",1e308,1e-400,0.0001e311]';
  expect(parseExact(text)).toEqual(["1e400", '"1e999', 1e308, 0, 1e307]);
});

test("an integer of too many digits is refused with its place", () => {
  const digits = "7".repeat(MAX_INTEGER_DIGITS + 1);
  expect(() => parseExact(`{"${digits}":["${digits}",${digits}]}`)).toThrow(
    new NumberTooLarge(`An integer of more than ${MAX_INTEGER_DIGITS} digits in JSON at position ${2 * 301 + 8}`),
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

/** Through the engine's own reviver. */
function readPlainly(text: string): Json {
  return parseExact(text, (_key, value) => value);
}

function truncate(value: Json): Json {
  if (typeof value === "number") return BigInt(Math.trunc(value));
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(truncate);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, truncate(each)]));
}

function attempt(read: (text: string) => Json, text: string): Json {
  try {
    return ["read", read(text)];
  } catch {
    // Of two faults either may be told.
    return ["refused"];
  }
}

test("both ways of reading say the same of any text, also of one that is no JSON", () => {
  const token = fc.oneof(
    fc.constantFrom(...'[]{},:-+.eE"\\ \n0'),
    fc.constantFrom(
      '"a":',
      '"\\""',
      "1e5",
      "0.",
      "-",
      "null",
      "[1,",
      '{"a":',
      "}",
      "]",
      "\u00a0",
      "1".repeat(301),
      "1e400",
    ),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.stringMatching(/^-?\d{15,20}$/),
  );
  const broken = fc.array(token, { maxLength: 12 }).map((parts) => parts.join(""));
  const whole = fc.jsonValue({ maxDepth: 4 }).map((value) => writeExact(truncate(value as Json)));
  const edited = fc.tuple(whole, fc.nat(), token).map(([text, at, inserted]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + inserted + text.slice(place);
  });
  fc.assert(
    fc.property(fc.oneof(broken, whole, edited), (text) => {
      expect(attempt(parseExact, text)).toEqual(attempt(readPlainly, text));
    }),
    { numRuns: rounds(3_000) },
  );
});

test("a text that has the mark of an integer in it stays one", () => {
  expect(parseExact('["\ue00012", "\\uE00012", 9007199254740993]')).toEqual([
    "\ue00012",
    "\ue00012",
    9007199254740993n,
  ]);
});
