import { expect, test } from "vitest";
import { estimateTokens } from "../../../core/estimate-tokens.ts";
import { cutOutput } from "./cut-output.ts";

/** Numbers that look drawn, and are the same each time. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const PIECES = [
  "word ",
  "1234567",
  "\u001b[31m",
  "\u001b[2K\r",
  "日本",
  "😀",
  "\n",
  "\n\n",
  "\t",
  "{}[]();",
  "x".repeat(300),
  "\u001bc",
  "\b",
  "%",
];

test("no output is longer than its tokens, whatever it is made of, and what is left out is counted", () => {
  const draw = numbersFrom(7);
  for (let round = 0; round < 1_000; round += 1) {
    const pieces = Array.from({ length: draw(3_000) }, () =>
      draw(9) === 0 ? Buffer.from([draw(256), draw(256), draw(256)]) : Buffer.from(PIECES[draw(PIECES.length)] ?? ""),
    );
    const bytes = Buffer.concat(pieces);
    const most = 10 + draw(800);
    const { text, leftOut } = cutOutput({ offset: 5, head: bytes, tail: bytes, length: bytes.length }, most);
    expect(estimateTokens(text)).toBeLessThanOrEqual(most + 40);
    if (leftOut === undefined) continue;
    expect([leftOut.bytes > 0, leftOut.offset >= 5, leftOut.offset + leftOut.bytes <= bytes.length + 5]).toEqual([
      ...[true, true, true],
    ]);
  }
});
