import { passTurn } from "../../ports/turns.ts";
import type { Slice } from "../sql/list-queries.ts";

/** So many rows are looked at in a few milliseconds, whatever is asked of them; a million are as many slices as cost nothing. */
const ROWS = 4_000;

/** A range of numbers in slices, from either end. Others get their turn between two of them. */
export async function* inSlices({ first, last }: Slice, order: "ASC" | "DESC"): AsyncGenerator<Slice> {
  if (order === "ASC") {
    for (let next = first; next <= last; next += ROWS) {
      yield { first: next, last: Math.min(last, next + ROWS - 1) };
      await passTurn();
    }
    return;
  }
  for (let next = last; next >= first; next -= ROWS) {
    yield { first: Math.max(first, next - ROWS + 1), last: next };
    await passTurn();
  }
}
