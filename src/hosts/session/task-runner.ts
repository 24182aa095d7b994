import { hash } from "node:crypto";
import { bind, type Values } from "../../core/binding/bind.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import type { Command } from "../../core/history/commands.ts";
import type { BudgetExhausted } from "../../core/history/events.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { type Viewpoint, viewOf } from "../../core/interpreter/lookup.ts";
import type { Asks, Executor, Outcome, Succeeded } from "../../ports/executor.ts";
import type { FindExecutor } from "../executors.ts";
import { andThen } from "./and-then.ts";
import { BudgetGate } from "./budgets/budget-gate.ts";
import type { BudgetLedger } from "./budgets/budget-ledger.ts";
import type { LiveRun } from "./live-run.ts";
import { OutcomeRecorder, type OutcomeRecorderParts } from "./outcome-recorder.ts";
import { answeredKey, readAnswered } from "./policies/policy-answer.ts";
import { findCandidate, findReusable, type ReusableOutcomes } from "./reuse/reuse.ts";
import { stoppedOutcome, toFailed, toFailedEvent } from "./tasks/outcome-events.ts";
import { RunExecutors } from "./tasks/run-executors.ts";
import { RunningTask, type Stop } from "./tasks/running-task.ts";
import { storeFiles } from "./tasks/store-files.ts";
import { isLastChance, SuspectTurns } from "./tasks/suspects.ts";
import { TaskServices, type TaskServicesParts } from "./tasks/task-services.ts";
import { toStoredValue } from "./values/stored-value.ts";

type StartTask = Extract<Command, { type: "startTask" }>;

export interface TaskRunnerParts extends TaskServicesParts, OutcomeRecorderParts {
  readonly findExecutor: FindExecutor;
  /** Outcomes of an earlier run that this one may take over. */
  reusable(run: LiveRun): ReusableOutcomes | undefined;
  /** The run cannot go on in this process. */
  broken(run: LiveRun, error: unknown): void;
  /** What budgets leave. */
  readonly ledger: BudgetLedger;
}

/** How long an executor may take to come back after it was told to stop; then it is waited for no longer. */
const STOP_GRACE_MS = 5_000;

