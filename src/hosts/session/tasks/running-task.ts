import { writeMicro } from "../../../core/amounts.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { TaskStep } from "../../../core/graph/graph.ts";
import type { Policy, PolicyDecision } from "../../../core/graph/policy.ts";
import { LACKS } from "../../../core/history/events.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import { viewOf } from "../../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { grantOf, type Reach, reachOf } from "../../../core/trust/grant.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Failed, PaidCall, Progress, Reservation, SettleCall, Task } from "../../../ports/executor.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import { filesOfTenant } from "../../tenant-files.ts";
import type { Answer, BudgetLine } from "../budgets/budget-line.ts";
import type { CallCost } from "../budgets/decide-admission.ts";
import { explainShort, type Short } from "../budgets/explain-account.ts";
import type { LiveRun, StartNote } from "../live-run.ts";
import { bindingPolicies, type OutputPolicies } from "../policies/output-policies.ts";
import type { TaskInput } from "../values/bind-step.ts";
import { maskJson } from "../values/mask-json.ts";
import { lengthOf, type StoredValue, toStoredValue, type ValueWriter } from "../values/stored-value.ts";
import { answerSchemaFor } from "./answer-schema.ts";
import { LiveText, type PieceMask } from "./live-text.ts";
import { StepTimeout } from "./step-timeout.ts";

export type Stop = "timeout" | "cancel" | "park";

/** Shared by all tasks of a host. */
export interface TaskParts {
  readonly clock: Clock;
  /** Files that steps produce become artifacts here. */
  readonly files: FileStorage;
  readonly writer: ValueWriter;
  /** Makes a mask for each text that comes in pieces. */
  maskPieces(): PieceMask;
  readonly policies: OutputPolicies;
}

export interface TaskStart {
  readonly line: BudgetLine;
  readonly run: LiveRun;
  readonly instance: Instance;
  readonly attempt: number;
  readonly startedAt: number;
  readonly onlyReuse: boolean;
}

const MAX_LOG_ENTRIES = 10_000;

/** One attempt in the hands of an executor, and what the executor sees of it and may ask for. */
export class RunningTask implements Task, StartNote {
  readonly run: LiveRun;
  readonly instance: Instance;
  readonly attempt: number;
  readonly controller = new AbortController();
  readonly startedAt: number;
  /** There is no budget left for it: it may only take over what an earlier run has done. */
  readonly onlyReuse: boolean;
  bound: TaskInput = { input: null };
  inputHash = "";
  startValue: StoredValue | undefined;
  stop: Stop | undefined;
  /** The executor was given up: what it still returns is booked, not applied. */
  isAbandoned = false;
  hasEnded = false;
  /** Budgets have yet to allow it. An outcome of an earlier run may be taken over without them. */
  awaitsBudget = false;
  reportedMicro = 0;
  /** What a budget had too little of for it. */
  short: Short | undefined;
  /** A person is asked about a budget: it is given back, and goes on after the answer. */
  isHeldBack = false;
  #calls = 0;
  #openCalls: Set<SettleCall> | undefined;
  log: Json[] | undefined;
  readonly policies: readonly Policy[];
  /** Decisions of the policies about its output. */
  decisions: readonly PolicyDecision[] | undefined;
  /** A person has said what may be used of its output. */
  answered: "as it is" | "edited" | undefined;
  live: LiveText | undefined;
  #timeout: StepTimeout | undefined;
  /** Calls of it that wait for a server that can do no more at once. */
  #waits = 0;
  #waitsSince = 0;
  #waitedMs = 0;
  /** Cancels the grace period of an executor that was told to stop. */
  stopWaiting: (() => void) | undefined;
  /** Lets the next suspects go. */
  endTurn: (() => void) | undefined;
  readonly #parts: TaskParts;
  readonly #line: BudgetLine;

  constructor(parts: TaskParts, { run, instance, attempt, startedAt, line, onlyReuse }: TaskStart) {
    this.#parts = parts;
    this.#line = line;
    this.run = run;
    this.instance = instance;
    this.attempt = attempt;
    this.startedAt = startedAt;
    this.policies = bindingPolicies(instance);
    this.onlyReuse = onlyReuse;
  }

  get input(): Json {
    return this.bound.input;
  }

