import type { CostReported, Event } from "../../../core/history/events.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";
import type { JsonObject } from "../../../core/json.ts";
import { grantOf, reachOf } from "../../../core/trust/grant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { FindExecutor } from "../../executors.ts";
import type { RunValues } from "../values/run-values.ts";

interface Attempt {
  /** The event that holds the bound input. */
  startSeq: number | undefined;
  /** When each call was reserved. */
  readonly calls: Map<number, number>;
}

const ENDS: ReadonlySet<string> = new Set(["stepSucceeded", "stepFailed", "stepInterrupted", "approvalAsked"]);

/** The paid calls of attempts in flight, as a history tells of them. */
export class OpenCalls {
  readonly #attempts = new Map<string, Attempt>();

  observe(seq: number, event: Event): void {
    if (!("path" in event) || !("attempt" in event) || event.attempt === undefined) return;
    const key = `${event.path}@${event.attempt}`;
    const { type } = event;
    if (type === "stepStarted") this.#of(key).startSeq = seq;
    else if (type === "costReserved") this.#of(key).calls.set(event.call, event.at);
    else if (type === "costReported" && event.call !== undefined) this.#attempts.get(key)?.calls.delete(event.call);
    else if (ENDS.has(type)) this.#attempts.delete(key);
  }

  /** Those whose attempts are in flight still: their process is gone. */
  lost(state: RunState): readonly LostAttempt[] {
    return [...state.active.values()].flatMap((instance) => {
      const { startSeq, calls } = this.#attempts.get(`${instance.path}@${instance.attempt}`) ?? {};
      if (instance.phase !== "dispatched" || startSeq === undefined || calls === undefined || calls.size === 0)
        return [];
      return [{ instance, attempt: instance.attempt, startSeq, calls }];
    });
  }

  #of(key: string): Attempt {
    const known = this.#attempts.get(key) ?? { startSeq: undefined, calls: new Map<number, number>() };
    this.#attempts.set(key, known);
    return known;
  }
}

interface LostAttempt {
  readonly instance: Instance;
  readonly attempt: number;
  readonly startSeq: number;
  readonly calls: ReadonlyMap<number, number>;
}

interface LookUp {
  readonly state: RunState;
  readonly options: JsonObject;
  readonly values: Pick<RunValues, "read">;
  readonly lost: readonly LostAttempt[];
  readonly findExecutor: FindExecutor;
  readonly clock: Clock;
  /** The last sign of life of the process that has sent them. */
  readonly diedAt: number;
}

/** The process has been alive for a moment longer than its last sign. */
const AFTER_LAST_SIGN_MS = 5_000;
/** A disconnected agent may work for so long. */
const PATIENCE_MS = 10 * 60_000;
/** A run that could not go on without an answer waits for so long. */
const MOST_WAIT_MS = 1_000;

/**
 * Asks once, where a payee keeps records, what calls have cost that were cut off. What is not certain stays in the books by the most
 * that it may have cost. The run does not wait for it, unless these calls use up its budget: then for a moment.
 */
export class CostLookUp {
  readonly #parts: LookUp;
  readonly #found: CostReported[] = [];
  #tell: ((found: CostReported) => void) | undefined;

  constructor(parts: LookUp) {
    this.#parts = parts;
  }

  /** Begins, and resolves when the run may go on. */
  async begin(): Promise<void> {
    const { lost, state, clock } = this.#parts;
    if (lost.length === 0) return;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const until = Math.min(this.#parts.diedAt + AFTER_LAST_SIGN_MS, clock.now());
    // Nothing depends on it.
    const all = Promise.all(lost.map((attempt) => this.#lookUp(attempt, until, signal))).catch(() => undefined);
    if (!isUsedUp(state)) return;
    await Promise.race([
      all,
      new Promise((resolve) => clock.wakeAt(clock.now() + MOST_WAIT_MS, () => resolve(undefined))),
    ]);
  }

  /** Tells what is known by now, and later what becomes known. */
  tell(book: (found: CostReported) => void): void {
    this.#tell = book;
    for (const found of this.#found.splice(0)) book(found);
  }

  async #lookUp(
    { instance, attempt, startSeq, calls }: LostAttempt,
    until: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { values, findExecutor, options, clock } = this.#parts;
    const { step } = instance.step;
    if (step.kind !== "task") return;
    const { settings } = instance.scope.frame.graph.graph;
    const reach = reachOf(grantOf(settings));
    const executor = await findExecutor(step.executor, { options, settings });
    if (executor.findCost === undefined) return;
    const input = (await values.read(new Set([startSeq]))).value(startSeq);
    if (input === undefined) return;
    for (const [call, reservedAt] of calls) {
      const costMicro = await executor.findCost({ input, settings, reach, reservedAt, until }, signal);
      if (costMicro === undefined) continue;
      const { path } = instance;
      const found = { type: "costReported", at: clock.now(), path, attempt, call, costMicro } as const;
      if (this.#tell === undefined) this.#found.push(found);
      else this.#tell(found);
    }
  }
}

function isUsedUp({ budget: { limitMicro, spentMicro, lostMicro, openMicro } }: RunState): boolean {
  return limitMicro !== undefined && spentMicro + lostMicro + openMicro >= limitMicro;
}
