import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import { isPawlError, type PawlError } from "../../../core/errors/pawl-error.ts";
import type { RespondStep, SetStep } from "../../../core/graph/graph.ts";
import type { StepCommand } from "../../../core/history/commands.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import type { LiveRun } from "../live-run.ts";
import { bindAll, outcomeArrival, projectValue } from "../values/bind-step.ts";
import { joinMissing } from "../values/missing-references.ts";
import { type Arrival, maskProjection, type Projection } from "../values/project-output.ts";
import { lengthOf, toStoredValue } from "../values/stored-value.ts";
import { askApproval, beginWait, resolveCall } from "./begin-steps.ts";
import type { StepParts } from "./step-parts.ts";

interface StepError {
  readonly code: string;
  readonly message: string;
}

/** Does the steps that need no executor: it binds what they say, and reports the event that the core waits for. */
export class EngineSteps {
  readonly #parts: StepParts;

  constructor(parts: StepParts) {
    this.#parts = parts;
  }

  /** An error in the user's definition fails the step; anything else is a defect. */
  perform(run: LiveRun, command: StepCommand): void {
    const broken = (error: unknown) => this.#parts.broken(run, error);
    this.#do(run, command)
      .catch(async (error: unknown) => {
        if (isDefinitionError(error)) await this.#fail(run, command, error);
        else broken(error);
      })
      .catch(broken);
  }

  async #do(run: LiveRun, command: StepCommand): Promise<void> {
    const { instance } = command;
    switch (command.type) {
      case "evaluateStep":
        return this.#evaluate(run, command);
      case "projectStep":
        return this.#project(run, instance);
      case "resolveCall":
        return resolveCall(run, instance, this.#parts);
      case "askApproval":
        return askApproval(run, instance, this.#parts);
      case "beginWait":
        return beginWait(run, instance, this.#parts);
      case "endWait": {
        const { path } = instance;
        return (await this.#parts.publishedEvents?.())?.unregister({
          runId: run.runId,
          path,
          attempt: command.attempt,
        });
      }
    }
  }

  async #evaluate(run: LiveRun, { instance, attempt }: StepCommand): Promise<void> {
    const { path } = instance;
    const step = instance.step.step as SetStep | RespondStep;
    const { values, ...noted } = await bindAll(run, instance, step.value === undefined ? [] : [step.value]);
    const [value = null] = values;
    const stored = await toStoredValue(value, this.#parts.writer, run);
    if (stored === "too large") {
      const message = `The value of "${path}" is too large.`;
      return this.#fail(run, { instance, attempt }, { code: "OUTPUT_TOO_LARGE", message });
    }
    const projection = await this.#projectMasked(run, instance, { output: stored.value, hasFailed: false });
    const isEmpty = stored.value === null;
    const at = this.#parts.clock.now();
    const empty = isEmpty ? { empty: true } : {};
    const seq = run.apply(
      {
        ...{ type: "stepSucceeded", at, path, attempt, ...empty, ...lengthOf(stored), ...projection },
        ...joinMissing(noted.missing, projection.missing),
      },
      isEmpty ? undefined : stored.stored,
    );
    if (!isEmpty) run.values.keep(seq, stored.value, stored.bytes);
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  async #project(run: LiveRun, instance: Instance): Promise<void> {
    const projection = await this.#projectMasked(run, instance, await outcomeArrival(run, instance));
    const { path } = instance;
    const seq = run.apply({ type: "stepProjected", at: this.#parts.clock.now(), path, ...projection });
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  async #projectMasked(run: LiveRun, instance: Instance, arrival: Arrival): Promise<Projection> {
    return maskProjection(await projectValue(run, instance, arrival), (text) => this.#parts.writer.mask(text));
  }

  async #fail(
    run: LiveRun,
    { instance, attempt }: Pick<StepCommand, "instance" | "attempt">,
    { code, message: plain }: StepError,
  ): Promise<void> {
    const message = this.#parts.writer.mask(plain);
    const projection = await this.#projectFailure(run, instance, { code, message });
    const { path } = instance;
    const at = this.#parts.clock.now();
    const failed = { code, message, retryable: false, effect: "none" } as const;
    const seq = run.apply({ type: "stepFailed", at, path, attempt, ...failed, ...projection });
    if (projection.assigned !== undefined) run.values.keepAssigned(seq, projection.assigned);
  }

  /** If the projection itself has failed, the failure is not projected. */
  async #projectFailure(run: LiveRun, instance: Instance, error: StepError): Promise<Projection> {
    if (instance.phase === "projecting") return {};
    const { code, message } = error;
    try {
      return await this.#projectMasked(run, instance, { output: { error: { code, message } }, hasFailed: true });
    } catch (again) {
      if (isDefinitionError(again)) return {};
      throw again;
    }
  }
}

function isDefinitionError(error: unknown): error is PawlError {
  return isPawlError(error) && !isStorageFailure(error);
}
