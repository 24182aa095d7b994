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
import type { BudgetLedger } from "./budgets/budget-ledger.ts";
import { FlightGate } from "./budgets/flight-gate.ts";
import { Flight, type Stop } from "./flight.ts";
import { FlightDesk, type FlightDeskParts } from "./flight-desk.ts";
import { isLastChance, LastChances } from "./last-chance.ts";
import { OutcomeRecorder, type OutcomeRecorderParts } from "./outcome-recorder.ts";
import { answeredKey, readAnswered } from "./policies/policy-answer.ts";
import { findCandidate, findReusable, type ReusableOutcomes } from "./reuse.ts";
import type { RunDriver } from "./run-driver.ts";
import { RunExecutors } from "./run-executors.ts";
import { storeFiles } from "./store-files.ts";
import { stoppedOutcome, toFailed, toFailedEvent } from "./to-outcome-event.ts";
import { toStoredValue } from "./to-value.ts";

type StartTask = Extract<Command, { type: "startTask" }>;

export interface TaskRunnerParts extends FlightDeskParts, OutcomeRecorderParts {
  readonly findExecutor: FindExecutor;
  /** Outcomes of an earlier run that this one may take over. */
  reusable(driver: RunDriver): ReusableOutcomes | undefined;
  /** The run cannot go on in this process. */
  broken(driver: RunDriver, error: unknown): void;
  /** What budgets leave. */
  readonly ledger: BudgetLedger;
}

/** How long an executor may take to come back after it was told to stop; then it is waited for no longer. */
const STOP_GRACE_MS = 5_000;

