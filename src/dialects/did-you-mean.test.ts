import { expect, test } from "vitest";
import { didYouMean } from "./did-you-mean.ts";

const keys = ["depends_on", "prompt", "model", "max_turns", "retry", "type"];

const meant = {
  dependson: "depends_on",
  depends: "depends_on",
  promt: "prompt",
  Model: "model",
  max_turn: "max_turns",
  tpye: "type",
  moedl: "model",
};
for (const [word, key] of Object.entries(meant)) {
  test(`\`${word}\` means \`${key}\``, () => {
    expect(didYouMean(word, keys)).toBe(key);
  });
}

for (const word of ["colour", "x", "", "p".repeat(10_000)]) {
  test(`\`${word.slice(0, 20)}\` means nothing`, () => {
    expect(didYouMean(word, keys)).toBeUndefined();
  });
}
