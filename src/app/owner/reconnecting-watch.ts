import type { RunHost, RunNotice } from "../../hosts/run-host.ts";
import type { Journal } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";

const PAGE = 500;

/** Watches one run through several owners: what happened in between is read from the journal, and nothing is told twice. */
export class ReconnectingWatch {
  readonly runId: string;
  readonly #listen: (notice: RunNotice) => void;
  readonly #journal: () => Promise<Journal>;
  #lastSeq = 0;
  #stop: (() => void) | undefined;
  /** Notices that arrive while the journal is read. Undefined: it has been read. */
  #held: RunNotice[] | undefined;

  constructor(runId: string, listen: (notice: RunNotice) => void, journal: () => Promise<Journal>) {
    this.runId = runId;
    this.#listen = listen;
    this.#journal = journal;
  }

  attach(host: RunHost): void {
    this.#stop?.();
    this.#held = [];
    this.#stop = host.watch(this.runId, (notice) => this.#receive(notice));
    // A fault of the journal is reported by the caller that waits for the run. The view only misses lines.
    void this.#catchUp().catch(() => undefined);
  }

  detach(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#held = undefined;
  }

  #receive(notice: RunNotice): void {
    if (this.#held === undefined) this.#pass(notice);
    else this.#held.push(notice);
  }

  #pass(notice: RunNotice): void {
    if (notice.type === "event") {
      if (notice.seq <= this.#lastSeq) return;
      this.#lastSeq = notice.seq;
    }
    this.#listen(notice);
  }

  async #catchUp(): Promise<void> {
    try {
      await this.#readMissed();
    } finally {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const notice of held) this.#pass(notice);
    }
  }

  async #readMissed(): Promise<void> {
    const journal = await this.#journal();
    const record = await journal.findRun(this.runId);
    if (record === undefined || record === "ambiguous") return;
    for (;;) {
      await passTurn();
      const rows = await journal.readEvents(record.no, { afterSeq: this.#lastSeq, limit: PAGE });
      for (const { seq, event } of rows) if (this.#stop !== undefined) this.#pass({ type: "event", seq, event });
      if (rows.length < PAGE || this.#stop === undefined) return;
    }
  }
}
