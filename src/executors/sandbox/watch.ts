import type { ControlGroup } from "./kernel/control-groups.ts";
import { proportionalBytes, usageOf } from "./kernel/processes.ts";
import type { Ending, SandboxLimits } from "./sandbox.ts";

/** Looks at a running program from time to time, at what the kernel does not hold to its limits by itself. */
export interface Watch {
  readonly maxRssBytes: () => number | undefined;
  /** The most processes and threads that were seen at once. */
  readonly maxTasks: () => number;
  stop(): void;
}

export interface Watched {
  /** bwrap's own processes, which are not the program's: one watches from outside, one reaps inside. */
  readonly wrappers: number;
  readonly group: ControlGroup | undefined;
  readonly limits: SandboxLimits;
  /** The first process and those below it, the nearest first. */
  findTree(): number[];
  /** All processes, also those that have lost their parents: a search through all processes of the machine. */
  findMembers(): number[];
  exceeded(ending: Ending): void;
  /** Default 50. */
  readonly everyMs?: number;
}

const INTERVAL_MS = 50;
const ROUNDS_PER_SEARCH = 4;

export function watchProgram(watched: Watched): Watch {
  const { group, limits, wrappers, exceeded } = watched;
  const isHeld = group?.holdsMemory === true && group.holdsTasks;
  let rounds = 0;
  let maxRssBytes = 0;
  let maxTasks = 0;
  let strays: readonly number[] = [];

  const look = () => {
    rounds += 1;
    const isSearch = rounds % ROUNDS_PER_SEARCH === 0;
    if (isSearch) {
      strays = watched.findMembers().slice(wrappers);
      // Some may have been started outside while others were taken in.
      group?.admit(watched.findMembers);
    }
    const near = isHeld ? [] : watched.findTree().slice(wrappers);
    const pids = isHeld && !isSearch ? [] : [...new Set([...near, ...strays])];
    const seen = usageOf(pids);
    const tasks = Math.max(seen.tasks, (group?.tasks() ?? 0) - wrappers);
    maxRssBytes = Math.max(maxRssBytes, seen.rssBytes);
    maxTasks = Math.max(maxTasks, tasks);
    if (tasks > limits.maxProcesses) exceeded({ type: "tooManyProcesses" });
    else if (isOutOfMemory(watched, seen.rssBytes, pids)) exceeded({ type: "outOfMemory" });
  };
  const timer = setInterval(look, watched.everyMs ?? INTERVAL_MS);
  // A caller that waits for the program keeps this process alive.
  timer.unref();
  return {
    maxRssBytes: () => group?.maxMemoryBytes() ?? (maxRssBytes === 0 ? undefined : maxRssBytes),
    maxTasks: () => maxTasks,
    stop: () => clearInterval(timer),
  };
}

/** The kernel ends one process of a group that is full; the others would run on without it. */
function isOutOfMemory({ group, limits }: Watched, rssBytes: number, pids: readonly number[]): boolean {
  if (group?.hasRunOutOfMemory() === true) return true;
  if (rssBytes <= limits.memoryBytes) return false;
  // Pages that forked processes share count in each of them: a second look tells whether that is all.
  return (proportionalBytes(pids) ?? rssBytes) > limits.memoryBytes;
}
