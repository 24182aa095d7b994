import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { ApproveStep, CallStep, RespondStep, SetStep, WaitStep } from "../../core/graph/graph.ts";
import { indexGraph } from "../../core/graph/indexed-graph.ts";
import type { Command } from "../../core/history/commands.ts";
import type { Instance } from "../../core/history/run-state.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CompiledDefinition } from "../compiled-definition.ts";
import { bindAll, outcomeArrival, projectValue } from "./bind-step.ts";
import { findInputSecrets } from "./find-input-secrets.ts";
import { inputProjection, type TextTools } from "./input-projection.ts";
import { type Pinned, pinDefinition } from "./pin-definition.ts";
import { type Arrival, maskProjection, type Projection } from "./project-output.ts";
import { type AskedBefore, findAnswer, type ReusableOutcomes } from "./reuse.ts";
import type { RunDriver } from "./run-driver.ts";
import { findMaskedLeaves, hideLeaves, type SecretLeaf } from "./secret-leaves.ts";
import type { TaskRunner } from "./task-runner.ts";
import { toStoredValue, type ValueWriter } from "./to-value.ts";

export interface PerformerParts {
  readonly clock: Clock;
  readonly writer: ValueWriter;
  readonly tasks: TaskRunner;
  readonly tools: TextTools;
  resolveCall: ResolveCall;
  /** For as long as the run goes on, masked everywhere else; as it may be stored. Undefined: it cannot be. */
  keepSecrets(driver: RunDriver, leaves: readonly SecretLeaf[]): string | undefined;
  /** Outcomes of an earlier run that this one may take over. */
  reusable(driver: RunDriver): ReusableOutcomes | undefined;
  startTimer(driver: RunDriver, timer: string, at: number): void;
  stopTimer(driver: RunDriver, timer: string): void;
  /** A question has been asked, in this turn. */
  asked(driver: RunDriver, instance: Instance, seq: number): void;
  finishRun(driver: RunDriver, command: Extract<Command, { type: "finishRun" }>): Promise<void>;
  /** A defect in the host: the run cannot go on in this process. */
  broken(driver: RunDriver, error: unknown): void;
}

/** Finds the workflow that a step calls and checks its input. Throws `WORKFLOW_NOT_FOUND`, `DEFINITION_INVALID`, `INPUT_INVALID`. */
export type ResolveCall = (call: {
  readonly workflow: Json;
  readonly input: Json;
  /** What the step says about the call beside its input. */
  readonly terms?: Json;
  readonly options: JsonObject;
  /** Whose run calls. */
  readonly tenantId?: string | undefined;
  /** The name comes from an input or an output, and not from whoever wrote the workflow. */
  readonly isComputed: boolean;
}) => Promise<{
  readonly definition: CompiledDefinition;
  readonly input: JsonObject;
  /** How long the called run may take. */
  readonly timeoutMs?: number;
}>;

type Binding = { readonly instance: Instance; readonly attempt: number };

/** Performs what the core wishes, after the commit that made it so. */
export class CommandPerformer {
  readonly #parts: PerformerParts;

  constructor(parts: PerformerParts) {
    this.#parts = parts;
  }

  perform(driver: RunDriver, command: Command): void {
    switch (command.type) {
      case "startTask":
        this.#parts.tasks.start(driver, command);
        return;
      case "abortTask":
        this.#parts.tasks.abort(driver, command.path, command.attempt);
        return;
      case "startTimer":
        this.#parts.startTimer(driver, command.timer, command.at);
        return;
      case "stopTimer":
        this.#parts.stopTimer(driver, command.timer);
        return;
      case "evaluateStep":
        this.#bound(driver, command, () => this.#evaluate(driver, command));
        return;
      case "projectStep":
        this.#bound(driver, command, () => this.#project(driver, command));
        return;
      case "resolveCall":
        this.#bound(driver, command, () => this.#resolveCall(driver, command));
        return;
      case "askApproval":
        this.#bound(driver, command, () => this.#askApproval(driver, command));
        return;
      case "beginWait":
        this.#bound(driver, command, () => this.#beginWait(driver, command));
        return;
      case "finishRun":
        void this.#parts.finishRun(driver, command).catch((error: unknown) => this.#parts.broken(driver, error));
        return;
    }
  }

