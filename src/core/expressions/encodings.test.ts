import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromBase64, isBase64, sha256, toBase64, uuidOf } from "./encodings.ts";

const texts = fc.string({ unit: "binary", maxLength: 300 });

test("texts are hashed and encoded as Node does it", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(sha256(text)).toBe(createHash("sha256").update(text).digest("hex"));
      expect(toBase64(text)).toBe(Buffer.from(text).toString("base64"));
      expect(fromBase64(toBase64(text))).toBe(text.toWellFormed());
      expect(fromBase64(Buffer.from(text).toString("base64url"))).toBe(text.toWellFormed());
    }),
  );
  for (const length of [55, 56, 63, 64, 65, 119, 120, 1_000_000])
    expect(sha256("a".repeat(length))).toBe(createHash("sha256").update("a".repeat(length)).digest("hex"));
});

test("what is no base64 of a text is nothing", () => {
  for (const text of ["a", "a b=", "é", "/w==", "gA"]) expect(fromBase64(text)).toBeUndefined();
});

test("a UUID follows from its seed", () => {
  expect(uuidOf("a")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidOf("a")).toBe(uuidOf("a"));
  expect(uuidOf("a")).not.toBe(uuidOf("b"));
});

test.each([
  ["", true],
  ["QQ==", true],
  ["QQ", true],
  ["QUI=", true],
  ["QUJD", true],
  ["Q", false],
  ["QQ=", false],
  ["Q===", false],
  ["Q=Q=", false],
  ["====", false],
  ["QU I", false],
  ["QU-_", false],
])("%j is Base64: %s", (text, is) => expect(isBase64(text)).toBe(is));

test("a text of any length is judged, and takes a moment", () => {
  const long = "QUJD".repeat(4_000_000);
  expect([isBase64(long), isBase64(`${long}!`)]).toEqual([true, false]);
  // A pattern would look from each of them to the last.
  expect(fromBase64(`${"=".repeat(1_000_000)}!`)).toBeUndefined();
});