  /** What was recorded of the input has no values of variables; what its executor sees has. */
  giveVariables(learn: (secrets: readonly string[]) => void): void {
    const given = this.bound.withVariables?.();
    if (given === undefined) return;
    learn(given.secrets);
    this.bound = { ...this.bound, input: given.input };
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

  get atMostOnce(): boolean | undefined {
    return this.step.atMostOnce;
  }

  get settings(): JsonObject {
    return this.instance.scope.frame.graph.graph.settings;
  }

  get reach(): Reach | undefined {
    return reachOf(grantOf(this.settings));
  }

  get inferredSchema(): JsonObject | undefined {
    return answerSchemaFor(this.instance);
  }

  get traceParent(): string | undefined {
    return this.run.traceParentOf(this.path, this.attempt);
  }

  get isLimited(): boolean {
    return this.step.maxCostMicro !== undefined || this.#line.limitsMoney(this);
  }

  async reserve({ atMostMicro, leastMicro, plannedMicro, payee }: PaidCall): Promise<Reservation | Failed> {
    this.#refuseIfGone();
    const { step, instance } = this;
    const ownLeft = (step.maxCostMicro ?? Number.POSITIVE_INFINITY) - instance.costMicro - instance.lostMicro;
    const wanted = atMostMicro ?? Number.POSITIVE_INFINITY;
    const least = leastMicro ?? atMostMicro ?? 1;
    if (ownLeft < least) return this.#toTooLittle(ownLeft, least);
    const cost = { atMost: Math.min(wanted, ownLeft), least, planned: plannedMicro };
    const answer = await this.#waitForMoney(cost);
    if (answer.kind === "stopped") return stoppedOutcome(this.path, "none");
    if (answer.kind !== "go") return this.#toOutspent(answer);
    this.short = answer.short;
    const loweredBy = answer.micro >= wanted ? undefined : answer.micro < cost.atMost ? "budget" : "step";
    return this.#toReservation(answer.micro, { loweredBy, payee });
  }

  async #waitForMoney(cost: CallCost): Promise<Answer> {
    if (!this.#line.limitsMoney(this)) return { kind: "go", micro: cost.atMost };
    const { promise, resolve } = Promise.withResolvers<Answer>();
    let waits = true;
    this.#line.enter({
      task: this,
      cost,
      end: (answer) => {
        waits = false;
        resolve(answer);
      },
    });
    if (!waits) return promise;
    // Its time-out stands still meanwhile.
    this.#noteWait(true);
    const answer = await promise;
    this.#noteWait(false);
    return answer;
  }

  #toTooLittle(leftMicro: number, needsMicro: number): Failed {
    const message = `"${this.path}" may spend ${writeMicro(Math.max(0, leftMicro))} more by its own max_cost_usd, and its next call may cost ${writeMicro(needsMicro)}.`;
    return { status: "failed", code: "STEP_BUDGET_EXCEEDED", message, retryable: false, effect: "none", costMicro: 0 };
  }

  #toOutspent(answer: Extract<Answer, { readonly kind: "short" | "hold" }>): Failed {
    this.isHeldBack = answer.kind === "hold";
    this.short = answer.kind === "short" ? answer.short : undefined;
    const message =
      answer.kind === "hold" ? `"${this.path}" waits for an answer about its budget.` : explainShort(answer.short);
    const outspent = { goesOn: true };
    return {
      status: "failed",
      code: "BUDGET_EXCEEDED",
      message,
      retryable: false,
      effect: "none",
      costMicro: 0,
      outspent,
    };
  }

  #toReservation(
    granted: number,
    { loweredBy, payee }: { readonly loweredBy: Reservation["loweredBy"]; readonly payee: string },
  ): Reservation {
    let heldMicro = granted;
    const giveBack = (micro: number) => {
      heldMicro -= micro;
      this.#line.giveBack(this, micro);
    };
    return {
      atMostMicro: Number.isFinite(granted) ? granted : undefined,
      loweredBy,
      record: () => this.#record(Number.isFinite(heldMicro) ? heldMicro : undefined, { payee, giveBack }),
      release: () => giveBack(heldMicro),
    };
  }

  /** `giveBack` is called with what the call no longer needs of its reservation: what it has cost, or may have cost, counts by itself then. */
  async #record(
    atMostMicro: number | undefined,
    { payee, giveBack }: { readonly payee: string; giveBack(micro: number): void },
  ): Promise<SettleCall> {
    const { run, path, attempt } = this;
    const { clock } = this.#parts;
    this.#refuseIfGone();
    this.#calls += 1;
    const of = { path, attempt, call: this.#calls };
    run.apply({ type: "costReserved", at: clock.now(), ...of, ...(atMostMicro === undefined ? {} : { atMostMicro }) });
    await run.durable();
    const settle: SettleCall = (told, how) => {
      if (this.#openCalls?.delete(settle) !== true || this.isAbandoned) return;
      const at = clock.now();
      const costMicro = told ?? 0;
      this.reportedMicro += costMicro;
      if (told === null || how === "doubted") {
        run.apply({ type: "costReported", at, ...of, costMicro, uncertain: true });
        return giveBack(atMostMicro ?? 0);
      }
      run.apply({ type: "costReported", at, ...of, costMicro, ...(how === "refused" ? { refused: true } : {}) });
      giveBack(Math.min(costMicro, atMostMicro ?? 0));
      if (atMostMicro === undefined || costMicro <= atMostMicro) return;
      const message = `${payee} took ${writeMicro(costMicro)} for a call that was to cost ${writeMicro(atMostMicro)} at most.`;
      this.emit({ type: "log", event: { type: "warning", message } });
    };
    this.#openCalls ??= new Set();
    this.#openCalls.add(settle);
    return settle;
  }

  /** The executor has a defect: what its calls in flight have cost is not known. */
  loseCalls(): void {
    for (const settle of [...(this.#openCalls ?? [])]) settle(null);
  }

  #refuseIfGone(): void {
    if (!this.run.isDiscarded && !this.isAbandoned) return;
    throw new PawlError("OWNER_GONE", { message: `"${this.path}" is no longer driven here.` });
  }

  get timeoutMs(): number | undefined {
    return this.instance.step.step.timeoutMs;
  }

  get tenantId(): string | undefined {
    return this.run.tenantId;
  }

  get priority(): number | undefined {
    const { priority } = this.run.options;
    return typeof priority === "number" ? priority : undefined;
  }

  get files(): FileStorage {
    return filesOfTenant(this.#parts.files, this.tenantId);
  }

  emit(progress: Progress): void {
    const { run, path, attempt } = this;
    const { policies } = this.#parts;
    if (this.isAbandoned) return;
    if (progress.type === "capacity") return this.#noteWait(progress.isWaiting);
    if (progress.type === "lacks") return this.#noteLack(progress.what);
    if (progress.type === "call") return run.noteCall({ ...progress.call, path, attempt });
    if (progress.type === "live") return this.#showLive(progress.event);
    this.log ??= [];
    const event = policies.clean(this, progress.event);
    if (this.log.length < MAX_LOG_ENTRIES) this.log.push(event);
    if (run.isWatched) run.notify({ type: "progress", path, attempt, event: maskJson(event, this.#mask).value });
  }

  startTimeout(end: () => void): void {
    if (this.timeoutMs !== undefined) this.#timeout = new StepTimeout(this.#parts.clock, this.timeoutMs, end);
  }

  stopTimeout(): void {
    this.#timeout?.stop();
    this.#timeout = undefined;
  }

  /** It waits for a server, and nothing of it is under way there. */
  get isWaiting(): boolean {
    return this.#waits > 0;
  }

  /** How long it has waited so until then. */
  waitedUntil(at: number): number {
    return this.#waitedMs + (this.isWaiting ? Math.max(0, at - this.#waitsSince) : 0);
  }

  #noteWait(isWaiting: boolean): void {
    const now = this.#parts.clock.now();
    if (this.isWaiting) this.#waitedMs += now - this.#waitsSince;
    this.#waitsSince = now;
    this.#waits += isWaiting ? 1 : -1;
    if (isWaiting) this.#timeout?.pause();
    else this.#timeout?.resume();
  }

  #noteLack(what: string | undefined): void {
    const { run, path, attempt } = this;
    this.#noteWait(what !== undefined);
    if (run.isDiscarded) return;
    const lacks = what === undefined ? {} : { lacks: what };
    run.apply({ type: "stepRecorded", at: this.#parts.clock.now(), path, attempt, key: LACKS, ...lacks });
  }

  /** Shown to those who watch now, and not kept. */
  #showLive(event: JsonObject): void {
    const { run, path, attempt } = this;
    if (!run.isWatched) return;
    // Text that comes in pieces cannot be searched. Nothing of the output is in what is said of servers.
    if (event["type"] !== "capacity" && event["type"] !== "retry" && this.#parts.policies.redacts(this)) return;
    this.live ??= new LiveText({ whole: this.#mask, text: this.#parts.maskPieces() }, (shown) =>
      run.notify({ type: "live", path, attempt, event: shown }),
    );
    this.live.show(event);
  }

  get #mask(): (text: string) => string {
    return (text) => this.#parts.writer.mask(text);
  }

  async record(key: string, value: Json): Promise<void> {
    const { run, path, attempt } = this;
    const { clock, writer, policies } = this.#parts;
    const stored = await toStoredValue(policies.clean(this, value), writer, run);
    if (stored === "too large")
      throw new PawlError("OUTPUT_TOO_LARGE", { message: `The record "${key}" of "${path}" is too large.` });
    this.#refuseIfGone();
    run.apply({ type: "stepRecorded", at: clock.now(), path, attempt, key, ...lengthOf(stored) }, stored.stored);
    await run.durable();
  }

  async recorded(key: string): Promise<Json | undefined> {
    const seq = this.instance.records?.get(key);
    if (seq === undefined) return undefined;
    const values = await this.run.values.load(viewOf(this.instance), [], new Set([seq]));
    return values.value(seq);
  }
}

export function stoppedOutcome(path: string, effect: Failed["effect"] = "unknown"): Failed {
  const message = `"${path}" was told to stop.`;
  return { status: "failed", code: "INTERRUPTED", message, retryable: false, effect, costMicro: 0 };
}
