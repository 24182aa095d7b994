import { hash } from "node:crypto";
import type { Values } from "../../core/binding/bind.ts";
import { ChurnMap } from "../../core/churn-map.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Command } from "../../core/history/commands.ts";
import type { BudgetExhausted } from "../../core/history/events.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { isSuspect } from "../../core/interpreter/attempt/crashes.ts";
import { type Viewpoint, viewOf } from "../../core/interpreter/lookup.ts";
import type { Json } from "../../core/json.ts";
import type { Asks, Executor, Outcome } from "../../ports/executor.ts";
import type { BudgetView } from "../../ports/waits.ts";
import type { FindExecutor } from "../executors.ts";
import type { BudgetLedger } from "./budgets/budget-ledger.ts";
import { type Answer, BudgetLine } from "./budgets/budget-line.ts";
import { explainShort } from "./budgets/explain-account.ts";
import type { LiveRun } from "./live-run.ts";
import { OutcomeRecorder, type OutcomeRecorderParts } from "./outcome-recorder.ts";
import { answeredKey, readAnswered } from "./policies/policy-answer.ts";
import { mayReuse, reuseOutcome } from "./reuse/reuse.ts";
import { toFailed } from "./tasks/outcome-events.ts";
import { RunExecutors } from "./tasks/run-executors.ts";
import { RunningTask, type Stop, stoppedOutcome, type TaskParts } from "./tasks/running-task.ts";
import { storeProducedFiles } from "./tasks/store-files.ts";
import { SuspectFlights } from "./tasks/suspect-flights.ts";
import { bindTask } from "./values/bind-step.ts";
import { toStoredValue, whenLoaded } from "./values/stored-value.ts";

type StartTask = Extract<Command, { type: "startTask" }>;

export interface TaskRunnerParts extends TaskParts, OutcomeRecorderParts {
  readonly findExecutor: FindExecutor;
  /** The run cannot go on in this process. */
  broken(run: LiveRun, error: unknown): void;
  readonly ledger: BudgetLedger;
  /** A task is about to be given these: they are masked from now on. */
  learnSecrets(run: LiveRun, values: readonly string[]): void;
}

/** How long an executor may take to return after it was told to stop. Then it is no longer waited for. */
const STOP_GRACE_MS = 5_000;

