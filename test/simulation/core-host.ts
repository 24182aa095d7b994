import { bind, loadHandle, type Values } from "../../src/core/binding/bind.ts";
import { parseExact, writeExact } from "../../src/core/exact-json.ts";
import { evaluate } from "../../src/core/expressions/evaluate.ts";
import type { Expr } from "../../src/core/expressions/expr.ts";
import { readPath } from "../../src/core/expressions/read-path.ts";
import type { Graph, Step, UseLimits } from "../../src/core/graph/graph.ts";
import { type IndexedGraph, indexGraph } from "../../src/core/graph/indexed-graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { Command } from "../../src/core/history/commands.ts";
import type { Event } from "../../src/core/history/events.ts";
import { newRunState } from "../../src/core/history/new-run-state.ts";
import type { Instance, RunState } from "../../src/core/history/run-state.ts";
import { isSuspect } from "../../src/core/interpreter/attempt/crashes.ts";
import { resultOf } from "../../src/core/interpreter/flow/end-scope.ts";
import { viewOf } from "../../src/core/interpreter/lookup.ts";
import { next, refold } from "../../src/core/interpreter/next.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { Session } from "../../src/hosts/session/session.ts";
import { Agenda, type Entry } from "./agenda.ts";
import type { Behaviour, TaskCall, TaskResult } from "./behaviour.ts";
import { checkInvariants, checkStart } from "./invariants.ts";

export interface CoreHostSetup {
  readonly graph: Graph;
  /** Workflows that steps call, by name. */
  readonly callable?: { readonly [name: string]: Graph };
  readonly input?: JsonObject;
  readonly behaviour: Behaviour;
  readonly maxCostMicro?: number;
  readonly uses?: UseLimits;
  /** What an earlier run has brought, by path. */
  readonly reusable?: { readonly [path: string]: Json };
  /** Off where a thousand steps would make it slow. */
  readonly checks?: boolean;
  /** See `RunState`. */
  readonly mostBegun?: number | undefined;
}

export interface StoredEvent {
  readonly event: Event;
  readonly value: Json | undefined;
}

interface RunningTask {
  readonly instance: Instance;
  readonly attempt: number;
  readonly result: TaskResult;
  readonly outcome: Entry;
}

type StartTask = Extract<Command, { type: "startTask" }>;

const MAX_EVENTS = 200_000;

/**
 * Drives a session in virtual time: its log is an array, one event a commit, and it can lose its memory after any of
 * them. It does everything that a host must do and nothing else, so that the errors it finds are errors of the core.
 */
export class CoreHost {
  readonly events: StoredEvent[] = [];
  /** Calls of tasks, in the order in which they reached the outside. */
  readonly calls: TaskCall[] = [];
  /** Paths of tasks that may be done only once. */
  readonly atMostOncePaths = new Set<string>();
  now = 1_700_000_000_000;
  #session: Session<Json>;
  readonly #setup: CoreHostSetup;
  readonly #graphs = new Map<string, Graph>();
  #agenda = new Agenda();
  #timers = new Map<string, Entry>();
  #running = new Map<string, RunningTask>();
  /** Approvals and waits that the outside has taken notice of. */
  readonly #noticed = new Set<string>();
  /** After this many events the process dies, before it performs what the last one caused. */
  #dieAfter = new Set<number>();

  constructor(setup: CoreHostSetup) {
    this.#setup = setup;
    this.#graphs.set("root", liftControls(setup.graph));
    this.#session = new Session(newRunState(this.#indexed("root"), this.#setup.mostBegun));
  }

  get state(): RunState {
    return this.#session.state;
  }

  dieAfter(...seqs: number[]): this {
    for (const seq of seqs) this.#dieAfter.add(seq);
    return this;
  }

