import { Random } from "../simulation/random.ts";

const EDGES = [
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 64n - 1n,
  10n ** 20n,
  0n,
];

/** JSON of so many integers of 64 bits, with a sign and without, as another program would write them. */
export function randomIntegers(seed: number, count: number): string {
  const random = new Random(seed);
  const drawn = Array.from({ length: count - EDGES.length }, () => {
    const bits = (BigInt(random.int(0, 2 ** 32 - 1)) << 32n) | BigInt(random.int(0, 2 ** 32 - 1));
    return random.chance(0.5) ? bits : BigInt.asIntN(64, bits);
  });
  return `[${[...EDGES, ...drawn].join(",")}]`;
}