/**
 * Runs tasks, in this order: an outcome of an earlier run, the budgets, the bound input, the executor with a time-out, the
 * recorded outcome. What is in memory waits for no turn of the event loop, so several steps return a promise only if they must.
 */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #running = new ChurnMap<Instance, RunningTask>();
  readonly #line: BudgetLine;
  readonly #outcomes: OutcomeRecorder;
  readonly #executors: RunExecutors;
  readonly #suspects: SuspectFlights;
  #idle: (() => void)[] = [];
  readonly #inputHash = new InputHash();

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
    this.#outcomes = new OutcomeRecorder(parts);
    this.#executors = new RunExecutors(parts);
    this.#suspects = new SuspectFlights(parts.clock);
    this.#line = new BudgetLine(parts.ledger, parts.clock);
  }

  start(run: LiveRun, { instance, attempt, onlyReuse = false }: StartTask): void {
    if (instance.attempt !== attempt || instance.phase !== "dispatched") return;
    const startedAt = this.#parts.clock.now();
    const task = new RunningTask(this.#parts, { run, instance, attempt, startedAt, line: this.#line, onlyReuse });
    this.#running.set(instance, task);
    // The work that a person has answered about is done and paid for.
    const isDone = answeredKey(task) !== undefined;
    task.awaitsBudget = !isDone && mayReuse(run.reusable, instance);
    if (onlyReuse && !task.awaitsBudget) return this.#takeBack(task, { type: "stepHeld" });
    if (isDone || task.awaitsBudget || !this.#line.limits(task)) this.#prepare(task);
    else this.#line.enter({ task, end: (answer) => this.#begin(task, answer) });
  }

  /** The budgets of its run have decided. */
  #begin(task: RunningTask, answer: Answer): void {
    switch (answer.kind) {
      case "go":
        return this.#prepare(task);
      case "hold":
        return this.#takeBack(task, { type: "stepHeld" });
      case "stopped":
        return this.#report(task, stoppedOutcome(task.path));
      case "short": {
        const question = this.#line.questionOf(task, answer.short);
        if (question !== undefined) return this.#report(task, question);
        return this.#takeBack(task, { type: "budgetExhausted", message: explainShort(answer.short) });
      }
    }
  }

  #prepare(task: RunningTask): void {
    try {
      const begun = this.#loadInput(task);
      if (begun instanceof Promise) begun.catch((error: unknown) => this.#failToBegin(task, error));
    } catch (error) {
      this.#failToBegin(task, error);
    }
  }

  #loadInput(task: RunningTask): void | Promise<void> {
    const from = viewOf(task.instance);
    const values = task.run.values.load(from, [task.step.input]);
    return values instanceof Promise
      ? values.then((loaded) => this.#bindInput(task, from, loaded))
      : this.#bindInput(task, from, values);
  }

  #bindInput(task: RunningTask, from: Viewpoint, values: Values): void | Promise<void> {
    if (task.isAbandoned) return;
    const { run, step, instance } = task;
    task.bound = bindTask(run, instance, step, from, values);
    task.inputHash = this.#inputHash.of(writeExact(task.input));
    const answered = answeredKey(task);
    if (answered !== undefined) return this.#goOnAsAnswered(task, answered);
    const reused = reuseOutcome(run.reusable, instance, task.inputHash);
    if (reused === undefined) return this.#handOver(task);
    return reused.then(({ event, value }) => {
      if (task.hasEnded) return;
      run.apply({ ...event, at: this.#parts.clock.now(), attempt: task.attempt }, value);
      this.#end(task);
    });
  }

  /** A person has decided about the output that a policy has held back: nothing is done again. */
  async #goOnAsAnswered(task: RunningTask, key: string): Promise<void> {
    const { outcome, isEdited } = await readAnswered(task, key);
    task.answered = isEdited ? "edited" : "as it is";
    this.#report(task, outcome);
  }

  #handOver(task: RunningTask): void | Promise<void> {
    if (task.awaitsBudget) {
      task.awaitsBudget = false;
      if (task.controller.signal.aborted) return this.#report(task, stoppedOutcome(task.path));
      if (task.onlyReuse) return this.#takeBack(task, { type: "stepHeld" });
      // Its input has changed, so it is done again once the budgets allow it.
      if (this.#line.limits(task)) return this.#line.enter({ task, end: (answer) => this.#begin(task, answer) });
    }
    const executor = this.#executors.find(task);
    return executor instanceof Promise
      ? executor.then((found) => this.#noteStart(task, found))
      : this.#noteStart(task, executor);
  }

  #noteStart(task: RunningTask, executor: Executor): void | Promise<void> {
    const { run, attempt, path, startedAt } = task;
    run.notify({ type: "dispatched", path, attempt, at: startedAt });
    const recorded = executor.toRecorded?.(task);
    if (recorded === undefined) return this.#storeInput(task, executor, task.input);
    return recorded.then((input) => this.#storeInput(task, executor, input));
  }

  #storeInput(task: RunningTask, executor: Executor, input: Json): void | Promise<void> {
    if (!executor.recordsInput) return this.#execute(task, executor);
    return whenLoaded(toStoredValue(input, this.#parts.writer, task.run), (written) => {
      if (written !== "too large") task.startValue = written;
      return this.#execute(task, executor);
    });
  }

  #execute(task: RunningTask, executor: Executor): void | Promise<void> {
    if (!isSuspect(task.instance)) {
      task.run.noteStart(task);
      return this.#runExecutor(task, executor);
    }
    return this.#suspects.take(task).then(() => {
      if (!task.hasEnded) this.#runExecutor(task, executor);
    });
  }

  #runExecutor(task: RunningTask, executor: Executor): void {
    const { signal } = task.controller;
    if (signal.aborted) return this.#report(task, stoppedOutcome(task.path));
    try {
      task.giveVariables((secrets) => this.#parts.learnSecrets(task.run, secrets));
    } catch (error) {
      return this.#failToBegin(task, error);
    }
    task.startTimeout(() => this.#stop(task, "timeout"));
    const done = (outcome: Outcome | Asks) => {
      task.stopTimeout();
      this.#report(task, outcome);
    };
    const fail = (error: unknown) => {
      task.loseCalls();
      done(toFailed(error));
    };
    try {
      executor.run(task, signal).then(done, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Records the outcome, whose files are stored before it. */
  #report(task: RunningTask, reported: Outcome | Asks): void {
    if (task.hasEnded) return this.#outcomes.bookLate(task, reported);
    if (task.isHeldBack && task.stop === undefined) return this.#takeBack(task, { type: "stepHeld" });
    const outcome = this.#askForMore(task, reported);
    try {
      const stored = storeProducedFiles(task, outcome, this.#parts);
      if (stored !== undefined) return this.#await(stored, task, outcome, (rest) => this.#report(task, rest));
      const recorded = this.#outcomes.record(task, outcome);
      if (recorded instanceof Promise) this.#await(recorded, task, outcome, () => this.#end(task));
      else this.#end(task);
    } catch (error) {
      this.#failToRecord(task, outcome, error);
    }
  }

  /** An attempt that a budget has too little for asks a person, if the budget does and the attempt may go on afterwards. */
  #askForMore(task: RunningTask, outcome: Outcome | Asks): Outcome | Asks {
    if (task.short === undefined || outcome.status !== "failed" || outcome.outspent === undefined) return outcome;
    if (task.stop !== undefined) return outcome;
    const mayGoOn = outcome.outspent.goesOn || task.step.atMostOnce !== true || outcome.effect === "none";
    const question = mayGoOn ? this.#line.questionOf(task, task.short) : undefined;
    const { costMicro, usage } = outcome;
    return question === undefined ? outcome : { ...question, costMicro, ...(usage === undefined ? {} : { usage }) };
  }

  #await<T>(promise: Promise<T>, task: RunningTask, outcome: Outcome | Asks, then: (value: T) => void): void {
    promise.then(then, (error: unknown) => this.#failToRecord(task, outcome, error));
  }

  #end(task: RunningTask): void {
    task.hasEnded = true;
    task.live?.end();
    task.stopWaiting?.();
    task.endTurn?.();
    if (this.#running.get(task.instance) === task) this.#running.delete(task.instance);
    this.#line.ended(task);
    if (this.#running.size > 0 || this.#idle.length === 0) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }

  /** Anything that breaks on the way to the executor is the attempt's failure. */
  #failToBegin(task: RunningTask, error: unknown): void {
    if (isStorageFailure(error)) this.#standStill(task, error);
    else this.#report(task, { ...toFailed(error), effect: "none" });
  }

  #failToRecord(task: RunningTask, outcome: Outcome | Asks, error: unknown): void {
    if (isStorageFailure(error)) return this.#standStill(task, error);
    if (!task.isAbandoned) this.#outcomes.recordUnrecordable(task, outcome, error);
    this.#end(task);
  }

  /** Nothing can be read or written: the attempt has no outcome, and the run goes on with the next owner. */
  #standStill(task: RunningTask, error: unknown): void {
    this.#end(task);
    this.#parts.broken(task.run, error);
  }

  /** The attempt has not begun, and the core gets it back. */
  #takeBack(task: RunningTask, event: { readonly type: "stepHeld" } | Pick<BudgetExhausted, "type" | "message">): void {
    const { run, path, attempt } = task;
    if (!task.isAbandoned) run.apply({ ...event, at: this.#parts.clock.now(), path, attempt });
    this.#end(task);
  }

  /** The process parks its runs: an attempt that was about to begin is given back. */
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

  #stop(task: RunningTask, stop: Stop): void {
    if (task.stop !== undefined) return;
    task.stop = stop;
    task.controller.abort();
    const { clock } = this.#parts;
    task.stopWaiting = clock.wakeAt(clock.now() + STOP_GRACE_MS, () => {
      if (!task.hasEnded) this.#report(task, stoppedOutcome(task.path));
    });
  }

  /** Tells all tasks to stop, and resolves when none runs any more. Steps that may run only once may finish until `force`. */
  async parkAll(force: AbortSignal): Promise<void> {
    const stopAll = (isForced: boolean) => {
      for (const task of [...this.#running.values()]) {
        if (isForced || task.step.atMostOnce !== true || task.isWaiting) this.#stop(task, "park");
      }
    };
    stopAll(force.aborted);
    force.addEventListener("abort", () => stopAll(true), { once: true });
    while (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  budgetView(runs: readonly string[]): BudgetView {
    return this.#line.view(new Set(runs));
  }

  /** Something of the run is in flight, or may yet say what it has cost. */
  isBusyWith(run: LiveRun): boolean {
    return run.state.tasksInFlight > 0 || [...this.#running.values()].some((task) => task.run === run);
  }

  /** The run has left memory; its tasks that still run are told to stop. */
  forget(run: LiveRun): void {
    this.#executors.forget(run);
    if (run.state.tasksInFlight === 0) return;
    for (const task of [...this.#running.values()]) {
      if (task.run !== run) continue;
      task.isAbandoned = true;
      task.controller.abort();
      this.#end(task);
    }
  }

  /** Executors release what they keep for the run. */
  endRun(run: LiveRun): void {
    this.#executors.endRun(run);
  }
}

/** Hashes bound inputs. The last one is remembered: loops and fan-outs often ask the same again, and hashing is expensive right after a commit. */
class InputHash {
  #last = { text: "", hash: "" };

  of(text: string): string {
    if (text !== this.#last.text) this.#last = { text, hash: hash("sha256", text, "base64url").slice(0, 22) };
    return this.#last.hash;
  }
}
