import type { Instance } from "../../../core/history/run-state.ts";
import { SUSPECT_DEATHS, smallestFlightOf, suspicionOf } from "../../../core/interpreter/attempt/crashes.ts";
import type { Clock } from "../../../ports/clock.ts";
import { lengthOf } from "../values/stored-value.ts";
import type { RunningTask } from "./running-task.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** No death counts against an attempt that has lived for so long: it holds no other attempt back any more. */
const CLEARED_AFTER_MS = 60_000;
/** So few suspects go one by one: the one that is found out has died twice beside no other. */
const ONE_BY_ONE = 4;

interface Waiting {
  readonly task: RunningTask;
  begin(flight: number): void;
}

/**
 * Lets the suspects of all runs of this process go on in halves, after a pause that grows with each death. Those against whom
 * least speaks go first. If others are left they go together, since they have not killed the process; else half of them goes,
 * and never more than half of those with whom one of them has died before, so that many that kill are told apart too. A few deaths
 * that no work here has caused single none out, and the one that kills is alone in the end. A start is durable before the work
 * begins, so that the next death counts only against those that had begun.
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
    const flight = await this.#turn(task);
    if (flight === undefined || task.hasEnded) return;
    const { run, path, attempt, startValue } = task;
    const at = this.#clock.now();
    run.apply({ type: "stepStarted", at, path, attempt, flight, ...lengthOf(startValue) }, startValue?.stored);
    await run.durable();
  }

  /** Undefined: it was told to stop. */
  #turn(task: RunningTask): Promise<number | undefined> {
    const { signal } = task.controller;
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        task,
        begin: (flight) => {
          signal.removeEventListener("abort", leave);
          resolve(flight);
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

  /** Lets the next ones go if none is under way. */
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
    for (const waiting of next) this.#start(waiting, next.length);
  }

  #start(waiting: Waiting, flight: number): void {
    const { task } = waiting;
    this.#waiting.delete(waiting);
    this.#flying.add(task);
    const stopClock = this.#clock.wakeAt(this.#clock.now() + CLEARED_AFTER_MS, () => this.#land(task));
    task.endTurn = () => {
      stopClock();
      this.#land(task);
    };
    waiting.begin(flight);
  }

  #land(task: RunningTask): void {
    if (this.#flying.delete(task)) this.#look();
  }
}

function chooseNext(waiting: readonly Waiting[]): readonly Waiting[] {
  const least = leastOf(waiting, suspicionOf);
  const group = waiting.filter(({ task }) => suspicionOf(task.instance) === least);
  if (group.length < waiting.length) return group;
  const smallest = leastOf(group, smallestFlightOf);
  const before = group.filter(({ task }) => smallestFlightOf(task.instance) === smallest);
  return before.slice(0, halfOf(Math.min(group.length, smallest)));
}

function leastOf(waiting: readonly Waiting[], read: (instance: Instance) => number): number {
  return waiting.reduce((least, { task }) => Math.min(least, read(task.instance)), Number.POSITIVE_INFINITY);
}

function halfOf(count: number): number {
  return count <= ONE_BY_ONE ? 1 : Math.ceil(count / 2);
}

/** The pause is the longer the more deaths there were: 1 s, 2 s, 4 s, at most a minute. */
function earliestStartOf({ instance, startedAt }: RunningTask): number {
  const doublings = Math.min(instance.deaths.length - SUSPECT_DEATHS, 16);
  return startedAt + Math.min(FIRST_PAUSE_MS * 2 ** doublings, LONGEST_PAUSE_MS);
}
