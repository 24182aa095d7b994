import { randomInt } from "node:crypto";
import { readKernel } from "./kernel/processes.ts";

// Ids that no user has: above the ranges of containers, and within 31 bits.
const FIRST_FREE_USER = 0x70_00_00_00;
const FREE_USERS = 0x0f_00_00_00;

/** An unused, unprivileged user id for one program, since the kernel counts processes per user. `undefined`: we are not root, or may use no other. */
export function chooseUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return pickUser(readKernel("/proc/self/uid_map"));
}

/** `uidMap` as the kernel writes it: lines of `first-inside first-outside count`. */
export function pickUser(uidMap: string): number | undefined {
  const ranges = uidMap
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, end: first + count }));
  if (ranges.some(({ first, end }) => first <= FIRST_FREE_USER && end >= FIRST_FREE_USER + FREE_USERS)) {
    return FIRST_FREE_USER + randomInt(FREE_USERS);
  }
  // In a container with its own 65,536 ids: above those of people and below `nobody`.
  const own = ranges.find(({ first, end }) => first === 0 && end >= 65_536);
  return own === undefined ? undefined : 61_184 + randomInt(4_000);
}
