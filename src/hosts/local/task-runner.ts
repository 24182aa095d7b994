import { hash } from "node:crypto";
import { bind, type Values } from "../../core/binding/bind.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { PolicyDecision } from "../../core/graph/policy.ts";
import type { Command } from "../../core/history/commands.ts";
import type { BudgetExhausted } from "../../core/history/events.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { type Viewpoint, viewOf } from "../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Verdict } from "../../core/policies/judge-output.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Asks, Executor, Failed, Outcome, Progress, Succeeded } from "../../ports/executor.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { FindExecutor } from "../executors.ts";
import { filesOfTenant } from "../tenant-files.ts";
import { andThen } from "./and-then.ts";
import type { BudgetLedger } from "./budgets/budget-ledger.ts";
import { FlightGate } from "./budgets/flight-gate.ts";
import { Flight, type FlightControl, type Stop } from "./flight.ts";
import { isStorageFailure } from "./is-storage-failure.ts";
import { isLastChance, LastChances } from "./last-chance.ts";
import { LiveText, type PieceMask } from "./live-text.ts";
import { maskJson } from "./mask-json.ts";
import { type OutputPolicies, toBlocked } from "./policies/output-policies.ts";
import { answeredKey, OUTPUT_KEY, readAnswered } from "./policies/policy-answer.ts";
import { type Arrival, maskProjection, type Projection, projectionExprs, projectOutput } from "./project-output.ts";
import { findCandidate, findReusable, type ReusableOutcomes } from "./reuse.ts";
import type { RunDriver } from "./run-driver.ts";
import { storeFiles } from "./store-files.ts";
import {
  refuseQuestion,
  stoppedOutcome,
  timedOut,
  toAskedEvent,
  toFailed,
  toFailedEvent,
  tooLarge,
  toSucceededEvent,
} from "./to-outcome-event.ts";
import { type StoredValue, toStoredValue, type ValueWriter } from "./to-value.ts";

type StartTask = Extract<Command, { type: "startTask" }>;

export interface TaskRunnerParts {
  readonly clock: Clock;
  /** Where what steps produce becomes artifacts. */
  readonly files: FileStorage;
  readonly writer: ValueWriter;
  /** For each text that comes in pieces. */
  maskPieces(): PieceMask;
  readonly findExecutor: FindExecutor;
  /** Outcomes of an earlier run that this one may take over. */
  reusable(driver: RunDriver): ReusableOutcomes | undefined;
  /** A question has been asked, in this turn. */
  asked(driver: RunDriver, instance: Instance, seq: number): void;
  /** The run cannot go on in this process. */
  broken(driver: RunDriver, error: unknown): void;
  /** What budgets leave. */
  readonly ledger: BudgetLedger;
  /** Of what steps bring. */
  readonly policies: OutputPolicies;
}

/** How long an executor may take to come back after it was told to stop; then it is waited for no longer. */
const STOP_GRACE_MS = 5_000;
const MAX_LOG_ENTRIES = 10_000;

/** Runs tasks: binds their input, hands them to an executor, times them, and turns outcomes into events. */
export class TaskRunner implements FlightControl {
  readonly #parts: TaskRunnerParts;
  readonly #flights = new Map<Instance, Flight>();
  readonly #gate: FlightGate;
  readonly #executors = new Map<RunDriver, Map<string, Executor | Promise<Executor>>>();
  /** Executors that want to know when a run ends, by its id: a run may leave memory and come back before that. */
  readonly #keepers = new Map<string, Set<Executor>>();
  readonly #lastChances = new LastChances();
  #allLanded: (() => void)[] = [];
  /** The input before: loops and fan-outs often ask the same again, and hashing is dear right after a commit. */
  #hashed = { text: "", hash: "" };

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
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
    const flight = new Flight(this, { driver, instance, attempt, startedAt, maxCostMicro, onlyTakesOver });
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
    this.#executors.delete(driver);
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
    const { runId, options, state } = driver;
    const keepers = this.#keepers.get(runId);
    this.#keepers.delete(runId);
    const status = state.ending?.status;
    if (keepers === undefined || status === undefined) return;
    for (const keeper of keepers) {
      keeper.runEnded?.({ runId, status, options }).catch((error: unknown) => this.#parts.broken(driver, error));
    }
  }

