import { readFileSync } from "node:fs";
import { sendSignal } from "../../sandbox/kernel/processes.ts";

const LOOK_EVERY_MS = 1_000;

/** tmux before 3.5 (Debian) misses the end of some programs. Once a second their servers are sent the signal again. */
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
