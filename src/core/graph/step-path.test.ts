import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeId, parseStepPath, stepPath, unescapeId } from "./step-path.ts";

test.each([
  ["score", 0, -1, "score"],
  ["scrape", 0, 3, "scrape[3]"],
  ["poll", 7, -1, "poll#7"],
  ["poll", 2, 3, "poll#2[3]"],
  ["a/b", 0, -1, "a%2Fb"],
  ["with space", 0, -1, "with%20space"],
  ["Größe", 0, -1, "Größe"],
  ["x~catch", 0, -1, "x%7Ecatch"],
])("%s, visit %i, item %i is %s", (id, visit, item, path) => {
  expect(stepPath("", escapeId(id), visit, item)).toBe(path);
  expect(stepPath("batch[2]", escapeId(id), visit, item)).toBe(`batch[2]/${path}`);
});

test("any id comes back from its path, whatever it contains", () => {
  const wellFormed = fc.string({ unit: "binary", minLength: 1 });
  fc.assert(
    fc.property(wellFormed, fc.nat(9), fc.nat(9), (id, visit, item) => {
      const path = stepPath("outer#2[1]", escapeId(id), visit, item);
      expect(path.split("/")).toHaveLength(2);
      expect(parseStepPath(path)).toEqual({ stepId: id, item });
    }),
  );
});

test("half a character does not break a path", () => {
  expect(unescapeId(escapeId("\ud800"))).toBe("\ufffd");
});