/** Runs tasks: binds their input, hands them to an executor and times them, until what came of them is recorded. */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #running = new Map<Instance, RunningTask>();
  readonly #gate: BudgetGate;
  readonly #services: TaskServices;
  readonly #outcomes: OutcomeRecorder;
  readonly #executors: RunExecutors;
  readonly #suspectTurns = new SuspectTurns();
  #allLanded: (() => void)[] = [];
  /** The input before: loops and fan-outs often ask the same again, and hashing is dear right after a commit. */
  #hashed = { text: "", hash: "" };

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
    this.#services = new TaskServices(parts);
    this.#outcomes = new OutcomeRecorder(parts);
    this.#executors = new RunExecutors(parts);
    this.#gate = new BudgetGate(parts.ledger, {
      go: (task) => this.#prepare(task),
      ask: (task, question) => this.#report(task, question),
      stopped: (task) => this.#report(task, stoppedOutcome(task.path)),
      hold: (task) => this.#takeBack(task, { type: "stepHeld" }),
      stop: (task, message) => this.#takeBack(task, { type: "budgetExhausted", message }),
    });
  }

  start(run: LiveRun, { instance, attempt, maxCostMicro, onlyReuse = false }: StartTask): void {
    if (instance.attempt !== attempt || instance.phase !== "dispatched") return;
    const startedAt = this.#parts.clock.now();
    const task = new RunningTask(this.#services, { run, instance, attempt, startedAt, maxCostMicro, onlyReuse });
    this.#running.set(instance, task);
    // What a person has answered about is done and paid for.
    const isDone = answeredKey(task) !== undefined;
    task.awaitsGate = !isDone && this.#mayReuse(task);
    if (onlyReuse && !task.awaitsGate) return this.#takeBack(task, { type: "stepHeld" });
    if (isDone || task.awaitsGate || !this.#gate.takes(task)) this.#prepare(task);
  }

  /** It has not begun. */
  #takeBack(task: RunningTask, event: { readonly type: "stepHeld" } | Pick<BudgetExhausted, "type" | "message">): void {
    const { run, path, attempt } = task;
    if (!task.isAbandoned) run.apply({ ...event, at: this.#parts.clock.now(), path, attempt });
    this.#land(task);
  }

  #prepare(task: RunningTask): void {
    try {
      const begun = this.#begin(task);
      if (begun instanceof Promise) begun.catch((error: unknown) => this.#failToBegin(task, error));
    } catch (error) {
      this.#failToBegin(task, error);
    }
  }

  /** The process lays its runs down: what was about to begin has not. */
  giveBack(run: LiveRun, { instance, attempt }: StartTask): void {
    if (instance.attempt !== attempt || instance.phase !== "dispatched") return;
    const at = this.#parts.clock.now();
    run.apply({ type: "stepInterrupted", at, path: instance.path, attempt, cause: "parked", hasBegun: false });
  }

  abort(run: LiveRun, path: string, attempt: number): void {
    for (const task of this.#running.values()) {
      if (task.run === run && task.path === path && task.attempt === attempt) this.#stop(task, "cancel");
    }
  }

  /** Tells everything to stop; resolves when nothing flies any more. What may run only once is left to finish until `force`. */
  async parkAll(force: AbortSignal): Promise<void> {
    const stopAll = (isForced: boolean) => {
      for (const task of [...this.#running.values()]) {
        if (isForced || task.step.atMostOnce !== true) this.#stop(task, "park");
      }
    };
    stopAll(force.aborted);
    force.addEventListener("abort", () => stopAll(true), { once: true });
    while (this.#running.size > 0) await new Promise<void>((resolve) => this.#allLanded.push(resolve));
  }

  /** The run has left memory; whatever of it still flies is told to stop. */
  forget(run: LiveRun): void {
    this.#executors.forget(run);
    if (run.state.tasksInFlight === 0) return;
    for (const task of [...this.#running.values()]) {
      if (task.run !== run) continue;
      task.isAbandoned = true;
      task.controller.abort();
      this.#land(task);
    }
  }

  /** Executors let go of what they keep for the run. */
  endRun(run: LiveRun): void {
    this.#executors.endRun(run);
  }

  /** Whatever breaks on the way to the executor is the attempt's failure; the flight lands in every case. */
  #failToBegin(task: RunningTask, error: unknown): void {
    if (isStorageFailure(error)) this.#standStill(task, error);
    else this.#report(task, { ...toFailed(error), effect: "none" });
  }

  /** Nothing can be read or written: the attempt has no outcome, and the run goes on with the next owner. */
  #standStill(task: RunningTask, error: unknown): void {
    this.#land(task);
    this.#parts.broken(task.run, error);
  }

  // The next few do without `andThen`: on the way of every step its closures are a tenth of what the step costs.
  #begin(task: RunningTask): void | Promise<void> {
    const { run, instance, step } = task;
    const from = viewOf(instance);
    const values = run.values.load(from, [step.input]);
    return values instanceof Promise
      ? values.then((loaded) => this.#launch(task, from, loaded))
      : this.#launch(task, from, values);
  }

  #launch(task: RunningTask, from: Viewpoint, values: Values): void | Promise<void> {
    if (task.isAbandoned) return;
    const { run, step } = task;
    task.input = bind({ state: run.state, from, values }, step.input) ?? null;
    task.inputHash = this.#hashOf(JSON.stringify(task.input));
    const answered = answeredKey(task);
    if (answered !== undefined) return this.#goOnAsAnswered(task, answered);
    const isDone = this.#reuse(task);
    if (isDone instanceof Promise) return isDone.then((done) => (done ? undefined : this.#handOver(task)));
    return isDone === true ? undefined : this.#handOver(task);
  }

  #mayReuse({ run, instance }: RunningTask): boolean {
    const outcomes = this.#parts.reusable(run);
    return outcomes !== undefined && findCandidate(outcomes, instance) !== undefined;
  }

  /** A person has said what becomes of the output that a policy has held back: nothing is done again. */
  async #goOnAsAnswered(task: RunningTask, key: string): Promise<void> {
    const { outcome, isEdited } = await readAnswered(task, key);
    task.answered = isEdited ? "edited" : "as it is";
    this.#report(task, outcome);
  }

  #hashOf(text: string): string {
    if (text !== this.#hashed.text) {
      this.#hashed = { text, hash: hash("sha256", text, "base64url").slice(0, 22) };
    }
    return this.#hashed.hash;
  }

  #handOver(task: RunningTask): void | Promise<void> {
    if (task.awaitsGate) {
      task.awaitsGate = false;
      if (task.controller.signal.aborted) return this.#report(task, stoppedOutcome(task.path));
      if (task.onlyReuse) return this.#takeBack(task, { type: "stepHeld" });
      // Its input has changed: it is done again, and comes back here when it may.
      if (this.#gate.takes(task)) return;
    }
    const executor = this.#executors.find(task);
    return executor instanceof Promise
      ? executor.then((found) => this.#noteAndFly(task, found))
      : this.#noteAndFly(task, executor);
  }

  #noteAndFly(task: RunningTask, executor: Executor): void | Promise<void> {
    const noted = this.#noteStart(task, executor);
    return noted instanceof Promise ? noted.then(() => this.#takeOff(task, executor)) : this.#takeOff(task, executor);
  }

  #takeOff(task: RunningTask, executor: Executor): void | Promise<void> {
    return isLastChance(task.instance) ? this.#flyAlone(task, executor) : this.#fly(task, executor);
  }

  /** The outcome of the run that this one repeats, where it still holds: nothing is done or paid. */
  #reuse(task: RunningTask): boolean | Promise<boolean> {
    const { run, instance, inputHash } = task;
    const outcomes = this.#parts.reusable(run);
    if (outcomes === undefined) return false;
    const found = findReusable(outcomes, instance, inputHash);
    if (found === undefined) return false;
    return run.values.readFrom(outcomes.no, found.seq).then((value) => {
      if (task.hasLanded) return true;
      const { attempt, path } = task;
      // What it took and used was booked in the old run.
      const { decided: _, startedAt: __, usage: ___, unpriced: ____, ...event } = found.event;
      const reused = { run: outcomes.run, seq: found.seq };
      run.apply({ ...event, at: this.#parts.clock.now(), path, attempt, costMicro: 0, reused }, value);
      this.#land(task);
      return true;
    });
  }

  #noteStart(task: RunningTask, executor: Executor): void | Promise<void> {
    const { run, attempt, path, startedAt } = task;
    run.notify({ type: "dispatched", path, attempt, at: startedAt });
    const note = () => {
      if (!isLastChance(task.instance)) run.noteStart(task);
    };
    if (!executor.recordsInput) return note();
    return andThen(toStoredValue(task.input, this.#parts.writer), (stored) => {
      if (stored !== "too large") task.startValue = stored.stored;
      note();
    });
  }

  async #flyAlone(task: RunningTask, executor: Executor): Promise<void> {
    const { run, path, attempt } = task;
    const endTurn = await this.#suspectTurns.take();
    if (task.hasLanded || task.controller.signal.aborted) endTurn();
    else {
      task.endTurn = endTurn;
      run.apply({ type: "stepStarted", at: this.#parts.clock.now(), path, attempt }, task.startValue);
      await run.durable();
    }
    if (!task.hasLanded) this.#fly(task, executor);
  }

  #fly(task: RunningTask, executor: Executor): void {
    const { signal } = task.controller;
    if (signal.aborted) return this.#report(task, stoppedOutcome(task.path));
    const { clock } = this.#parts;
    const { timeoutMs } = task;
    const stopClock =
      timeoutMs === undefined ? undefined : clock.wakeAt(clock.now() + timeoutMs, () => this.#stop(task, "timeout"));
    const landed = (outcome: Outcome | Asks) => {
      stopClock?.();
      this.#report(task, outcome);
    };
    try {
      executor.run(task, signal).then(landed, (error: unknown) => landed(toFailed(error)));
    } catch (error) {
      landed(toFailed(error));
    }
  }

  #report(task: RunningTask, outcome: Outcome | Asks): void {
    if (task.hasLanded) return this.#outcomes.bookLate(task, outcome);
    try {
      if (outcome.status === "succeeded" && (outcome.files?.length ?? 0) > 0) return this.#keepFiles(task, outcome);
      const done = this.#outcomes.record(task, outcome);
      if (done instanceof Promise) {
        done.then(
          () => this.#land(task),
          (error: unknown) => this.#reportUnrecordable(task, outcome, error),
        );
      } else this.#land(task);
    } catch (error) {
      this.#reportUnrecordable(task, outcome, error);
    }
  }

  /** An outcome that is recorded has its files. */
  #keepFiles(task: RunningTask, { files = [], ...outcome }: Succeeded): void {
    if (task.isAbandoned) return this.#report(task, outcome);
    const { run, path } = task;
    const { writer, policies } = this.#parts;
    const mask = (text: string) => policies.cleanText(task, writer.mask(text));
    const keeping = { files: this.#parts.files, maxBytes: writer.maxBytes, mask };
    storeFiles(files, { runId: run.runId, path }, keeping).then(
      (dropped) => {
        for (const event of dropped) this.#services.emit(task, { type: "log", event: { ...event } });
        this.#report(task, outcome);
      },
      (error: unknown) => this.#reportUnrecordable(task, outcome, error),
    );
  }

  /** The outcome cannot be recorded as it is, e.g. since a value that a condition reads with it is lost. It is paid for all the same. */
  #reportUnrecordable(task: RunningTask, outcome: Outcome | Asks, error: unknown): void {
    if (isStorageFailure(error)) return this.#standStill(task, error);
    if (!task.isAbandoned) {
      const { run } = task;
      run.dropStart(task);
      const spent = isOutcome(outcome) ? { costMicro: outcome.costMicro } : {};
      const { writer, clock, policies } = this.#parts;
      const failed = policies.cleanFailed(task, { ...toFailed(error), effect: "done", ...spent });
      run.apply(toFailedEvent(task, failed, { at: clock.now(), mask: (text) => writer.mask(text) }).event);
    }
    this.#land(task);
  }

  #stop(task: RunningTask, stop: Stop): void {
    if (task.stop !== undefined) return;
    task.stop = stop;
    task.controller.abort();
    const { clock } = this.#parts;
    task.stopWaiting = clock.wakeAt(clock.now() + STOP_GRACE_MS, () => {
      if (!task.hasLanded) this.#report(task, stoppedOutcome(task.path));
    });
  }

  #land(task: RunningTask): void {
    task.hasLanded = true;
    task.live?.end();
    task.stopWaiting?.();
    task.endTurn?.();
    if (this.#running.get(task.instance) === task) this.#running.delete(task.instance);
    this.#gate.landed(task);
    if (this.#running.size > 0 || this.#allLanded.length === 0) return;
    const waiting = this.#allLanded;
    this.#allLanded = [];
    for (const resolve of waiting) resolve();
  }
}

/** An executor is foreign code: what it returns may be anything. */
function isOutcome(outcome: unknown): outcome is Outcome | Asks {
  return typeof outcome === "object" && outcome !== null && "costMicro" in outcome;
}
