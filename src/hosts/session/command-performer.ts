import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { ApproveStep, CallStep, RespondStep, SetStep, WaitStep } from "../../core/graph/graph.ts";
import { indexGraph } from "../../core/graph/indexed-graph.ts";
import type { Command } from "../../core/history/commands.ts";
import type { Instance } from "../../core/history/run-state.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CompiledDefinition } from "../compiled-definition.ts";
import type { LiveRun } from "./live-run.ts";
import { type Pinned, pinDefinition } from "./pin-definition.ts";
import { type AskedBefore, findAnswer, type ReusableOutcomes } from "./reuse/reuse.ts";
import { findInputSecrets } from "./secrets/find-input-secrets.ts";
import { findMaskedLeaves, hideLeaves, type SecretLeaf } from "./secrets/secret-leaves.ts";
import type { TaskRunner } from "./task-runner.ts";
import { bindAll, outcomeArrival, projectValue } from "./values/bind-step.ts";
import { inputProjection, type TextTools } from "./values/input-projection.ts";
import { type Arrival, maskProjection, type Projection } from "./values/project-output.ts";
import { toStoredValue, type ValueWriter } from "./values/stored-value.ts";

export interface PerformerParts {
  readonly clock: Clock;
  readonly writer: ValueWriter;
  readonly tasks: TaskRunner;
  readonly tools: TextTools;
  resolveCall: ResolveCall;
  /** For as long as the run goes on, masked everywhere else; as it may be stored. Undefined: it cannot be. */
  keepSecrets(run: LiveRun, leaves: readonly SecretLeaf[]): string | undefined;
  /** Outcomes of an earlier run that this one may take over. */
  reusable(run: LiveRun): ReusableOutcomes | undefined;
  startTimer(run: LiveRun, timer: string, at: number): void;
  stopTimer(run: LiveRun, timer: string): void;
  /** A question has been asked, in this turn. */
  asked(run: LiveRun, instance: Instance, seq: number): void;
  finishRun(run: LiveRun, command: Extract<Command, { type: "finishRun" }>): Promise<void>;
  /** A defect in the host: the run cannot go on in this process. */
  broken(run: LiveRun, error: unknown): void;
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

  perform(run: LiveRun, command: Command): void {
    switch (command.type) {
      case "startTask":
        this.#parts.tasks.start(run, command);
        return;
      case "abortTask":
        this.#parts.tasks.abort(run, command.path, command.attempt);
        return;
      case "startTimer":
        this.#parts.startTimer(run, command.timer, command.at);
        return;
      case "stopTimer":
        this.#parts.stopTimer(run, command.timer);
        return;
      case "evaluateStep":
        this.#bound(run, command, () => this.#evaluate(run, command));
        return;
      case "projectStep":
        this.#bound(run, command, () => this.#project(run, command));
        return;
      case "resolveCall":
        this.#bound(run, command, () => this.#resolveCall(run, command));
        return;
      case "askApproval":
        this.#bound(run, command, () => this.#askApproval(run, command));
        return;
      case "beginWait":
        this.#bound(run, command, () => this.#beginWait(run, command));
        return;
      case "finishRun":
        void this.#parts.finishRun(run, command).catch((error: unknown) => this.#parts.broken(run, error));
        return;
    }
  }

