import { toIsoTime } from "../../core/iso-time.ts";
import type { PoolState } from "../../ports/capacity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Task } from "../../ports/executor.ts";
import type { LineMember, WaitingLine } from "./waiting-line.ts";

/** The task that a call is made for. */
export type Caller = Pick<Task, "runId" | "tenantId" | "priority" | "emit">;

type NotedLine = Pick<WaitingLine<LineMember & { readonly caller: Caller }>, "heads" | "size">;

const FIRST_NOTE_MS = 100;
const NOTE_EVERY_MS = 1_000;

/** Tells those who watch a run what its calls wait for: once for all of them, while they wait. */
export class CapacityNotes {
  readonly #clock: Clock;
  readonly #line: NotedLine;
  readonly #stateOf: () => PoolState;
  #isDue = false;

  constructor(clock: Clock, { line, stateOf }: { readonly line: NotedLine; stateOf(): PoolState }) {
    this.#clock = clock;
    this.#line = line;
    this.#stateOf = stateOf;
  }

  soon(): void {
    if (!this.#isDue) this.#tellAllIn(FIRST_NOTE_MS);
  }

  #tellAllIn(ms: number): void {
    this.#isDue = true;
    this.#clock.wakeAt(this.#clock.now() + ms, () => {
      this.#isDue = false;
      for (const { first, waiting } of this.#line.heads()) this.tell(first.caller, waiting);
      if (this.#line.size > 0) this.#tellAllIn(NOTE_EVERY_MS);
    });
  }

  tell(caller: Caller, waiting: number): void {
    const { name, width, inFlight, waiting: all, perSecond, closedUntil } = this.#stateOf();
    const closed_until = closedUntil === undefined ? null : toIsoTime(closedUntil);
    const counts = { in_flight: inFlight, width, waiting, waiting_in_all: all, per_second: perSecond ?? null };
    const event = { type: "capacity", pool: name, ...counts, closed_until };
    caller.emit({ type: "live", event });
  }
}
