import { SUSPECT_DEATHS, suspicionOf } from "../../../core/interpreter/attempt/crashes.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { RunningTask } from "./running-task.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** No death counts against an attempt that has lived for so long: it is in nobody's way any more. */
const CLEARED_AFTER_MS = 60_000;
/** So few suspects go one by one: the one that is found out has died twice beside no other. */
const ONE_BY_ONE = 4;

interface Waiting {
  readonly task: RunningTask;
  begin(isAlone: boolean): void;
}

/**
 * Lets the suspects of all runs of this process go on in halves, after a pause that grows with each death. Those against whom
 * least speaks go first. If others are left they go together, since they have not killed the process; else half of them goes.
 * So deaths that nobody here has caused single nobody out, and the one that kills is alone in the end. A start is durable
 * before the work begins, so that the next death counts only against those that had begun.
 */
export class SuspectFlights {
  readonly #clock: Clock;
  /** In the order of asking. */
  readonly #waiting = new Set<Waiting>();
  readonly #flying = new Set<RunningTask>();
  #stopAlarm: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the task's turn has come and its start is durable, or when it was told to stop. */
  async take(task: RunningTask): Promise<void> {
    const isAlone = await this.#turn(task);
    if (isAlone === undefined || task.hasEnded) return;
    const { run, path, attempt, startValue } = task;
    const started = { type: "stepStarted", at: this.#clock.now(), path, attempt } as const;
    run.apply(isAlone ? { ...started, isAlone } : started, startValue);
    await run.durable();
  }

  /** Undefined: it was told to stop. */
  #turn(task: RunningTask): Promise<boolean | undefined> {
    const { signal } = task.controller;
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        task,
        begin: (isAlone) => {
          signal.removeEventListener("abort", leave);
          resolve(isAlone);
        },
      };
      const leave = () => {
        this.#waiting.delete(waiting);
        resolve(undefined);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(waiting);
      this.#look();
    });
  }

  /** Lets the next ones go if nobody is under way. */
  #look(): void {
    this.#stopAlarm?.();
    this.#stopAlarm = undefined;
    if (this.#flying.size > 0 || this.#waiting.size === 0) return;
    const next = chooseNext([...this.#waiting]);
    const at = Math.max(...next.map(({ task }) => earliestStartOf(task)));
    if (at > this.#clock.now()) {
      this.#stopAlarm = this.#clock.wakeAt(at, () => this.#look());
      return;
    }
    for (const waiting of next) this.#start(waiting, next.length === 1);
  }

  #start(waiting: Waiting, isAlone: boolean): void {
    const { task } = waiting;
    this.#waiting.delete(waiting);
    this.#flying.add(task);
    const stopClock = this.#clock.wakeAt(this.#clock.now() + CLEARED_AFTER_MS, () => this.#land(task));
    task.endTurn = () => {
      stopClock();
      this.#land(task);
    };
    waiting.begin(isAlone);
  }

  #land(task: RunningTask): void {
    if (this.#flying.delete(task)) this.#look();
  }
}

function chooseNext(waiting: readonly Waiting[]): readonly Waiting[] {
  const least = Math.min(...waiting.map(({ task }) => suspicionOf(task.instance)));
  const group = waiting.filter(({ task }) => suspicionOf(task.instance) === least);
  if (group.length < waiting.length) return group;
  return group.slice(0, group.length <= ONE_BY_ONE ? 1 : Math.ceil(group.length / 2));
}

/** The pause is the longer the more deaths there were: 1 s, 2 s, 4 s, at most a minute. */
function earliestStartOf({ instance, startedAt }: RunningTask): number {
  const doublings = Math.min(instance.deaths.length - SUSPECT_DEATHS, 16);
  return startedAt + Math.min(FIRST_PAUSE_MS * 2 ** doublings, LONGEST_PAUSE_MS);
}
