import fc from "fast-check";
import { expect, test } from "vitest";
import { StreamMask } from "./stream-mask.ts";

const SECRETS = ["sesame-4711", "4711-secret", "sesame-4711-and-more"];
const ESC = "\u001b";

function masked(pieces: readonly string[], spellings: readonly string[] = SECRETS): string {
  const mask = new StreamMask({ spellings, mask: () => "***" });
  return pieces.map((piece) => mask.push(piece)).join("") + mask.end();
}

test.each<[string, readonly string[], string]>([
  ["in one piece", ["open sesame-4711!"], "open ***!"],
  ["in two pieces", ["open sesa", "me-4711!"], "open ***!"],
  ["letter by letter", [..."open sesame-4711!"], "open ***!"],
  ["twice", ["sesame-4711sesame-4711"], "******"],
  ["that is the beginning of a longer one", ["sesame-4711-and", "-more."], "***."],
  ["that overlaps with another", ["sesame-4711-secret."], "***."],
  ["that a shell breaks at its edge", ["sesame-4\r", "4711."], "***."],
  ["that a shell breaks with a blank", ["sesame- \r", "4711."], "***."],
  ["with colours in it", [`ses${ESC}[1;3`, `1mame${ESC}[0m-4711.`], `***${ESC}[1;31m${ESC}[0m.`],
])("takes out a secret %s", (_, pieces, expected) => {
  expect(masked(pieces)).toBe(expected);
});

test.each<[string, readonly string[]]>([
  ["what only begins like one", ["sesame-47", "12 ses"]],
  ["progress bars", ["10%\r", "20%\r", "30%\r\n"]],
  ["lines", ["a\r", "\nb\r\n"]],
])("leaves %s alone", (_, pieces) => {
  expect(masked(pieces)).toBe(pieces.join(""));
});

test("shows at once what cannot be part of a secret", () => {
  const mask = new StreamMask({ spellings: SECRETS, mask: () => "***" });
  expect(mask.push("hello ses")).toBe("hello ");
  expect(mask.push("sion")).toBe("session");
});

test("what comes out does not depend on the pieces", () => {
  const part = fc.constantFrom("sesame", "-4711", "-and-more", "-secret", "s", " ", "\r", "\r\n", `${ESC}[0m`, "x");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 4 }), (parts, cuts) => {
      const text = parts.join("");
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].sort((a, b) => a - b);
      const pieces = places.slice(1).map((to, index) => text.slice(places[index], to));
      expect(masked(pieces)).toBe(masked([text]));
    }),
  );
});
