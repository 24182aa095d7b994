import { setTimeout } from "node:timers/promises";
import { findBranded, findDescendants, isAlive, killAll, sendSignal } from "../../sandbox/kernel/processes.ts";

/** For programs that save something when their terminal goes away. */
const GRACE_MS = 300;
const LOOK_EVERY_MS = 15;
/** A process that the kernel does not let go of is not waited for. */
const LAST_WORDS_MS = 1_000;

interface HeldTerminal {
  readonly origin: Origin;
  /** Calls once, at once where the program has ended already. */
  whenExited(callback: () => void): void;
}

/** Ends all processes of the terminals: first by a hang-up, then by force. Resolves when none is left. */
export async function endProcesses(terminals: readonly HeldTerminal[]): Promise<void> {
  const find = () => findSessionProcesses(terminals.map(({ origin }) => origin));
  const exits = terminals.map((terminal) => new Promise<void>((resolve) => terminal.whenExited(resolve)));
  const first = find();
  sendSignal(first, "SIGHUP");
  // A stopped process hears of it only when it goes on.
  sendSignal(first, "SIGCONT");
  const deadline = performance.now() + GRACE_MS;
  while (performance.now() < deadline && find().length > 0) await setTimeout(LOOK_EVERY_MS);
  await killAll(find);
  await Promise.race([Promise.all(exits), setTimeout(LAST_WORDS_MS, undefined, { ref: false })]);
}

/** A terminal's first process and the mark that all that come from it carry. */
export interface Origin {
  readonly pid: number;
  readonly brand: string | undefined;
  /** Whether the first process still runs: a number is given to others later. */
  readonly runs: boolean;
}

/** Every living process that the terminals have started. Without marks, processes that lost their parent are not found. */
function findSessionProcesses(origins: readonly Origin[]): number[] {
  const branded = findBranded(origins.flatMap(({ brand }) => brand ?? []));
  const below = origins.filter(({ runs }) => runs).flatMap(({ pid }) => [pid, ...findDescendants(pid)]);
  return [...new Set([...branded, ...below])].filter(isAlive);
}
