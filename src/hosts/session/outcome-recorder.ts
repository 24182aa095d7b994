import type { Values } from "../../core/binding/bind.ts";
import type { PolicyDecision } from "../../core/graph/policy.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { toWorkerDied } from "../../core/interpreter/attempt/crashes.ts";
import { viewOf } from "../../core/interpreter/lookup.ts";
import type { Verdict } from "../../core/policies/judge-output.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Asks, Failed, Outcome, Succeeded } from "../../ports/executor.ts";
import type { LiveRun } from "./live-run.ts";
import { type OutputPolicies, toBlocked } from "./policies/output-policies.ts";
import { OUTPUT_KEY } from "./policies/policy-answer.ts";
import {
  refuseQuestion,
  timedOut,
  toAskedEvent,
  toFailed,
  toFailedEvent,
  tooLarge,
  toSucceededEvent,
} from "./tasks/outcome-events.ts";
import type { RunningTask } from "./tasks/running-task.ts";
import {
  type Arrival,
  decideRetry,
  maskProjection,
  type Projection,
  projectionExprs,
  projectOutput,
} from "./values/project-output.ts";
import { lengthOf, type StoredValue, toStoredValue, type ValueWriter, whenLoaded } from "./values/stored-value.ts";

export interface OutcomeRecorderParts {
  readonly clock: Clock;
  readonly writer: ValueWriter;
  readonly policies: OutputPolicies;
  /** A question has just been applied: what must be in the same commit is added now. */
  asked(run: LiveRun, instance: Instance, seq: number): void;
  /** A step has just been held: what is told of it is in the same commit. */
  held(run: LiveRun, instance: Instance): void;
}

/**
 * Turns the outcome of an executor into the event of its attempt: the log is stored, the output judged by the step's
 * policies and stored, and what control reads of it is put into the event. Every step passes here, so nothing is awaited
 * that is in memory.
 */
export class OutcomeRecorder {
  readonly #parts: OutcomeRecorderParts;

  constructor(parts: OutcomeRecorderParts) {
    this.#parts = parts;
  }

  /** The event is applied when it returns, or when its promise resolves. */
  record(task: RunningTask, outcome: Outcome | Asks): void | Promise<void> {
    const logged = this.#storeLog(task);
    return logged instanceof Promise ? logged.then(() => this.#conclude(task, outcome)) : this.#conclude(task, outcome);
  }

  /** The attempt had been given up before: only its cost counts. */
  bookLate({ run, path, attempt, reportedMicro }: RunningTask, outcome: Outcome | Asks): void {
    const costMicro = (outcome.costMicro ?? 0) - reportedMicro;
    if (costMicro <= 0 || run.state.phase !== "open") return;
    run.apply({ type: "costReported", at: this.#parts.clock.now(), path, attempt, costMicro });
  }

  /** The outcome cannot be recorded as it is, e.g. if a value is lost that a condition reads. It is paid for all the same. */
  recordUnrecordable(task: RunningTask, outcome: Outcome | Asks, error: unknown): void {
    const { writer, clock, policies } = this.#parts;
    task.run.dropStart(task);
    const spent = isOutcome(outcome) ? { costMicro: outcome.costMicro } : {};
    const failed = policies.cleanFailed(task, { ...toFailed(error), effect: "done", ...spent });
    task.run.apply(toFailedEvent(task, failed, { at: clock.now(), mask: (text) => writer.mask(text) }).event);
  }

  #storeLog(task: RunningTask): void | Promise<void> {
    const { run, path, attempt, log } = task;
    if (log === undefined || task.isAbandoned) return;
    return whenLoaded(toStoredValue(log, this.#parts.writer, run), (stored) => {
      if (stored === "too large") return;
      run.apply({ type: "stepLogged", at: this.#parts.clock.now(), path, attempt, ...lengthOf(stored) }, stored.stored);
    });
  }

  /** An attempt that was told to stop and succeeded all the same has succeeded. */
  #conclude(task: RunningTask, outcome: Outcome | Asks): void | Promise<void> {
    if (outcome.status === "failed") return this.#fail(task, outcome);
    if (outcome.status === "asks") return this.#ask(task, outcome);
    const verdict = this.#parts.policies.judge(task, outcome);
    return verdict === undefined ? this.#keep(task, outcome) : this.#obey(task, outcome, verdict);
  }

  #obey(task: RunningTask, outcome: Succeeded, { output, decisions, blockedBy, asks }: Verdict): void | Promise<void> {
    if (decisions.length > 0) task.decisions = decisions;
    // The work is done, so it is not done again even if the attempt was told to stop.
    if (blockedBy !== undefined) return this.#failForGood(task, toBlocked(task, outcome, blockedBy));
    const allowed = { ...outcome, output };
    return asks === undefined ? this.#keep(task, allowed) : this.#holdOutput(task, allowed, asks);
  }

  /** The output waits as a record of the step, in the commit of the question about it. */
  #holdOutput(task: RunningTask, outcome: Succeeded, decision: PolicyDecision): void | Promise<void> {
    return whenLoaded(toStoredValue(outcome.output, this.#parts.writer, task.run), (held) => {
      if (held === "too large") return this.#fail(task, tooLarge(outcome, this.#parts.writer.maxBytes));
      return this.#ask(task, this.#parts.policies.toQuestion(task, outcome, decision), held);
    });
  }

  #keep(task: RunningTask, outcome: Succeeded): void | Promise<void> {
    return whenLoaded(toStoredValue(outcome.output, this.#parts.writer, task.run), (stored) =>
      stored === "too large"
        ? this.#fail(task, tooLarge(outcome, this.#parts.writer.maxBytes))
        : this.#projectAndSucceed(task, outcome, stored),
    );
  }

