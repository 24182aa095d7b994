import fc from "fast-check";
import { expect, test } from "vitest";
import { guardFormula, parseCsv, toCsv, toFields } from "./csv-text.ts";

test("whatever is written is read again", () => {
  const field = fc.oneof(fc.string(), fc.constantFrom('"', ",", "\r\n", "\n", " x", "", 'a"b,"c'));
  const records = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  fc.assert(fc.property(records, (written) => void expect(parseCsv(toCsv(written))).toEqual(written)));
});

test("fields are quoted where RFC 4180 wants it, and nowhere else", () => {
  expect(toCsv([["a", 'say "hi"', "x,y", "two\nlines", ""]])).toBe('a,"say ""hi""","x,y","two\nlines",\r\n');
  expect(toCsv([[""]])).toBe('""\r\n');
});

test("files of other programs are read, broken ones are told from them", () => {
  expect(parseCsv("\ufeffa,b\n1,2")).toEqual([
    ["a", "b"],
    ["1", "2"],
  ]);
  expect(parseCsv("a,\n,\n")).toEqual([
    ["a", ""],
    ["", ""],
  ]);
  for (const text of ['a"b,c', '"open', '"a"b,c']) expect(() => parseCsv(text)).toThrow();
});

test("values become text: nothing for null, JSON for lists and objects", () => {
  const row = { a: null, b: true, c: 1.5, d: ["x", { y: 1 }], e: "text", __proto__: null };
  expect(toFields(row, ["a", "b", "c", "d", "e", "toString"], false)).toEqual([
    "",
    "true",
    "1.5",
    '["x",{"y":1}]',
    "text",
    "",
  ]);
});

test("a text that a spreadsheet would run is shown instead; numbers stay numbers", () => {
  for (const text of ["=1+1", "@SUM(A1)", "+cmd|'/C calc'!A0", "-2+3+cmd", "\t=1", " =1", "\uff1d1", "-"]) {
    expect(guardFormula(text)).toBe(`'${text}`);
  }
  for (const text of ["-5", "+49 170 1234", "-1,234.5", "a=b", "", "plain"]) expect(guardFormula(text)).toBe(text);
  expect(toFields({ a: -5, b: "=1" }, ["a", "b"], false)).toEqual(["-5", "'=1"]);
  expect(toFields({ b: "=1" }, ["b"], true)).toEqual(["=1"]);
});