/** Runs tasks: binds their input, hands them to an executor and times them, until what came of them is recorded. */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #flights = new Map<Instance, Flight>();
  readonly #gate: FlightGate;
  readonly #desk: FlightDesk;
  readonly #outcomes: OutcomeRecorder;
  readonly #executors: RunExecutors;
  readonly #lastChances = new LastChances();
  #allLanded: (() => void)[] = [];
  /** The input before: loops and fan-outs often ask the same again, and hashing is dear right after a commit. */
  #hashed = { text: "", hash: "" };

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
    this.#desk = new FlightDesk(parts);
    this.#outcomes = new OutcomeRecorder(parts);
    this.#executors = new RunExecutors(parts);
    this.#gate = new FlightGate(parts.ledger, {
      go: (flight) => this.#prepare(flight),
      ask: (flight, question) => this.#report(flight, question),
      stopped: (flight) => this.#report(flight, stoppedOutcome(flight.path)),
      hold: (flight) => this.#takeBack(flight, { type: "stepHeld" }),
      stop: (flight, message) => this.#takeBack(flight, { type: "budgetExhausted", message }),
    });
  }

  start(driver: RunDriver, { instance, attempt, maxCostMicro, onlyTakesOver = false }: StartTask): void {
    if (instance.attempt !== attempt || instance.phase !== "dispatched") return;
    const startedAt = this.#parts.clock.now();
    const flight = new Flight(this.#desk, { driver, instance, attempt, startedAt, maxCostMicro, onlyTakesOver });
    this.#flights.set(instance, flight);
    // What a person has answered about is done and paid for.
    const isDone = answeredKey(flight) !== undefined;
    flight.awaitsGate = !isDone && this.#mayTakeOver(flight);
    if (onlyTakesOver && !flight.awaitsGate) return this.#takeBack(flight, { type: "stepHeld" });
    if (isDone || flight.awaitsGate || !this.#gate.takes(flight)) this.#prepare(flight);
  }

  /** It has not begun. */
  #takeBack(flight: Flight, event: { readonly type: "stepHeld" } | Pick<BudgetExhausted, "type" | "message">): void {
    const { driver, path, attempt } = flight;
    if (!flight.isAbandoned) driver.apply({ ...event, at: this.#parts.clock.now(), path, attempt });
    this.#land(flight);
  }

  #prepare(flight: Flight): void {
    try {
      const begun = this.#begin(flight);
      if (begun instanceof Promise) begun.catch((error: unknown) => this.#failToBegin(flight, error));
    } catch (error) {
      this.#failToBegin(flight, error);
    }
  }

  /** The process lays its runs down: what was about to begin has not. */
  giveBack(driver: RunDriver, { instance, attempt }: StartTask): void {
    if (instance.attempt !== attempt || instance.phase !== "dispatched") return;
    const at = this.#parts.clock.now();
    driver.apply({ type: "stepInterrupted", at, path: instance.path, attempt, cause: "parked", hasBegun: false });
  }

  abort(driver: RunDriver, path: string, attempt: number): void {
    for (const flight of this.#flights.values()) {
      if (flight.driver === driver && flight.path === path && flight.attempt === attempt) this.#stop(flight, "cancel");
    }
  }

  /** Tells everything to stop; resolves when nothing flies any more. What may run only once is left to finish until `force`. */
  async parkAll(force: AbortSignal): Promise<void> {
    const stopAll = (isForced: boolean) => {
      for (const flight of [...this.#flights.values()]) {
        if (isForced || flight.step.atMostOnce !== true) this.#stop(flight, "park");
      }
    };
    stopAll(force.aborted);
    force.addEventListener("abort", () => stopAll(true), { once: true });
    while (this.#flights.size > 0) await new Promise<void>((resolve) => this.#allLanded.push(resolve));
  }

  /** The run has left memory; whatever of it still flies is told to stop. */
  forget(driver: RunDriver): void {
    this.#executors.forget(driver);
    if (driver.state.tasksInFlight === 0) return;
    for (const flight of [...this.#flights.values()]) {
      if (flight.driver !== driver) continue;
      flight.isAbandoned = true;
      flight.controller.abort();
      this.#land(flight);
    }
  }

  /** Executors let go of what they keep for the run. */
  endRun(driver: RunDriver): void {
    this.#executors.endRun(driver);
  }

  /** Whatever breaks on the way to the executor is the attempt's failure; the flight lands in every case. */
  #failToBegin(flight: Flight, error: unknown): void {
    if (isStorageFailure(error)) this.#standStill(flight, error);
    else this.#report(flight, { ...toFailed(error), effect: "none" });
  }

  /** Nothing can be read or written: the attempt has no outcome, and the run goes on with the next owner. */
  #standStill(flight: Flight, error: unknown): void {
    this.#land(flight);
    this.#parts.broken(flight.driver, error);
  }

  // The next few do without `andThen`: on the way of every step its closures are a tenth of what the step costs.
  #begin(flight: Flight): void | Promise<void> {
    const { driver, instance, step } = flight;
    const from = viewOf(instance);
    const values = driver.values.load(from, [step.input]);
    return values instanceof Promise
      ? values.then((loaded) => this.#launch(flight, from, loaded))
      : this.#launch(flight, from, values);
  }

  #launch(flight: Flight, from: Viewpoint, values: Values): void | Promise<void> {
    if (flight.isAbandoned) return;
    const { driver, step } = flight;
    flight.input = bind({ state: driver.state, from, values }, step.input) ?? null;
    flight.inputHash = this.#hashOf(JSON.stringify(flight.input));
    const answered = answeredKey(flight);
    if (answered !== undefined) return this.#goOnAsAnswered(flight, answered);
    const isDone = this.#takeOver(flight);
    if (isDone instanceof Promise) return isDone.then((done) => (done ? undefined : this.#handOver(flight)));
    return isDone === true ? undefined : this.#handOver(flight);
  }

  #mayTakeOver({ driver, instance }: Flight): boolean {
    const outcomes = this.#parts.reusable(driver);
    return outcomes !== undefined && findCandidate(outcomes, instance) !== undefined;
  }

  /** A person has said what becomes of the output that a policy has held back: nothing is done again. */
  async #goOnAsAnswered(flight: Flight, key: string): Promise<void> {
    const { outcome, isEdited } = await readAnswered(flight, key);
    flight.answered = isEdited ? "edited" : "as it is";
    this.#report(flight, outcome);
  }

  #hashOf(text: string): string {
    if (text !== this.#hashed.text) {
      this.#hashed = { text, hash: hash("sha256", text, "base64url").slice(0, 22) };
    }
    return this.#hashed.hash;
  }

  #handOver(flight: Flight): void | Promise<void> {
    if (flight.awaitsGate) {
      flight.awaitsGate = false;
      if (flight.controller.signal.aborted) return this.#report(flight, stoppedOutcome(flight.path));
      if (flight.onlyTakesOver) return this.#takeBack(flight, { type: "stepHeld" });
      // Its input has changed: it is done again, and comes back here when it may.
      if (this.#gate.takes(flight)) return;
    }
    const executor = this.#executors.find(flight);
    return executor instanceof Promise
      ? executor.then((found) => this.#noteAndFly(flight, found))
      : this.#noteAndFly(flight, executor);
  }

  #noteAndFly(flight: Flight, executor: Executor): void | Promise<void> {
    const noted = this.#noteStart(flight, executor);
    return noted instanceof Promise
      ? noted.then(() => this.#takeOff(flight, executor))
      : this.#takeOff(flight, executor);
  }

  #takeOff(flight: Flight, executor: Executor): void | Promise<void> {
    return isLastChance(flight.instance) ? this.#flyAlone(flight, executor) : this.#fly(flight, executor);
  }

  /** The outcome of the run that this one repeats, where it still holds: nothing is done or paid. */
  #takeOver(flight: Flight): boolean | Promise<boolean> {
    const { driver, instance, inputHash } = flight;
    const outcomes = this.#parts.reusable(driver);
    if (outcomes === undefined) return false;
    const found = findReusable(outcomes, instance, inputHash);
    if (found === undefined) return false;
    return driver.values.readFrom(outcomes.no, found.seq).then((value) => {
      if (flight.hasLanded) return true;
      const { attempt, path } = flight;
      // What it took and used was booked in the old run.
      const { decided: _, startedAt: __, usage: ___, unpriced: ____, ...event } = found.event;
      const reused = { run: outcomes.run, seq: found.seq };
      driver.apply({ ...event, at: this.#parts.clock.now(), path, attempt, costMicro: 0, reused }, value);
      this.#land(flight);
      return true;
    });
  }

  #noteStart(flight: Flight, executor: Executor): void | Promise<void> {
    const { driver, attempt, path, startedAt } = flight;
    driver.notify({ type: "dispatched", path, attempt, at: startedAt });
    const note = () => {
      if (!isLastChance(flight.instance)) driver.noteStart(flight);
    };
    if (!executor.recordsInput) return note();
    return andThen(toStoredValue(flight.input, this.#parts.writer), (stored) => {
      if (stored !== "too large") flight.startValue = stored.stored;
      note();
    });
  }

  async #flyAlone(flight: Flight, executor: Executor): Promise<void> {
    const { driver, path, attempt } = flight;
    const endTurn = await this.#lastChances.take();
    if (flight.hasLanded || flight.controller.signal.aborted) endTurn();
    else {
      flight.endTurn = endTurn;
      driver.apply({ type: "stepStarted", at: this.#parts.clock.now(), path, attempt }, flight.startValue);
      await driver.durable();
    }
    if (!flight.hasLanded) this.#fly(flight, executor);
  }

  #fly(flight: Flight, executor: Executor): void {
    const { signal } = flight.controller;
    if (signal.aborted) return this.#report(flight, stoppedOutcome(flight.path));
    const { clock } = this.#parts;
    const { timeoutMs } = flight;
    const stopClock =
      timeoutMs === undefined ? undefined : clock.wakeAt(clock.now() + timeoutMs, () => this.#stop(flight, "timeout"));
    const landed = (outcome: Outcome | Asks) => {
      stopClock?.();
      this.#report(flight, outcome);
    };
    try {
      executor.run(flight, signal).then(landed, (error: unknown) => landed(toFailed(error)));
    } catch (error) {
      landed(toFailed(error));
    }
  }

  #report(flight: Flight, outcome: Outcome | Asks): void {
    if (flight.hasLanded) return this.#outcomes.bookLate(flight, outcome);
    try {
      if (outcome.status === "succeeded" && (outcome.files?.length ?? 0) > 0) return this.#keepFiles(flight, outcome);
      const done = this.#outcomes.record(flight, outcome);
      if (done instanceof Promise) {
        done.then(
          () => this.#land(flight),
          (error: unknown) => this.#reportUnrecordable(flight, outcome, error),
        );
      } else this.#land(flight);
    } catch (error) {
      this.#reportUnrecordable(flight, outcome, error);
    }
  }

  /** An outcome that is recorded has its files. */
  #keepFiles(flight: Flight, { files = [], ...outcome }: Succeeded): void {
    if (flight.isAbandoned) return this.#report(flight, outcome);
    const { driver, path } = flight;
    const { writer, policies } = this.#parts;
    const mask = (text: string) => policies.cleanText(flight, writer.mask(text));
    const keeping = { files: this.#parts.files, maxBytes: writer.maxBytes, mask };
    storeFiles(files, { runId: driver.runId, path }, keeping).then(
      (dropped) => {
        for (const event of dropped) this.#desk.emit(flight, { type: "log", event: { ...event } });
        this.#report(flight, outcome);
      },
      (error: unknown) => this.#reportUnrecordable(flight, outcome, error),
    );
  }

  /** The outcome cannot be recorded as it is, e.g. since a value that a condition reads with it is lost. It is paid for all the same. */
  #reportUnrecordable(flight: Flight, outcome: Outcome | Asks, error: unknown): void {
    if (isStorageFailure(error)) return this.#standStill(flight, error);
    if (!flight.isAbandoned) {
      const { driver } = flight;
      driver.dropStart(flight);
      const spent = isOutcome(outcome) ? { costMicro: outcome.costMicro } : {};
      const { writer, clock, policies } = this.#parts;
      const failed = policies.cleanFailed(flight, { ...toFailed(error), effect: "done", ...spent });
      driver.apply(toFailedEvent(flight, failed, { at: clock.now(), mask: (text) => writer.mask(text) }).event);
    }
    this.#land(flight);
  }

  #stop(flight: Flight, stop: Stop): void {
    if (flight.stop !== undefined) return;
    flight.stop = stop;
    flight.controller.abort();
    const { clock } = this.#parts;
    flight.stopWaiting = clock.wakeAt(clock.now() + STOP_GRACE_MS, () => {
      if (!flight.hasLanded) this.#report(flight, stoppedOutcome(flight.path));
    });
  }

  #land(flight: Flight): void {
    flight.hasLanded = true;
    flight.live?.end();
    flight.stopWaiting?.();
    flight.endTurn?.();
    if (this.#flights.get(flight.instance) === flight) this.#flights.delete(flight.instance);
    this.#gate.landed(flight);
    if (this.#flights.size > 0 || this.#allLanded.length === 0) return;
    const waiting = this.#allLanded;
    this.#allLanded = [];
    for (const resolve of waiting) resolve();
  }
}

/** An executor is foreign code: what it returns may be anything. */
function isOutcome(outcome: unknown): outcome is Outcome | Asks {
  return typeof outcome === "object" && outcome !== null && "costMicro" in outcome;
}
