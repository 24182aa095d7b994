/** How many cases a property tries: `count` in `npm test`, twice as many in `.ci/run`, 80 times in `npm run test:all`. */
export function rounds(count: number): number {
  return count * Number(process.env["PAWL_TEST_ROUNDS"] ?? 1);
}