  /** What a user's definition gets wrong fails the step; anything else is a defect. */
  #bound(run: LiveRun, binding: Binding, work: () => Promise<void>): void {
    const broken = (error: unknown) => this.#parts.broken(run, error);
    work()
      .catch(async (error: unknown) => {
        if (isOfTheDefinition(error)) await this.#fail(run, binding, error);
        else broken(error);
      })
      .catch(broken);
  }

  async #evaluate(run: LiveRun, { instance, attempt }: Binding): Promise<void> {
    const step = instance.step.step as SetStep | RespondStep;
    const exprs = step.value === undefined ? [] : [step.value];
    const [value = null] = await bindAll(run, instance, exprs);
    const stored = await toStoredValue(value, this.#parts.writer);
    if (stored === "too large")
      return this.#fail(
        run,
        { instance, attempt },
        { code: "OUTPUT_TOO_LARGE", message: `The value of "${instance.path}" is too large.` },
      );
    const projection = await this.#projectMasked(run, instance, { output: stored.value, hasFailed: false });
    const { path } = instance;
    const isEmpty = stored.value === null;
    const seq = run.apply(
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
    if (!isEmpty) run.values.keep(seq, stored.value, stored.bytes);
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  async #project(run: LiveRun, { instance }: Binding): Promise<void> {
    const projection = await this.#projectMasked(run, instance, await outcomeArrival(run, instance));
    const seq = run.apply({
      type: "stepProjected",
      at: this.#parts.clock.now(),
      path: instance.path,
      ...projection,
    });
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  async #projectMasked(run: LiveRun, instance: Instance, arrival: Arrival): Promise<Projection> {
    return maskProjection(await projectValue(run, instance, arrival), (text) => this.#parts.writer.mask(text));
  }

  async #resolveCall(run: LiveRun, { instance }: Binding): Promise<void> {
    const step = instance.step.step as CallStep;
    const exprs = [step.workflow, step.input, ...(step.terms === undefined ? [] : [step.terms])];
    const [workflow = null, input = null, terms] = await bindAll(run, instance, exprs);
    const isComputed = step.workflow.op !== "literal";
    const asked = { workflow, input, options: run.options, tenantId: run.tenantId, isComputed };
    const call = await this.#parts.resolveCall(terms === undefined ? asked : { ...asked, terms });
    const pinned: Pinned = pinDefinition(call.definition);
    const secret = findInputSecrets(call.definition.graph, call.input);
    const hidden = hideLeaves(call.input, secret);
    const stored = await toStoredValue(hidden, this.#parts.writer);
    if (stored === "too large") throw tooLarge(`The input of "${instance.path}"`);
    run.addPins(pinned.pins);
    run.addGraph(indexGraph(call.definition.graph, pinned.graphHash));
    // What the calling run knows as secret reaches the called one as well.
    const leaves = [...secret, ...findMaskedLeaves(hidden, stored.value)];
    const sealed = leaves.length === 0 ? undefined : this.#parts.keepSecrets(run, leaves);
    const { path } = instance;
    const seq = run.apply(
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
    run.values.keep(seq, stored.value, stored.bytes);
    if (leaves.length > 0) run.values.reveal(seq, leaves);
  }

  async #askApproval(run: LiveRun, { instance }: Binding): Promise<void> {
    const step = instance.step.step as ApproveStep;
    const [message = null, shown] = await bindAll(
      run,
      instance,
      step.show === undefined ? [step.message] : [step.message, step.show],
    );
    const stored = await toStoredValue(
      shown ?? (step.show === undefined ? { approved: true } : null),
      this.#parts.writer,
    );
    if (stored === "too large") throw tooLarge(`What "${instance.path}" shows`);
    const text = this.#parts.writer.mask(typeof message === "string" ? message : JSON.stringify(message));
    const answer = await this.#answerOfBefore(run, instance, { message: text, shown: stored.stored });
    const { path } = instance;
    const at = this.#parts.clock.now();
    const seq = run.apply({ type: "approvalAsked", at, path, message: text }, stored.stored);
    run.values.keep(seq, stored.value, stored.bytes);
    if (answer === undefined) return this.#parts.asked(run, instance, seq);
    if (instance.phase !== "approval") return;
    const { decided: _, ...event } = answer.event;
    run.apply({ ...event, at, reused: answer.reused }, answer.value);
  }

  /** A person is not asked again what they have answered in the run that this one repeats. */
  async #answerOfBefore(run: LiveRun, instance: Instance, asked: AskedBefore) {
    const outcomes = this.#parts.reusable(run);
    return outcomes === undefined ? undefined : findAnswer(outcomes, instance, asked);
  }

  async #beginWait(run: LiveRun, { instance, attempt }: Binding): Promise<void> {
    const { wait } = instance.step.step as WaitStep;
    const { path } = instance;
    const at = this.#parts.clock.now();
    const expr = wait.for === "duration" ? wait.durationMs : wait.for === "instant" ? wait.at : wait.name;
    const [value = null] = await bindAll(run, instance, [expr]);
    const begun = wait.for === "event" ? toSignal(value) : toUntil(wait, at, value);
    if (begun !== undefined) run.apply({ type: "waitBegun", at, path, ...begun });
    else {
      const message = `"${path}" cannot wait for ${JSON.stringify(value).slice(0, 100)}.`;
      await this.#fail(run, { instance, attempt }, { code: "WAIT_INVALID", message });
    }
  }

  async #fail(run: LiveRun, { instance, attempt }: Binding, error: FailureText): Promise<void> {
    const { code } = error;
    const message = this.#parts.writer.mask(error.message);
    const projection = await this.#projectFailure(run, instance, { code, message });
    const { path } = instance;
    const seq = run.apply({
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
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  /** Where the failure is that nothing can be projected, nothing of it is read. */
  async #projectFailure(run: LiveRun, instance: Instance, { code, message }: FailureText): Promise<Projection> {
    if (instance.phase === "projecting") return {};
    try {
      return await this.#projectMasked(run, instance, { output: { error: { code, message } }, hasFailed: true });
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
