/** How many cases a property tries: `count` in `npm test`, and 20 times as many in `npm run test:all`. */
export function rounds(count: number): number {
  return count * Number(process.env["PAWL_TEST_ROUNDS"] ?? 1);
}
