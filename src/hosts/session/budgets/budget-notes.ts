import type { Clock } from "../../../ports/clock.ts";
import type { LiveRun } from "../live-run.ts";
import type { Spender } from "./paying-run.ts";

const FIRST_NOTE_MS = 100;
const NOTE_EVERY_MS = 1_000;

/** Tells those who watch a run how many of its tries wait for what others may give back of a budget, while some do. */
export class BudgetNotes {
  readonly #clock: Clock;
  readonly #waiting: () => readonly Spender[];
  /** Runs that were told of some, each with a try by which it can be told that there are none any more. */
  #told = new Map<LiveRun, Spender>();
  #isDue = false;

  constructor(clock: Clock, waiting: () => readonly Spender[]) {
    this.#clock = clock;
    this.#waiting = waiting;
  }

  soon(): void {
    if (!this.#isDue && (this.#waiting().length > 0 || this.#told.size > 0)) this.#tellIn(FIRST_NOTE_MS);
  }

  #tellIn(ms: number): void {
    this.#isDue = true;
    this.#clock.wakeAt(this.#clock.now() + ms, () => {
      this.#isDue = false;
      this.#tell();
      if (this.#waiting().length > 0) this.#tellIn(NOTE_EVERY_MS);
    });
  }

  #tell(): void {
    const counts = new Map<LiveRun, { readonly task: Spender; readonly waiting: number }>();
    for (const task of this.#waiting()) {
      if (task.run.isWatched) counts.set(task.run, { task, waiting: (counts.get(task.run)?.waiting ?? 0) + 1 });
    }
    for (const [run, task] of this.#told) if (!counts.has(run)) tellOf(task, 0);
    for (const { task, waiting } of counts.values()) tellOf(task, waiting);
    this.#told = new Map([...counts].map(([run, { task }]) => [run, task]));
  }
}

function tellOf({ run, path, attempt }: Spender, waiting: number): void {
  run.notify({ type: "live", path, attempt, event: { type: "budget", waiting } });
}
