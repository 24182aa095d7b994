import { createHash } from "node:crypto";

/** A stream of numbers that looks random and depends on nothing but its seed. */
export interface Random {
  /** 0 (included) to 1 (excluded). */
  next(): number;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

const TWO_TO_32 = 2 ** 32;

/** xorshift128, seeded by the hash of the text. */
export function createRandom(seed: string): Random {
  const hash = createHash("sha256").update(seed).digest();
  let [a, b, c, d] = [hash.readUInt32LE(0), hash.readUInt32LE(4), hash.readUInt32LE(8), hash.readUInt32LE(12) | 1];

  const next = () => {
    const mixed = d ^ (d << 11);
    [d, c, b] = [c, b, a];
    a = (a ^ (a >>> 19) ^ mixed ^ (mixed >>> 8)) >>> 0;
    return a / TWO_TO_32;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return { next, int, pick: (items) => items[int(0, items.length - 1)] ?? items[0] };
}