  #projectAndSucceed(task: RunningTask, outcome: Succeeded, stored: StoredValue): void | Promise<void> {
    const values = this.#projectionValues(task);
    return values instanceof Promise
      ? values.then((loaded) => this.#succeed(task, { outcome, stored, values: loaded }))
      : this.#succeed(task, { outcome, stored, values });
  }

  #succeed(task: RunningTask, done: { outcome: Succeeded; stored: StoredValue; values: Values }): void {
    if (task.isAbandoned) return;
    const { run } = task;
    const { value, bytes, stored } = done.stored;
    run.dropStart(task);
    const projection = this.#project(task, done.values, { output: value, hasFailed: false });
    const isEmpty = value === null;
    const at = this.#parts.clock.now();
    const event = toSucceededEvent(task, done.outcome, { at, isEmpty, projection, bytes: lengthOf(done.stored).bytes });
    const seq = run.apply(event, isEmpty ? undefined : stored);
    this.#parts.policies.queueAlertWebhooks(task, at);
    if (!isEmpty && task.instance.step.isRead) run.values.keep(seq, value, bytes);
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  /** An attempt that was told to stop and asks a question has stopped: it waits for its answer. */
  #ask(task: RunningTask, asks: Asks, held?: StoredValue): void | Promise<void> {
    const refusal = refuseQuestion(task, asks);
    if (refusal !== undefined) return this.#fail(task, refusal);
    const { writer, clock, policies } = this.#parts;
    const outcome = policies.cleanAsks(task, asks);
    return whenLoaded(toStoredValue(outcome.show, writer, task.run), (shown) => {
      if (shown === "too large") return this.#fail(task, tooLarge(outcome, writer.maxBytes));
      if (task.isAbandoned) return;
      const { run, path, attempt } = task;
      const at = clock.now();
      run.dropStart(task);
      if (held !== undefined)
        run.apply({ type: "stepRecorded", at, path, attempt, key: OUTPUT_KEY, ...lengthOf(held) }, held.stored);
      const event = toAskedEvent(task, outcome, { at, mask: (text) => writer.mask(text) });
      const seq = run.apply({ ...event, ...lengthOf(shown) }, shown.stored);
      run.values.keep(seq, shown.value, shown.bytes);
      policies.queueAlertWebhooks(task, at);
      this.#parts.asked(run, task.instance, seq);
    });
  }

  #fail(task: RunningTask, outcome: Failed): void | Promise<void> {
    if (task.isAbandoned) return;
    if (task.stop === "park") {
      task.run.dropStart(task);
      return this.#park(task, outcome);
    }
    if (outcome.workerDied === true && task.stop === undefined) return this.#interrupt(task, outcome);
    return this.#failForGood(task, task.stop === "timeout" ? { ...outcome, ...timedOut(task, outcome) } : outcome);
  }

  #failForGood(task: RunningTask, outcome: Failed): void | Promise<void> {
    if (task.isAbandoned) return;
    const { run } = task;
    const { writer, clock, policies } = this.#parts;
    run.dropStart(task);
    const at = clock.now();
    const failed = policies.cleanFailed(task, outcome);
    const { event, details, error } = toFailedEvent(task, failed, { at, mask: (text) => writer.mask(text) });
    return whenLoaded(this.#projectionValues(task), (values) => {
      const retryable = decideRetry(run.state, task.instance, values, error) ?? event.retryable;
      run.apply(
        { ...event, retryable, ...this.#project(task, values, { output: { error }, hasFailed: true }) },
        details,
      );
      policies.queueAlertWebhooks(task, at);
    });
  }

  #project({ run, instance }: RunningTask, values: Values, arrival: Arrival): Projection {
    const projection = projectOutput(run.state, instance, values, arrival);
    return projection.projected === undefined && projection.assigned === undefined
      ? projection
      : maskProjection(projection, (text) => this.#parts.writer.mask(text));
  }

  /** The attempt is given back on purpose: it is paid for, and neither failed nor done. One without an effect may be repeated. */
  #park(task: RunningTask, outcome: Failed): void {
    const { run, path, attempt } = task;
    const { effect } = outcome;
    const at = this.#parts.clock.now();
    this.#bookRest(task, outcome, at);
    const begun = effect === "none" ? ({ hasBegun: false } as const) : {};
    run.apply({ type: "stepInterrupted", at, path, attempt, cause: "parked", ...begun });
  }

  /** What did the work has died: the attempt is cut off, as by a death of this process. */
  #interrupt(task: RunningTask, outcome: Failed): void {
    const { run, instance } = task;
    const { clock, writer, held } = this.#parts;
    const at = clock.now();
    run.dropStart(task);
    this.#bookRest(task, outcome, at);
    const reason = writer.mask(outcome.message);
    run.apply(toWorkerDied(instance, { at, reason, hasBegun: outcome.effect !== "none" }));
    if (instance.phase === "held") held(run, instance);
  }

  #bookRest({ run, path, attempt, reportedMicro }: RunningTask, { costMicro }: Failed, at: number): void {
    const rest = (costMicro ?? 0) - reportedMicro;
    if (rest > 0) run.apply({ type: "costReported", at, path, attempt, costMicro: rest });
  }

  #projectionValues({ run, instance }: RunningTask): Values | Promise<Values> {
    return run.values.load(viewOf(instance), projectionExprs(instance));
  }
}

/** An executor is foreign code, and may return anything. */
function isOutcome(outcome: unknown): outcome is Outcome | Asks {
  return typeof outcome === "object" && outcome !== null && "costMicro" in outcome;
}
