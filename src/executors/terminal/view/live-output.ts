import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OutputFrame, OutputView } from "../../../ports/terminals/terminal-views.ts";
import type { TerminalSession } from "../session/terminal-session.ts";

/** The most output that is kept for a slow viewer. Beyond it the viewer is shown the screen anew. */
const MAX_PENDING = 256 * 1024;
/** At most this share of the time is spent on showing screens anew, whatever the number of viewers. */
const REPAINT_SHARE = 0.05;
const MIN_REPAINT_EVERY_MS = 50;

/** Makes the screen of one session anew for all who have fallen behind, at the same moment and not too often. */
export class Repainter {
  readonly #session: TerminalSession;
  readonly #waiting = new Set<(snapshot: string) => void>();
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(session: TerminalSession) {
    this.#session = session;
  }

  /** Calls back with what shows the screen as it is at that moment. Returns how to stop waiting. */
  wait(painted: (snapshot: string) => void): () => void {
    this.#waiting.add(painted);
    this.#timer ??= setTimeout(() => this.#paint(), Math.max(0, this.#notBefore - performance.now())).unref();
    return () => this.#waiting.delete(painted);
  }

  #paint(): void {
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const beganAt = performance.now();
    const snapshot = this.#session.snapshot();
    const endedAt = performance.now();
    this.#notBefore = endedAt + Math.max((endedAt - beganAt) / REPAINT_SHARE, MIN_REPAINT_EVERY_MS);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const painted of waiting) painted(snapshot);
  }
}

type Taker = { resolve(frame: OutputFrame): void; reject(error: Error): void };

/** The output of a session for one viewer, who takes it at any pace. Keeps at most `MAX_PENDING` for it. */
export class LiveOutput implements OutputView {
  readonly #session: TerminalSession;
  readonly #repainter: Repainter;
  readonly #leave: () => void;
  #pending = "";
  /** The viewer's screen does not fit the output that comes next. */
  #isBehind = true;
  #isClosed = false;
  #taker: Taker | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(session: TerminalSession, repainter: Repainter) {
    this.#session = session;
    this.#repainter = repainter;
    this.#leave = session.listen({
      data: (data) => this.#take(data),
      resized: () => this.#fallBehind(),
      ended: () => this.#offer(),
    });
  }

  next(): Promise<OutputFrame> {
    if (this.#isClosed) return Promise.reject(terminalNotFound(this.#session.facts.id));
    return new Promise((resolve, reject) => {
      this.#taker = { resolve, reject };
      this.#offer();
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leave();
    this.#stopWaiting?.();
    this.#pending = "";
    this.#taker?.reject(terminalNotFound(this.#session.facts.id));
  }

  #take(data: string): void {
    if (this.#isBehind) return;
    this.#pending += data;
    if (this.#pending.length > MAX_PENDING) this.#fallBehind();
    else this.#offer();
  }

  #fallBehind(): void {
    this.#isBehind = true;
    this.#pending = "";
    this.#offer();
  }

  #offer(): void {
    if (this.#taker === undefined) return;
    if (this.#isBehind) {
      this.#stopWaiting ??= this.#repainter.wait((snapshot) => this.#repainted(snapshot));
    } else if (this.#pending !== "") {
      const data = this.#pending;
      this.#pending = "";
      this.#give({ type: "output", data });
    } else if (!this.#session.isRunning) this.#give({ type: "ended", exitCode: this.#session.exitCode ?? null });
  }

  #repainted(data: string): void {
    this.#stopWaiting = undefined;
    this.#isBehind = false;
    const { columns, rows } = this.#session.screen;
    this.#give({ type: "screen", columns, rows, data });
  }

  #give(frame: OutputFrame): void {
    const taker = this.#taker;
    this.#taker = undefined;
    taker?.resolve(frame);
  }
}

export function terminalNotFound(id: string): PawlError {
  return new PawlError("TERMINAL_NOT_FOUND", { message: `There is no terminal "${id}".` });
}
