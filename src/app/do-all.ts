/** Does one after the other, whatever fails: what is not closed keeps the process. Throws the first failure afterwards. */
export async function doAll(...steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
