import type { Writable } from "node:stream";
import { sendSignal } from "../../sandbox/kernel/processes.ts";
import { startGuard } from "../../sandbox/orphan-guard.ts";

/** A small shell that outlives this process by a moment, also after SIGKILL, and ends the process groups of servers that are left. */
export class GroupGuard {
  #input: Writable | undefined;

  /** Ends the group of `pid` within two seconds after this process. */
  watch(pid: number): void {
    // There is no such shell, and there are no process groups.
    if (process.platform === "win32") return;
    this.#input ??= startGuard("/bin/sh", ["-c", GUARD, "pawl-guard"]);
    this.#input.write(`+ ${pid}\n`);
  }

  /** Nothing is left of the group; its number may be given to another. */
  release(pid: number): void {
    this.#input?.write(`- ${pid}\n`);
  }

  close(): void {
    this.#input?.end();
    this.#input = undefined;
  }
}

const GUARD = `
groups=
while read -r sign group; do
  case $sign in
    +) groups="$groups $group" ;;
    -) kept=
       for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done
       groups=$kept ;;
  esac
done
[ -z "$groups" ] && exit
for signal in 0 TERM KILL; do
  for group in $groups; do kill -s "$signal" -- "-$group" 2>/dev/null; done
  [ "$signal" = KILL ] || sleep 0.5
done
`;

/** Signals a process and everything that it has started and that has not left its group. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  sendSignal([process.platform === "win32" ? pid : -pid], signal);
}
