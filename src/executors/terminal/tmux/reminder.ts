import { readFileSync } from "node:fs";
import { sendSignal } from "../../sandbox/kernel/processes.ts";

const LOOK_EVERY_MS = 1_000;

/**
 * Debian's tmux before 3.5 misses the signal of a program's end that comes while it closes the program's terminal, which is when
 * most come, and never learns of it. Once a second this looks for such programs and sends their servers the signal again.
 */
export class Reminder {
  readonly #watched = new Set<{ readonly pid: number }>();
  #timer: NodeJS.Timeout | undefined;

  /** Reminds until the returned function is called. */
  watch(program: { readonly pid: number }): () => void {
    this.#watched.add(program);
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    return () => {
      this.#watched.delete(program);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #look(): void {
    for (const { pid } of this.#watched) {
      const parent = parentOfZombie(pid);
      if (parent !== undefined) sendSignal([parent], "SIGCHLD");
    }
  }
}

/** Undefined: it runs, or its parent knows of its end. */
function parentOfZombie(pid: number): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return state === "Z" && parent !== undefined ? Number(parent) : undefined;
  } catch {
    return undefined;
  }
}