  start(): this {
    const { input = {}, maxCostMicro, uses, reusable } = this.#setup;
    const graph = this.#graphs.get("root");
    this.apply(
      {
        type: "runStarted",
        at: this.now,
        runId: "run-1",
        workflow: graph?.name ?? "",
        inputNames: Object.keys(input),
        ...(maxCostMicro === undefined ? {} : { maxCostMicro }),
        ...(uses === undefined ? {} : { uses }),
        ...(reusable === undefined ? {} : { lineage: { kind: "rerun", run: "run-0", fromPath: "" } }),
        ...projectInput(graph, input),
      },
      input,
    );
    return this;
  }

  /** Something from outside, at a time of its own. */
  later(delayMs: number, run: () => void): this {
    this.#agenda.add({ at: this.now + delayMs, isExternal: true, run });
    return this;
  }

  /** Until the run has ended. */
  run(): this {
    if (this.events.length === 0) this.start();
    while (this.state.phase !== "finished") {
      if (!this.tick() && !this.release()) throw new Error(`The run is stuck: ${this.#describe()}`);
      if (this.events.length > MAX_EVENTS) throw new Error("The run does not end.");
    }
    return this;
  }

  /** Until nothing happens any more without somebody from outside. */
  settle(): this {
    if (this.events.length === 0) this.start();
    while (this.tick());
    return this;
  }

  /** Does what is next. False: there is nothing. */
  tick(): boolean {
    const entry = this.#agenda.take();
    if (entry === undefined) return false;
    this.now = Math.max(this.now, entry.at);
    entry.run();
    return true;
  }

  cancel(): void {
    if (this.state.phase === "open") this.apply({ type: "cancelRequested", at: this.now });
  }

  /** A person resumes the run. False: none of its steps is held. */
  release(): boolean {
    if (this.state.stepsHeld === 0) return false;
    this.apply({ type: "runResumed", at: this.now, releases: true });
    return true;
  }

  signal(name: string, payload: Json): void {
    if (this.state.phase === "open") this.apply({ type: "signalReceived", at: this.now, name }, payload);
  }

  /** `asked`: only if this is what is asked now, as a host sees to it. */
  answer(path: string, answer: "approve" | "reject" | "skip", edited?: Json, asked?: number): void {
    if (this.state.phase !== "open") return;
    const instance = this.state.active.get(path);
    if (asked !== undefined && (instance?.phase !== "approval" || instance.askedSeq !== asked)) return;
    const isEdited = edited === undefined ? {} : { edited: true };
    const whole = { answer, by: "eve", ...(edited === undefined ? {} : { edited }) };
    const value = instance?.question === undefined ? edited : whole;
    this.apply({ type: "approvalAnswered", at: this.now, path, answer, by: "eve", ...isEdited }, value);
  }

  /** The process parks its tasks on purpose. */
  park(): void {
    for (const { path, attempt, phase } of [...this.state.active.values()]) {
      if (phase !== "dispatched") continue;
      this.#dropTask(path, attempt);
      this.apply({ type: "stepInterrupted", at: this.now, path, attempt, cause: "parked" });
    }
  }

