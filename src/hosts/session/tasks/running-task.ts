import type { TaskStep } from "../../../core/graph/graph.ts";
import type { Policy, PolicyDecision } from "../../../core/graph/policy.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { bindingPolicies } from "../../../core/policies/binding-policies.ts";
import type { Progress, Task } from "../../../ports/executor.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { LiveRun, StartNote } from "../live-run.ts";
import type { LiveText } from "./live-text.ts";

/** Why an attempt is told to stop. */
export type Stop = "timeout" | "cancel" | "park";

/** What a flight needs of whoever flies it. */
export interface TaskControl {
  filesFor(task: RunningTask): FileStorage;
  emit(task: RunningTask, progress: Progress): void;
  record(task: RunningTask, key: string, value: Json): Promise<void>;
  recorded(task: RunningTask, key: string): Promise<Json | undefined>;
}

/** One attempt in the hands of an executor, and what the executor sees of it. */
export class RunningTask implements Task, StartNote {
  readonly run: LiveRun;
  readonly instance: Instance;
  readonly attempt: number;
  readonly controller = new AbortController();
  readonly startedAt: number;
  /** Nothing is left for it but what an earlier run has done. */
  readonly onlyReuse: boolean;
  input: Json = null;
  inputHash = "";
  startValue: string | undefined;
  stop: Stop | undefined;
  /** The executor was given up: what it still returns is booked, not applied. */
  isAbandoned = false;
  hasLanded = false;
  /** Budgets have yet to allow it: what an earlier run has done may be taken over without them. */
  awaitsGate = false;
  reportedMicro = 0;
  log: Json[] | undefined;
  /** What its output must satisfy. */
  readonly policies: readonly Policy[];
  /** What policies have said of its output. */
  decisions: readonly PolicyDecision[] | undefined;
  /** A person has said what may be used. */
  answered: "as it is" | "edited" | undefined;
  live: LiveText | undefined;
  /** Cancels the grace period of an executor that was told to stop. */
  stopWaiting: (() => void) | undefined;
  /** Lets the next one go that is on its last chance. */
  endTurn: (() => void) | undefined;
  readonly #control: TaskControl;
  /** What its step's own limit leaves it. */
  readonly #ownLeftMicro: number;
  #maxCostMicro: number | undefined;

  constructor(
    control: TaskControl,
    start: {
      run: LiveRun;
      instance: Instance;
      attempt: number;
      startedAt: number;
      maxCostMicro: number | undefined;
      onlyReuse: boolean;
    },
  ) {
    this.#control = control;
    this.run = start.run;
    this.instance = start.instance;
    this.attempt = start.attempt;
    this.startedAt = start.startedAt;
    this.policies = bindingPolicies(start.instance);
    this.#maxCostMicro = start.maxCostMicro;
    this.onlyReuse = start.onlyReuse;
    this.#ownLeftMicro = (this.step.maxCostMicro ?? Number.POSITIVE_INFINITY) - start.instance.costMicro;
  }

  get step(): TaskStep {
    const { step } = this.instance.step;
    if (step.kind !== "task") throw new Error(`"${this.path}" is no task.`);
    return step;
  }

  get path(): string {
    return this.instance.path;
  }

  get runId(): string {
    return this.run.runId;
  }

  get workflow(): string {
    return this.run.state.workflow;
  }

  get stepId(): string {
    return this.instance.step.step.id;
  }

  get idempotencyKey(): string {
    return `${this.runId}:${this.path}:${this.instance.generation}`;
  }

  get settings(): JsonObject {
    return this.instance.scope.frame.graph.graph.settings;
  }

  get traceParent(): string | undefined {
    return this.run.traceParentOf(this.path, this.attempt);
  }

  get maxCostMicro(): number | undefined {
    return this.#maxCostMicro;
  }

  /** What it may spend, where that is what budgets leave and not its step's own limit. */
  get promisedMicro(): number | undefined {
    const most = this.#maxCostMicro;
    return most !== undefined && most < this.#ownLeftMicro ? most : undefined;
  }

  /** Something else allows no more than this. */
  limitCost(maxCostMicro: number | undefined): void {
    if (maxCostMicro !== undefined) this.#maxCostMicro = Math.min(maxCostMicro, this.#maxCostMicro ?? maxCostMicro);
  }

  get timeoutMs(): number | undefined {
    return this.instance.step.step.timeoutMs;
  }

  get tenantId(): string | undefined {
    return this.run.tenantId;
  }

  get files(): FileStorage {
    return this.#control.filesFor(this);
  }

  emit(progress: Progress): void {
    this.#control.emit(this, progress);
  }

  record(key: string, value: Json): Promise<void> {
    return this.#control.record(this, key, value);
  }

  recorded(key: string): Promise<Json | undefined> {
    return this.#control.recorded(this, key);
  }
}