  filesFor({ driver }: Flight): FileStorage {
    return filesOfTenant(this.#parts.files, driver.tenantId);
  }

  emit(flight: Flight, progress: Progress): void {
    const { driver, path, attempt } = flight;
    if (flight.isAbandoned) return;
    if (progress.type === "cost") {
      flight.reportedMicro += progress.costMicro;
      driver.apply({ type: "costReported", at: this.#parts.clock.now(), path, attempt, costMicro: progress.costMicro });
      return;
    }
    if (progress.type === "call") return driver.noteCall({ ...progress.call, path, attempt });
    if (progress.type === "live") return this.#showLive(flight, progress.event);
    flight.log ??= [];
    const event = this.#parts.policies.clean(flight, progress.event);
    if (flight.log.length < MAX_LOG_ENTRIES) flight.log.push(event);
    if (driver.isWatched) driver.notify({ type: "progress", path, attempt, event: this.#masked(event) });
  }

  /** Nobody watches: nothing is kept for whoever comes later. */
  #showLive(flight: Flight, event: JsonObject): void {
    const { driver, path, attempt } = flight;
    // Text that comes in pieces cannot be searched.
    if (!driver.isWatched || this.#parts.policies.redacts(flight)) return;
    const { writer, maskPieces } = this.#parts;
    flight.live ??= new LiveText({ whole: (text) => writer.mask(text), text: maskPieces() }, (shown) =>
      driver.notify({ type: "live", path, attempt, event: shown }),
    );
    flight.live.show(event);
  }

  #masked(event: Json): Json {
    return maskJson(event, (text) => this.#parts.writer.mask(text)).value;
  }

  async record(flight: Flight, key: string, value: Json): Promise<void> {
    const { driver, path, attempt } = flight;
    const stored = await toStoredValue(this.#parts.policies.clean(flight, value), this.#parts.writer);
    if (stored === "too large") {
      throw new PawlError("OUTPUT_TOO_LARGE", { message: `The record "${key}" of "${path}" is too large.` });
    }
    if (driver.isDiscarded) throw new PawlError("OWNER_GONE", { message: `"${path}" is no longer driven here.` });
    driver.apply({ type: "stepRecorded", at: this.#parts.clock.now(), path, attempt, key }, stored.stored);
    await driver.durable();
  }

  async recorded({ driver, instance }: Flight, key: string): Promise<Json | undefined> {
    const seq = instance.records?.get(key);
    if (seq === undefined) return undefined;
    const values = await driver.values.load(viewOf(instance), [], new Set([seq]));
    return values.value(seq);
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
    const executor = this.#executorOf(flight);
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

  #executorOf({ driver, step, settings }: Flight): Executor | Promise<Executor> {
    const known = this.#executors.get(driver) ?? new Map<string, Executor | Promise<Executor>>();
    this.#executors.set(driver, known);
    const executor = known.get(step.executor);
    if (executor !== undefined) return executor;
    const finding = this.#parts.findExecutor(step.executor, { options: driver.options, settings });
    known.set(step.executor, finding);
    finding.then(
      (found) => {
        known.set(step.executor, found);
        if (found.runEnded !== undefined) this.#noteKeeper(driver.runId, found);
      },
      () => known.delete(step.executor),
    );
    return finding;
  }

  #noteKeeper(runId: string, executor: Executor): void {
    const keepers = this.#keepers.get(runId);
    if (keepers === undefined) this.#keepers.set(runId, new Set([executor]));
    else keepers.add(executor);
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
    if (flight.hasLanded) return this.#bookLate(flight, outcome);
    try {
      if (outcome.status === "succeeded" && (outcome.files?.length ?? 0) > 0) return this.#keepFiles(flight, outcome);
      const logged = this.#storeLog(flight);
      const done =
        logged instanceof Promise
          ? logged.then(() => this.#conclude(flight, outcome))
          : this.#conclude(flight, outcome);
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
        for (const event of dropped) this.emit(flight, { type: "log", event: { ...event } });
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

  /** Whoever was told to stop and yet succeeded has succeeded. */
  #conclude(flight: Flight, outcome: Outcome | Asks): void | Promise<void> {
    if (outcome.status === "failed") return this.#fail(flight, outcome);
    if (outcome.status === "asks") return this.#ask(flight, outcome);
    const verdict = this.#parts.policies.judge(flight, outcome);
    return verdict === undefined ? this.#keep(flight, outcome) : this.#obey(flight, outcome, verdict);
  }

  #obey(flight: Flight, outcome: Succeeded, { output, decisions, blockedBy, asks }: Verdict): void | Promise<void> {
    if (decisions.length > 0) flight.decisions = decisions;
    // Its work is done: not even who was told to stop does it again.
    if (blockedBy !== undefined) return this.#failForGood(flight, toBlocked(flight, outcome, blockedBy));
    const allowed = { ...outcome, output };
    return asks === undefined ? this.#keep(flight, allowed) : this.#holdOutput(flight, allowed, asks);
  }

  /** The output waits as a record of the step, in the commit of the question about it. */
  #holdOutput(flight: Flight, outcome: Succeeded, decision: PolicyDecision): void | Promise<void> {
    return andThen(toStoredValue(outcome.output, this.#parts.writer), (held) => {
      if (held === "too large") return this.#fail(flight, tooLarge(outcome, this.#parts.writer.maxBytes));
      return this.#ask(flight, this.#parts.policies.toQuestion(flight, outcome, decision), held.stored);
    });
  }

  #keep(flight: Flight, outcome: Succeeded): void | Promise<void> {
    const stored = toStoredValue(outcome.output, this.#parts.writer);
    if (stored === "too large") return this.#fail(flight, tooLarge(outcome, this.#parts.writer.maxBytes));
    return stored instanceof Promise
      ? stored.then((written) => this.#projectAndSucceed(flight, outcome, written))
      : this.#projectAndSucceed(flight, outcome, stored);
  }

  #projectAndSucceed(flight: Flight, outcome: Succeeded, stored: StoredValue): void | Promise<void> {
    const values = this.#projectionValues(flight);
    return values instanceof Promise
      ? values.then((loaded) => this.#succeed(flight, { outcome, stored, values: loaded }))
      : this.#succeed(flight, { outcome, stored, values });
  }

  #succeed(flight: Flight, done: { outcome: Succeeded; stored: StoredValue; values: Values }): void {
    if (flight.isAbandoned) return;
    const { driver } = flight;
    const { value, bytes, stored } = done.stored;
    driver.dropStart(flight);
    const projection = this.#project(flight, done.values, { output: value, hasFailed: false });
    const isEmpty = value === null;
    const at = this.#parts.clock.now();
    const event = toSucceededEvent(flight, done.outcome, { at, isEmpty, projection });
    const seq = driver.apply(event, isEmpty ? undefined : stored);
    this.#parts.policies.tellAlerts(flight, at);
    if (!isEmpty && flight.instance.step.isRead) driver.values.keep(seq, value, bytes);
    if (projection.assigned !== undefined) driver.values.keepAssigned(seq, projection.assigned);
  }

  /** Whoever was told to stop and yet has come to a question has stopped well: it waits for its answer. */
  #ask(flight: Flight, asks: Asks, held?: string): void | Promise<void> {
    const refusal = refuseQuestion(flight, asks);
    if (refusal !== undefined) return this.#fail(flight, refusal);
    const { writer, clock, policies } = this.#parts;
    const outcome = policies.cleanAsks(flight, asks);
    return andThen(toStoredValue(outcome.show, writer), (shown) => {
      if (shown === "too large") return this.#fail(flight, tooLarge(outcome, writer.maxBytes));
      if (flight.isAbandoned) return;
      const { driver, path, attempt } = flight;
      const at = clock.now();
      driver.dropStart(flight);
      if (held !== undefined) driver.apply({ type: "stepRecorded", at, path, attempt, key: OUTPUT_KEY }, held);
      const event = toAskedEvent(flight, outcome, { at, mask: (text) => writer.mask(text) });
      const seq = driver.apply(event, shown.stored);
      driver.values.keep(seq, shown.value, shown.bytes);
      policies.tellAlerts(flight, at);
      this.#parts.asked(driver, flight.instance, seq);
    });
  }

  #fail(flight: Flight, outcome: Failed): void | Promise<void> {
    if (flight.isAbandoned) return;
    if (flight.stop === "park") {
      flight.driver.dropStart(flight);
      return this.#layDown(flight, outcome);
    }
    return this.#failForGood(flight, flight.stop === "timeout" ? { ...outcome, ...timedOut(flight) } : outcome);
  }

  #failForGood(flight: Flight, outcome: Failed): void | Promise<void> {
    if (flight.isAbandoned) return;
    const { driver } = flight;
    const { writer, clock, policies } = this.#parts;
    driver.dropStart(flight);
    const at = clock.now();
    const told = policies.cleanFailed(flight, outcome);
    const { event, details, error } = toFailedEvent(flight, told, { at, mask: (text) => writer.mask(text) });
    return andThen(this.#projectionValues(flight), (values) => {
      driver.apply({ ...event, ...this.#project(flight, values, { output: { error }, hasFailed: true }) }, details);
      policies.tellAlerts(flight, at);
    });
  }

  #project({ driver, instance }: Flight, values: Values, arrival: Arrival): Projection {
    const projection = projectOutput(driver.state, instance, values, arrival);
    return projection.projected === undefined && projection.assigned === undefined
      ? projection
      : maskProjection(projection, (text) => this.#parts.writer.mask(text));
  }

  /** The attempt is given back on purpose: it is paid for, and neither failed nor done. */
  #layDown({ driver, path, attempt, reportedMicro }: Flight, { costMicro }: Failed): void {
    const at = this.#parts.clock.now();
    const rest = (costMicro ?? 0) - reportedMicro;
    if (rest > 0) driver.apply({ type: "costReported", at, path, attempt, costMicro: rest });
    driver.apply({ type: "stepInterrupted", at, path, attempt, cause: "parked" });
  }

  #projectionValues({ driver, instance }: Flight): Values | Promise<Values> {
    return driver.values.load(viewOf(instance), projectionExprs(instance));
  }

  #storeLog(flight: Flight): void | Promise<void> {
    const { driver, path, attempt, log } = flight;
    if (log === undefined || flight.isAbandoned) return;
    return andThen(toStoredValue(log, this.#parts.writer), (stored) => {
      if (stored === "too large") return;
      driver.apply({ type: "stepLogged", at: this.#parts.clock.now(), path, attempt }, stored.stored);
    });
  }

  #bookLate({ driver, path, attempt, reportedMicro }: Flight, outcome: Outcome | Asks): void {
    const costMicro = (outcome.costMicro ?? 0) - reportedMicro;
    if (costMicro <= 0 || driver.state.phase !== "open") return;
    driver.apply({ type: "costReported", at: this.#parts.clock.now(), path, attempt, costMicro });
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
