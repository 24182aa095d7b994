import { setTimeout } from "node:timers/promises";
import { sendSignal } from "./processes.ts";

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
