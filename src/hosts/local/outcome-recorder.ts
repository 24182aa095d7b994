import type { Values } from "../../core/binding/bind.ts";
import type { PolicyDecision } from "../../core/graph/policy.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { viewOf } from "../../core/interpreter/lookup.ts";
import type { Verdict } from "../../core/policies/judge-output.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Asks, Failed, Outcome, Succeeded } from "../../ports/executor.ts";
import { andThen } from "./and-then.ts";
import type { Flight } from "./flight.ts";
import { type OutputPolicies, toBlocked } from "./policies/output-policies.ts";
import { OUTPUT_KEY } from "./policies/policy-answer.ts";
import { type Arrival, maskProjection, type Projection, projectionExprs, projectOutput } from "./project-output.ts";
import type { RunDriver } from "./run-driver.ts";
import {
  refuseQuestion,
  timedOut,
  toAskedEvent,
  toFailedEvent,
  tooLarge,
  toSucceededEvent,
} from "./to-outcome-event.ts";
import { type StoredValue, toStoredValue, type ValueWriter } from "./to-value.ts";

export interface OutcomeRecorderParts {
  readonly clock: Clock;
  readonly writer: ValueWriter;
  /** Of what steps bring. */
  readonly policies: OutputPolicies;
  /** A question has been asked, in this turn. */
  asked(driver: RunDriver, instance: Instance, seq: number): void;
}

/**
 * Turns what an executor has brought into the event of its attempt: the output stored, judged by the step's policies, and
 * with it what control reads of it. Without a promise where nothing has to be waited for: every step comes by here.
 */
export class OutcomeRecorder {
  readonly #parts: OutcomeRecorderParts;

  constructor(parts: OutcomeRecorderParts) {
    this.#parts = parts;
  }

  /** The event is applied when it returns, or when its promise resolves. */
  record(flight: Flight, outcome: Outcome | Asks): void | Promise<void> {
    const logged = this.#storeLog(flight);
    return logged instanceof Promise
      ? logged.then(() => this.#conclude(flight, outcome))
      : this.#conclude(flight, outcome);
  }

  /** What came after its attempt had been given up: only its cost counts. */
  bookLate({ driver, path, attempt, reportedMicro }: Flight, outcome: Outcome | Asks): void {
    const costMicro = (outcome.costMicro ?? 0) - reportedMicro;
    if (costMicro <= 0 || driver.state.phase !== "open") return;
    driver.apply({ type: "costReported", at: this.#parts.clock.now(), path, attempt, costMicro });
  }

  #storeLog(flight: Flight): void | Promise<void> {
    const { driver, path, attempt, log } = flight;
    if (log === undefined || flight.isAbandoned) return;
    return andThen(toStoredValue(log, this.#parts.writer), (stored) => {
      if (stored === "too large") return;
      driver.apply({ type: "stepLogged", at: this.#parts.clock.now(), path, attempt }, stored.stored);
    });
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
}