  /** What a user's definition gets wrong fails the step; anything else is a defect. */
  #bound(driver: RunDriver, binding: Binding, work: () => Promise<void>): void {
    const broken = (error: unknown) => this.#parts.broken(driver, error);
    work()
      .catch(async (error: unknown) => {
        if (isOfTheDefinition(error)) await this.#fail(driver, binding, error);
        else broken(error);
      })
      .catch(broken);
  }

  async #evaluate(driver: RunDriver, { instance, attempt }: Binding): Promise<void> {
    const step = instance.step.step as SetStep | RespondStep;
    const exprs = step.value === undefined ? [] : [step.value];
    const [value = null] = await bindAll(driver, instance, exprs);
    const stored = await toStoredValue(value, this.#parts.writer);
    if (stored === "too large")
      return this.#fail(
        driver,
        { instance, attempt },
        { code: "OUTPUT_TOO_LARGE", message: `The value of "${instance.path}" is too large.` },
      );
    const projection = await this.#projectMasked(driver, instance, { output: stored.value, hasFailed: false });
    const { path } = instance;
    const isEmpty = stored.value === null;
    const seq = driver.apply(
      {
        type: "stepSucceeded",
        at: this.#parts.clock.now(),
        path,
        attempt,
        ...(isEmpty ? { empty: true } : {}),
        ...projection,
      },
      isEmpty ? undefined : stored.stored,
    );
    if (!isEmpty) driver.values.keep(seq, stored.value, stored.bytes);
    if (projection.assigned !== undefined) driver.values.keepAssigned(seq, projection.assigned);
  }

  async #project(driver: RunDriver, { instance }: Binding): Promise<void> {
    const projection = await this.#projectMasked(driver, instance, await outcomeArrival(driver, instance));
    const seq = driver.apply({
      type: "stepProjected",
      at: this.#parts.clock.now(),
      path: instance.path,
      ...projection,
    });
    if (projection.assigned !== undefined) driver.values.keepAssigned(seq, projection.assigned);
  }

  async #projectMasked(driver: RunDriver, instance: Instance, arrival: Arrival): Promise<Projection> {
    return maskProjection(await projectValue(driver, instance, arrival), (text) => this.#parts.writer.mask(text));
  }

  async #resolveCall(driver: RunDriver, { instance }: Binding): Promise<void> {
    const step = instance.step.step as CallStep;
    const exprs = [step.workflow, step.input, ...(step.terms === undefined ? [] : [step.terms])];
    const [workflow = null, input = null, terms] = await bindAll(driver, instance, exprs);
    const isComputed = step.workflow.op !== "literal";
    const asked = { workflow, input, options: driver.options, tenantId: driver.tenantId, isComputed };
    const call = await this.#parts.resolveCall(terms === undefined ? asked : { ...asked, terms });
    const pinned: Pinned = pinDefinition(call.definition);
    const secret = findInputSecrets(call.definition.graph, call.input);
    const hidden = hideLeaves(call.input, secret);
    const stored = await toStoredValue(hidden, this.#parts.writer);
    if (stored === "too large") throw tooLarge(`The input of "${instance.path}"`);
    driver.addPins(pinned.pins);
    driver.addGraph(indexGraph(call.definition.graph, pinned.graphHash));
    // What the calling run knows as secret reaches the called one as well.
    const leaves = [...secret, ...findMaskedLeaves(hidden, stored.value)];
    const sealed = leaves.length === 0 ? undefined : this.#parts.keepSecrets(driver, leaves);
    const { path } = instance;
    const seq = driver.apply(
      {
        type: "callResolved",
        at: this.#parts.clock.now(),
        path,
        graph: pinned.graphHash,
        workflow: call.definition.graph.name,
        inputNames: Object.keys(call.input),
        sealed,
        timeoutMs: call.timeoutMs,
        ...inputProjection(call.definition.graph, stored.value as JsonObject, this.#parts.tools),
      },
      stored.stored,
    );
    driver.values.keep(seq, stored.value, stored.bytes);
    if (leaves.length > 0) driver.values.reveal(seq, leaves);
  }

  async #askApproval(driver: RunDriver, { instance }: Binding): Promise<void> {
    const step = instance.step.step as ApproveStep;
    const [message = null, shown] = await bindAll(
      driver,
      instance,
      step.show === undefined ? [step.message] : [step.message, step.show],
    );
    const stored = await toStoredValue(
      shown ?? (step.show === undefined ? { approved: true } : null),
      this.#parts.writer,
    );
    if (stored === "too large") throw tooLarge(`What "${instance.path}" shows`);
    const text = this.#parts.writer.mask(typeof message === "string" ? message : JSON.stringify(message));
    const answer = await this.#answerOfBefore(driver, instance, { message: text, shown: stored.stored });
    const { path } = instance;
    const at = this.#parts.clock.now();
    const seq = driver.apply({ type: "approvalAsked", at, path, message: text }, stored.stored);
    driver.values.keep(seq, stored.value, stored.bytes);
    if (answer === undefined) return this.#parts.asked(driver, instance, seq);
    if (instance.phase !== "approval") return;
    const { decided: _, ...event } = answer.event;
    driver.apply({ ...event, at, reused: answer.reused }, answer.value);
  }

  /** A person is not asked again what they have answered in the run that this one repeats. */
  async #answerOfBefore(driver: RunDriver, instance: Instance, asked: AskedBefore) {
    const outcomes = this.#parts.reusable(driver);
    return outcomes === undefined ? undefined : findAnswer(outcomes, instance, asked);
  }

  async #beginWait(driver: RunDriver, { instance, attempt }: Binding): Promise<void> {
    const { wait } = instance.step.step as WaitStep;
    const { path } = instance;
    const at = this.#parts.clock.now();
    const expr = wait.for === "duration" ? wait.durationMs : wait.for === "instant" ? wait.at : wait.name;
    const [value = null] = await bindAll(driver, instance, [expr]);
    const begun = wait.for === "event" ? toSignal(value) : toUntil(wait, at, value);
    if (begun !== undefined) driver.apply({ type: "waitBegun", at, path, ...begun });
    else {
      const message = `"${path}" cannot wait for ${JSON.stringify(value).slice(0, 100)}.`;
      await this.#fail(driver, { instance, attempt }, { code: "WAIT_INVALID", message });
    }
  }

  async #fail(driver: RunDriver, { instance, attempt }: Binding, error: FailureText): Promise<void> {
    const { code } = error;
    const message = this.#parts.writer.mask(error.message);
    const projection = await this.#projectFailure(driver, instance, { code, message });
    const { path } = instance;
    const seq = driver.apply({
      type: "stepFailed",
      at: this.#parts.clock.now(),
      path,
      attempt,
      code,
      message,
      retryable: false,
      effect: "none",
      ...projection,
    });
    if (projection.assigned !== undefined) driver.values.keepAssigned(seq, projection.assigned);
  }

  /** Where the failure is that nothing can be projected, nothing of it is read. */
  async #projectFailure(driver: RunDriver, instance: Instance, { code, message }: FailureText): Promise<Projection> {
    if (instance.phase === "projecting") return {};
    try {
      return await this.#projectMasked(driver, instance, { output: { error: { code, message } }, hasFailed: true });
    } catch (error) {
      if (isOfTheDefinition(error)) return {};
      throw error;
    }
  }
}

interface FailureText {
  readonly code: string;
  readonly message: string;
}

function isOfTheDefinition(error: unknown): error is PawlError {
  return isPawlError(error) && !isStorageFailure(error);
}

function tooLarge(what: string): PawlError {
  return new PawlError("OUTPUT_TOO_LARGE", { message: `${what} is too large.` });
}

function toSignal(value: Json): { readonly signal: string } | undefined {
  if (typeof value === "number") return { signal: String(value) };
  return typeof value === "string" && value !== "" ? { signal: value } : undefined;
}

function toUntil(wait: WaitStep["wait"], at: number, value: Json): { readonly until: number } | undefined {
  const until = wait.for === "duration" ? addDuration(at, value) : toInstant(value);
  return until === undefined ? undefined : { until };
}

function addDuration(at: number, value: Json): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? at + value : undefined;
}

function toInstant(value: Json): number | undefined {
  const instant = typeof value === "string" ? Date.parse(value) : value;
  return typeof instant === "number" && Number.isFinite(instant) ? instant : undefined;
}