  /** The process dies and another one rebuilds the run from what is stored. */
  crash(lastSeenAt = this.now): void {
    this.#agenda.keepExternal();
    this.#timers = new Map();
    this.#running = new Map();
    const session = new Session<Json>(this.rebuild());
    this.#session = session;
    const death = { at: this.now, diedAt: lastSeenAt, runsElsewhere: () => false, reservesCalls: () => false };
    const { events, commands } = session.recovery(death);
    for (const event of events) {
      // The process may die again while it recovers: then the next one has done the rest.
      if (this.#session === session) this.apply(event);
    }
    if (this.#session !== session) return;
    for (const command of commands) this.#perform(command);
    this.#notice();
  }

  /** The state as another process folds it from the stored events. */
  rebuild(events: readonly StoredEvent[] = this.events): RunState {
    const state = this.#emptyState();
    for (const { event } of events) refold(state, event);
    return state;
  }

  /** The same, but every decision is taken anew; they are returned beside the recorded ones. */
  redecide(): { readonly state: RunState; readonly taken: readonly Json[]; readonly recorded: readonly Json[] } {
    const state = this.#emptyState();
    const taken: Json[] = [];
    const recorded: Json[] = [];
    for (const { event } of this.events) {
      const { decided, ...fresh } = event;
      taken.push(next(state, fresh as Event).decided as Json);
      recorded.push((decided ?? []) as Json);
    }
    return { state, taken, recorded };
  }

  apply(event: Event, value?: Json): void {
    const isTerse = this.#setup.checks === false;
    this.#session.apply(event, value);
    const { events = [], commands = [] } = this.#session.take() ?? {};
    for (const { event: stored, value: kept } of events) this.events.push({ event: stored, value: kept });
    if (!isTerse) checkInvariants(this.state, this.events);
    if (this.#dieAfter.delete(this.events.length)) return this.crash();
    for (const command of commands) {
      if (!isTerse) checkStart(this.state, command);
      this.#perform(command);
    }
    this.#notice();
  }

  output(): Json {
    const { root } = this.state;
    return root === undefined ? null : loadHandle(resultOf(root), this.#values());
  }

  /** The last output of each path. */
  outputs(): Map<string, Json> {
    const outputs = new Map<string, Json>();
    for (const { event, value } of this.events) {
      if (event.type === "stepSucceeded") outputs.set(event.path, value ?? null);
    }
    return outputs;
  }

  get status(): string {
    return this.state.phase === "finished" ? (this.state.ending?.status ?? "") : this.state.phase;
  }

  /** What an expression gives as seen from the run's top. */
  valueOf(expr: Expr): Json | undefined {
    const { root: scope } = this.state;
    if (scope === undefined) return undefined;
    return bind({ state: this.state, from: { scope, step: -1, item: -1 }, values: this.#values() }, expr);
  }

  #emptyState(): RunState {
    const state = newRunState(this.#indexed("root"), this.#setup.mostBegun);
    for (const hash of this.#graphs.keys()) state.graphs.set(hash, this.#indexed(hash));
    return state;
  }

  /** As read back from where it is pinned: nothing is shared with the graph that the run began with. */
  #indexed(hash: string): IndexedGraph {
    return indexGraph(parseExact(writeExact(this.#graphs.get(hash))), hash);
  }

  #perform(command: Command): void {
    switch (command.type) {
      case "startTask":
        if (this.#takeOver(command)) return;
        return isSuspect(command.instance) ? this.#startSuspect(command) : this.#startTask(command);
      case "evaluateStep":
        return this.#soon(command.instance, () => this.#evaluate(command.instance, command.attempt));
      case "projectStep":
        return this.#soon(command.instance, () => this.#project(command.instance));
      case "resolveCall":
        return this.#soon(command.instance, () => this.#resolveCall(command.instance, command.attempt));
      case "askApproval":
        return this.#soon(command.instance, () => this.#askApproval(command.instance));
      case "beginWait":
        return this.#soon(command.instance, () => this.#beginWait(command.instance, command.attempt));
      case "endWait":
        return;
      case "startTimer":
        return this.#startTimer(command.timer, command.at);
      case "stopTimer": {
        const entry = this.#timers.get(command.timer);
        this.#timers.delete(command.timer);
        if (entry !== undefined) this.#agenda.remove(entry);
        return;
      }
      case "abortTask":
        return this.#abort(command.path, command.attempt);
      case "finishRun": {
        const { type: _, ...ending } = command;
        this.#internal(0, () => this.apply({ type: "runFinished", at: this.now, ...ending }));
      }
    }
  }

  /** As a host does in a rerun. True: there is nothing to run. */
  #takeOver({ instance, attempt, onlyReuse = false }: StartTask): boolean {
    const { path } = instance;
    const output = attempt === 1 ? this.#setup.reusable?.[path] : undefined;
    if (output === undefined && !onlyReuse) return false;
    this.#internal(1, () => {
      const at = this.now;
      if (output === undefined) return this.apply({ type: "stepHeld", at, path, attempt });
      const reused = { run: "run-0", seq: 1 };
      this.apply({ type: "stepSucceeded", at, path, attempt, costMicro: 0, reused }, output);
    });
    return true;
  }

  /** Its start is durable before the work begins. */
  #startSuspect(command: StartTask): void {
    const { instance, attempt } = command;
    const { path } = instance;
    const key = `${path}@${attempt}`;
    const outcome = this.#internal(1, () => {
      if (!this.#running.delete(key)) return;
      const others = [...this.state.active.values()].filter((other) => other.begun && isSuspect(other));
      this.apply({ type: "stepStarted", at: this.now, path, attempt, flight: others.length + 1 });
      // The process may have died of it.
      if (this.state.active.get(path) === instance) this.#startTask(command);
    });
    this.#running.set(key, { instance, attempt, result: { fail: "ABORTED" }, outcome });
  }

  #startTask({ instance, attempt }: StartTask): void {
    const { path, failures } = instance;
    const { step } = instance.step;
    if (step.kind !== "task") throw new Error(`"${path}" is no task.`);
    if (step.atMostOnce === true) this.atMostOncePaths.add(path);
    const input = this.#bind(instance, step.input) ?? null;
    const answers = [...(instance.records?.values() ?? [])].map((seq) => this.events[seq - 1]?.value ?? null);
    const call: TaskCall = { path, stepId: step.id, attempt, failures, input, answers, leftMicro: this.#leftMicro() };
    this.calls.push(call);
    const result = this.#setup.behaviour.task(call);
    const { delayMs = 1, earlyCostMicro } = result;
    if (earlyCostMicro !== undefined) {
      const cost = { type: "costReported", path, attempt, costMicro: earlyCostMicro } as const;
      this.#internal(Math.floor(delayMs / 2), () => {
        if (this.#running.has(`${path}@${attempt}`)) this.apply({ ...cost, at: this.now });
      });
    }
    const outcome = this.#internal(delayMs, () => this.#report(instance, attempt, result));
    this.#running.set(`${path}@${attempt}`, { instance, attempt, result, outcome });
  }

  /** As a host says it: nothing that is under way may go beyond the budget together with others. */
  #leftMicro(): number | undefined {
    const { limitMicro, spentMicro } = this.state.budget;
    if (limitMicro === undefined) return undefined;
    let left = limitMicro - spentMicro;
    for (const { instance, result } of this.#running.values())
      left -= Math.max(0, (result.costMicro ?? 0) - instance.attemptCostMicro);
    return Math.max(0, left);
  }

  #report(instance: Instance, attempt: number, result: TaskResult): void {
    const { path } = instance;
    if (!this.#running.delete(`${path}@${attempt}`)) return;
    const cost = result.costMicro === undefined ? {} : { costMicro: result.costMicro };
    if ("output" in result) {
      const projection = this.#projection(instance, result.output, false);
      const isEmpty = result.output === null;
      this.apply(
        {
          type: "stepSucceeded",
          at: this.now,
          path,
          attempt,
          ...cost,
          ...projection,
          ...(isEmpty ? { empty: true } : {}),
        },
        isEmpty ? undefined : result.output,
      );
      return;
    }
    if ("asks" in result) {
      const { asks: key, allowEdit = false } = result;
      const asked = { type: "approvalAsked", path, attempt, message: `${key}?`, key, ...cost } as const;
      this.apply({ ...asked, at: this.now, ...(allowEdit ? { allowEdit } : {}) }, { plan: key });
      return;
    }
    const { fail: code, retryable = true, effect = "unknown", answered, outspent } = result;
    const tooLittle = outspent === undefined ? {} : { outspent: {} };
    const error = { code, message: `${path} failed` };
    const projection = this.#projection(instance, { error }, true);
    const failed = { type: "stepFailed", path, attempt, ...error, retryable, effect } as const;
    this.apply({ ...failed, at: this.now, ...(answered && { answered }), ...cost, ...tooLittle, ...projection });
  }

  #abort(path: string, attempt: number): void {
    const task = this.#running.get(`${path}@${attempt}`);
    if (task === undefined) throw new Error(`${path}@${attempt} is told to stop and does not run.`);
    const { onAbort = "fail", costMicro } = task.result;
    if (onAbort === "finish") return;
    this.#agenda.remove(task.outcome);
    // One that hangs comes down long after the grace.
    const delayMs = onAbort === "hang" ? 10 * 60_000 : 1;
    const cost = costMicro === undefined ? {} : { costMicro };
    this.#internal(delayMs, () => this.#report(task.instance, attempt, { fail: "ABORTED", retryable: true, ...cost }));
  }

  #dropTask(path: string, attempt: number): void {
    const task = this.#running.get(`${path}@${attempt}`);
    this.#running.delete(`${path}@${attempt}`);
    if (task !== undefined) this.#agenda.remove(task.outcome);
  }

  #evaluate(instance: Instance, attempt: number): void {
    const { step } = instance.step;
    const expr = step.kind === "set" || step.kind === "respond" ? step.value : undefined;
    const value = expr === undefined ? null : (this.#bind(instance, expr) ?? null);
    const { path } = instance;
    const empty = value === null ? { empty: true } : {};
    const projection = this.#projection(instance, value, false);
    this.apply({ type: "stepSucceeded", at: this.now, path, attempt, ...empty, ...projection }, value ?? undefined);
  }

  #project(instance: Instance): void {
    const { outcome } = instance;
    const value =
      outcome?.status === "succeeded"
        ? loadHandle(outcome.handle, this.#values())
        : outcome?.status === "failed"
          ? loadHandle({ kind: "failure", failure: outcome.failure }, this.#values())
          : null;
    const projection = this.#projection(instance, value, outcome?.status === "failed");
    this.apply({ type: "stepProjected", at: this.now, path: instance.path, ...projection });
  }

  #resolveCall(instance: Instance, attempt: number): void {
    const { path } = instance;
    const { step } = instance.step;
    if (step.kind !== "call") throw new Error(`"${path}" is no call.`);
    const name = this.#bind(instance, step.workflow);
    const bound = this.#bind(instance, step.input);
    const found = typeof name === "string" ? this.#setup.callable?.[name] : undefined;
    if (found === undefined) {
      const error = { code: "WORKFLOW_NOT_FOUND", message: `There is no "${String(name)}".` };
      const failed = { type: "stepFailed", path, attempt, ...error, retryable: false, effect: "none" } as const;
      this.apply({ ...failed, at: this.now, ...this.#projection(instance, { error }, true) });
      return;
    }
    const hash = `called ${found.name}`;
    if (!this.#graphs.has(hash)) this.#graphs.set(hash, liftControls(found));
    if (!this.state.graphs.has(hash)) this.state.graphs.set(hash, this.#indexed(hash));
    const input = isJsonObject(bound) ? bound : {};
    const terms = step.terms === undefined ? undefined : this.#bind(instance, step.terms);
    const timeoutMs = isJsonObject(terms) && typeof terms["timeoutMs"] === "number" ? terms["timeoutMs"] : undefined;
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const resolved = { type: "callResolved", path, graph: hash, workflow: found.name } as const;
    const projected = projectInput(this.#graphs.get(hash), input);
    this.apply({ ...resolved, at: this.now, inputNames: Object.keys(input), ...projected, ...limit }, input);
  }

  #askApproval(instance: Instance): void {
    const { path } = instance;
    const { step } = instance.step;
    if (step.kind !== "approve") throw new Error(`"${path}" is no approval.`);
    const shown = step.show === undefined ? { approved: true } : (this.#bind(instance, step.show) ?? null);
    const message = String(this.#bind(instance, step.message));
    this.apply({ type: "approvalAsked", at: this.now, path, message }, shown);
  }

  #beginWait(instance: Instance, attempt: number): void {
    const { path } = instance;
    const { step } = instance.step;
    if (step.kind !== "wait") throw new Error(`"${path}" is no wait.`);
    const { wait } = step;
    const value = this.#bind(
      instance,
      wait.for === "duration" ? wait.durationMs : wait.for === "instant" ? wait.at : wait.name,
    );
    const at = this.now;
    if (wait.for === "event") return this.apply({ type: "waitBegun", at, path, signal: String(value) });
    if (typeof value === "number") {
      return this.apply({ type: "waitBegun", at, path, until: wait.for === "duration" ? at + value : value });
    }
    const error = { code: "WAIT_INVALID", message: `"${path}" cannot wait for this.` };
    const failed = { type: "stepFailed", path, attempt, retryable: false, effect: "none", ...error } as const;
    this.apply({ ...failed, at, ...this.#projection(instance, { error }, true) });
  }

  /** People and other systems see what is open and do something about it. */
  #notice(): void {
    const { behaviour } = this.#setup;
    if (behaviour.answer === undefined && behaviour.signal === undefined) return;
    for (const { phase, path, signal, askedSeq, question } of this.state.active.values()) {
      const what = phase === "approval" ? `${path}@${askedSeq}` : path;
      if ((phase !== "approval" && phase !== "waiting") || this.#noticed.has(what)) continue;
      this.#noticed.add(what);
      if (phase === "approval") {
        const answer = behaviour.answer?.(path, question?.key);
        if (answer !== undefined)
          this.later(answer.delayMs ?? 1, () => this.answer(path, answer.answer, answer.edited, askedSeq));
      } else if (signal !== undefined) {
        const sent = behaviour.signal?.(path, signal);
        if (sent !== undefined) this.later(sent.delayMs, () => this.signal(signal, sent.payload));
      }
    }
  }

  #startTimer(timer: string, at: number): void {
    const entry: Entry = {
      at,
      isExternal: false,
      run: () => {
        this.#timers.delete(timer);
        this.apply({ type: "timerFired", at: this.now, timer });
      },
    };
    const running = this.#timers.get(timer);
    if (running !== undefined) this.#agenda.remove(running);
    this.#timers.set(timer, entry);
    this.#agenda.add(entry);
  }

  #soon(instance: Instance, run: () => void): void {
    this.#internal(this.#setup.behaviour.bindMs?.(instance.path) ?? 0, run);
  }

  #internal(delayMs: number, run: () => void): Entry {
    const entry: Entry = { at: this.now + delayMs, isExternal: false, run };
    this.#agenda.add(entry);
    return entry;
  }

  #bind(instance: Instance, expr: Expr): Json | undefined {
    return bind({ state: this.state, from: viewOf(instance), values: this.#values() }, expr);
  }

  #projection(instance: Instance, output: Json, hasFailed: boolean): { projected?: JsonObject; assigned?: JsonObject } {
    const { project, assign }: Step = instance.step.step;
    const evaluateAll = (exprs: { readonly [name: string]: Expr }): JsonObject => {
      const from = viewOf(instance);
      const binding = { state: this.state, from, values: this.#values(), output, hasFailed };
      const entries = Object.entries(exprs).flatMap(([name, expr]): [string, Json][] => {
        const value = bind(binding, expr);
        return value === undefined ? [] : [[name, value]];
      });
      return Object.fromEntries(entries);
    };
    return {
      ...(project === undefined ? {} : { projected: evaluateAll(project) }),
      ...(assign === undefined ? {} : { assigned: evaluateAll(assign) }),
    };
  }

  #values(): Values {
    return {
      value: (seq) => this.events[seq - 1]?.value,
      assigned: (seq) => {
        const event = this.events[seq - 1]?.event;
        return event !== undefined && "assigned" in event ? event.assigned : undefined;
      },
      file: () => undefined,
      env: () => undefined,
    };
  }

  #describe(): string {
    return writeExact([...this.state.active.values()].map(({ path, phase }) => `${path}: ${phase}`));
  }
}

function projectInput(graph: Graph | undefined, input: JsonObject): { projected?: JsonObject } {
  const project = graph?.input.project;
  if (project === undefined) return {};
  const entries = Object.entries(project).flatMap(([name, expr]): [string, Json][] => {
    const value = evaluate(expr, { path: ({ path, readsJson }) => readPath(input, path, readsJson) });
    return value === undefined ? [] : [[name, value]];
  });
  return { projected: Object.fromEntries(entries) };
}
