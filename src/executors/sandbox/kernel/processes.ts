import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { orElse } from "../../../core/or-else.ts";
import { hasBrand } from "./brand.ts";

/** The kernel's facts about other processes. A process that has just ended reads as nothing. */

export interface Usage {
  readonly rssBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/** The processes below one, the nearest first, itself left out. Those that have lost their parent are not among them. */
export function findDescendants(root: number): number[] {
  const found: number[] = [];
  for (let pid: number | undefined = root, next = 0; pid !== undefined; pid = found[next], next += 1) {
    found.push(...childrenOf(pid));
  }
  return found;
}

/** Processes that live and carry one of the brands, whatever their parent is now. Reads all of /proc: a few milliseconds. */
export function findBranded(brands: readonly string[]): number[] {
  if (brands.length === 0) return [];
  return processNames()
    .filter((name) => {
      const limits = readKernel(`/proc/${name}/limits`);
      return brands.some((brand) => hasBrand(limits, brand));
    })
    .map(Number)
    .filter(isAlive);
}

export function usageOf(pids: readonly number[]): Usage {
  let rssBytes = 0;
  let tasks = 0;
  for (const pid of pids) {
    const status = readKernel(`/proc/${pid}/status`);
    rssBytes += numberAfter(status, "\nVmRSS:") * 1_024;
    tasks += numberAfter(status, "\nThreads:");
  }
  return { rssBytes, tasks };
}

/** Memory that is shared counts once here; dearer to find out than `usageOf`. `undefined`: the kernel does not tell us. */
export function proportionalBytes(pids: readonly number[]): number | undefined {
  let bytes = 0;
  for (const pid of pids) {
    const rollup = readKernel(`/proc/${pid}/smaps_rollup`);
    if (rollup === "" && isAlive(pid)) return undefined;
    bytes += numberAfter(rollup, "\nPss:") * 1_024;
  }
  return bytes;
}

/** Processes and threads of a user: what the kernel counts against the user's limit. */
export function countTasksOf(user: number): number {
  const statuses = processNames().map((name) => readKernel(`/proc/${name}/status`));
  const own = statuses.filter((status) => numberAfter(status, "\nUid:") === user);
  return own.reduce((sum, status) => sum + numberAfter(status, "\nThreads:"), 0);
}

/** A process that has ended and waits to be asked how is not alive. */
export function isAlive(pid: number): boolean {
  const state = /\nState:\s+(\S)/.exec(readKernel(`/proc/${pid}/status`))?.[1];
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Of `/proc/PID/stat`: the name, which may contain anything, and the fields behind it. Throws where the process is gone. */
export function readStat(pid: number): { readonly name: string; readonly fields: readonly string[] } {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const end = stat.lastIndexOf(")");
  return { name: stat.slice(stat.indexOf("(") + 1, end), fields: stat.slice(end + 2).split(" ") };
}

export function sendSignal(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended in the meantime.
    }
  }
}

function childrenOf(pid: number): number[] {
  // Every thread has its own children.
  return namesIn(`/proc/${pid}/task`).flatMap((thread) => {
    return readKernel(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number);
  });
}

function numberAfter(text: string, label: string): number {
  const at = text.indexOf(label);
  return at === -1 ? 0 : Number.parseInt(text.slice(at + label.length, at + label.length + 40), 10);
}

/** None where it cannot be read. */
export function namesIn(folder: string): string[] {
  return orElse(() => readdirSync(folder), []);
}

function processNames(): string[] {
  return namesIn("/proc").filter((name) => name > "0" && name < ":");
}

/** A file of the kernel; empty where it is not there. */
export function readKernel(path: string): string {
  return orElse(() => readFileSync(path, "latin1"), "");
}

const WITHIN_MS = 3_000;
const MAX_ROUNDS_OF_STOPPING = 200;

/** Kills all that `list` finds, and what they start in the meantime. Resolves when none is left. */
export async function killAll(list: () => readonly number[]): Promise<void> {
  stopAll(list);
  const deadline = performance.now() + WITHIN_MS;
  for (let left = list(); left.length > 0 && performance.now() < deadline; left = list()) {
    sendSignal(left, "SIGKILL");
    await setTimeout(1);
  }
}

/** A stopped process keeps its place in the count of processes: a fork bomb runs out of room instead of running on. */
function stopAll(list: () => readonly number[]): void {
  const stopped = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS_OF_STOPPING; round += 1) {
    const running = list().filter((pid) => !stopped.has(pid));
    if (running.length === 0) return;
    sendSignal(running, "SIGSTOP");
    for (const pid of running) stopped.add(pid);
  }
}
