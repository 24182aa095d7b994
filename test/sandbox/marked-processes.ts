import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

// Generous: the machine may be busy.
const WITHIN_MS = 20_000;

/** Living processes that have the mark in their environment or among their arguments, wherever they are. */
export function findMarked(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(mark) || read(`/proc/${pid}/cmdline`).includes(mark))
    .filter((pid) => !/\nState:\s+[ZX]/.test(read(`/proc/${pid}/status`)))
    .map(Number);
}

/** Rejects where it does not come true in time. */
export async function waitUntil(what: string, isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await setTimeout(10);
  }
}

export async function noneIsLeft(mark: string): Promise<void> {
  await waitUntil(`no process with the mark ${mark}`, () => findMarked(mark).length === 0);
}

export function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
