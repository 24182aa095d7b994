import { expect } from "vitest";

/** What another process has written is remembered for a second at most. */
export async function seen<T>(read: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(read, { timeout: 2_500, interval: 20 }).toEqual(expected);
}
