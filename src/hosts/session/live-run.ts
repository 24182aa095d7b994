import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import type { Command } from "../../core/history/commands.ts";
import type { Event } from "../../core/history/events.ts";
import type { RunState } from "../../core/history/run-state.ts";
import { next, type Step } from "../../core/interpreter/next.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Append, AppendResult, NewEvent, NewOutbox, NewRun, RunNo, RunRecord } from "../../ports/journal.ts";
import type { ObservedCall, ObservedEvent, RunObserver, RunTrace } from "../../ports/run-observer.ts";
import type { RunNotice } from "../run-host.ts";
import { traceOf, traceParentOf } from "../trace-context.ts";
import type { CommitQueue, Committer } from "./commit-queue.ts";
import { RunRow, type RunRowFields } from "./run-row.ts";
import type { RunValues } from "./values/run-values.ts";

/** One run, as its driver takes it up. */
export interface LiveRunParts {
  readonly no: RunNo;
  readonly about: NewRun;
  /** Its first commit creates it. */
  readonly isNew: boolean;
  readonly state: RunState;
  /** As recorded with the run: who answers agent steps, and what else its steps need to know. */
  readonly options: JsonObject;
  readonly values: RunValues;
  readonly shown: RunRowFields;
}

/** What all drivers of a host share. */
export interface LiveRunHooks {
  readonly queue: CommitQueue;
  perform(run: LiveRun, command: Command): void;
  /** An event has changed the state. */
  applied(run: LiveRun, event: Event): void;
  /** Records the end together with the event that brought it, if that can be done without reading anything. */
  finishAtOnce(run: LiveRun, command: Extract<Command, { type: "finishRun" }>): boolean;
  notify(run: LiveRun, notice: RunNotice): void;
  hasWatchers(runId: string): boolean;
  /** Whether spans of runs and attempts are told somewhere, so that others may name them as parents. */
  readonly isTracing: boolean;
  /** Absent, or not wanted: nobody observes runs. */
  readonly observer: WantedObserver | undefined;
  /** The commit is durable and what it wished is under way. */
  afterCommit(run: LiveRun): void;
  /** The run's record on disk has become another: nothing that is in memory counts any more. */
  discarded(run: LiveRun, result: AppendResult & { ok: false }): void;
  /** A defect has spoilt the state in memory. */
  broken(run: LiveRun, error: unknown): void;
}

/** Asked each time: who observes may come and go. */
export interface WantedObserver extends RunObserver {
  readonly isWanted: boolean;
}

/** A dispatched attempt whose start may still have to be written. */
export interface StartNote {
  readonly path: string;
  readonly attempt: number;
  readonly startedAt: number;
  /** The bound input as stored, where the executor wants it kept. */
  readonly startValue: string | undefined;
}

interface Commit {
  readonly events: readonly NewEvent[];
  /** Who did the work, by the event that tells the outcome. */
  readonly executors: ReadonlyMap<Event, string>;
  readonly commands: readonly Command[];
  readonly firstSeq: number;
}

/** One run in memory: applies events, gathers them for the next commit, and performs commands after it. */
export class LiveRun implements Committer {
  readonly no: RunNo;
  readonly runId: string;
  readonly state: RunState;
  readonly options: JsonObject;
  readonly values: RunValues;
  readonly #about: NewRun;
  readonly #hooks: LiveRunHooks;
  #events: NewEvent[] = [];
  #executors = new Map<Event, string>();
  #commands: Command[] = [];
  readonly #outbox: NewOutbox[] = [];
  readonly #pins: { hash: string; text: string }[] = [];
  /** Dispatched attempts whose start is not written yet: it never is where the outcome comes first. */
  readonly #starts = new Set<StartNote>();
  #isNew: boolean;
  #committedSeq: number;
  /** There is one commit at a time. */
  #inCommit: Commit | undefined;
  readonly #row: RunRow;
  #durableSeq: number;
  #waiting: { readonly seq: number; resolve(): void; reject(error: Error): void }[] = [];
  #trace: RunTrace | undefined;
  isDiscarded = false;

  constructor(run: LiveRunParts, hooks: LiveRunHooks) {
    this.no = run.no;
    this.runId = run.about.id;
    this.state = run.state;
    this.options = run.options;
    this.values = run.values;
    this.#about = run.about;
    this.#isNew = run.isNew;
    this.#row = new RunRow(run.shown);
    this.#hooks = hooks;
    this.#committedSeq = run.state.seq;
    this.#durableSeq = run.state.seq;
  }

  get workflow(): string {
    return this.#about.workflow;
  }

  get trace(): RunTrace {
    this.#trace ??= traceOf(this.runId, this.options);
    return this.#trace;
  }

  /** W3C trace context for whoever works for an attempt. */
  traceParentOf(path: string, attempt: number): string | undefined {
    return traceParentOf(this, { tracing: this.#hooks.isTracing, path, attempt });
  }

  get startedAt(): number {
    return this.state.startedAt;
  }

  get costMicro(): number {
    return this.state.budget.spentMicro;
  }

  /** Whose run it is. */
  get tenantId(): string | undefined {
    return this.#about.tenantId;
  }

  /** True while events wait for their commit or commands for their turn. */
  get isBusy(): boolean {
    return this.#events.length > 0 || this.#inCommit !== undefined || this.#starts.size > 0;
  }

  /** Applies at arrival. What it causes is performed only after its commit. */
  apply(event: Event, value?: string): number {
    // After the end the record is closed: what still comes in has nowhere to go.
    if (this.isDiscarded || this.state.phase === "finished") return 0;
    const executor = this.#hooks.observer?.isWanted === true ? this.#executorOf(event) : undefined;
    const step = this.#step(event);
    if (step === undefined) return 0;
    const { commands, decided } = step;
    const stored = decided.length === 0 ? event : { ...event, decided };
    if (executor !== undefined) this.#executors.set(stored, executor);
    this.#events.push(value === undefined ? { event: stored } : { event: stored, value });
    const { seq } = this.state;
    for (const command of commands) {
      const isDone = command.type === "finishRun" && this.#hooks.finishAtOnce(this, command);
      if (!isDone) this.#commands.push(command);
    }
    this.#hooks.queue.mark(this);
    this.#hooks.applied(this, event);
    return seq;
  }

  /** Asked before the outcome is applied: afterwards the instance may be gone. */
  #executorOf(event: Event): string | undefined {
    if (event.type !== "stepSucceeded" && event.type !== "stepFailed") return undefined;
    const step = this.state.active.get(event.path)?.step.step;
    return step?.kind === "task" ? step.executor : undefined;
  }

  /** Where the core breaks down half-way its state is worth nothing: the run's record decides again, elsewhere or later. */
  #step(event: Event): Step | undefined {
    try {
      return next(this.state, event);
    } catch (error) {
      this.leave();
      this.#hooks.broken(this, error);
      return undefined;
    }
  }

  /** The start is written with the next commit, unless the outcome is there by then. */
  noteStart(start: StartNote): void {
    this.#starts.add(start);
    this.#hooks.queue.mark(this);
  }

  /** The outcome is there. A start that carries the input is written all the same, before it. */
  dropStart(start: StartNote): void {
    if (this.#starts.delete(start) && start.startValue !== undefined) this.#writeStart(start);
  }

  #writeStart({ path, attempt, startedAt, startValue }: StartNote): void {
    this.apply({ type: "stepStarted", at: startedAt, path, attempt }, startValue);
  }

  addOutbox(entries: readonly NewOutbox[]): void {
    this.#outbox.push(...entries);
  }

  addPins(pins: readonly { hash: string; text: string }[]): void {
    this.#pins.push(...pins);
  }

  addGraph(graph: IndexedGraph): void {
    this.state.graphs.set(graph.hash, graph);
  }

  /** Performs commands that need no commit of their own, after a rebuild. */
  performNow(commands: readonly Command[]): void {
    for (const command of commands) this.#hooks.perform(this, command);
  }

  /** Resolves when everything applied so far is durable. */
  durable(): Promise<void> {
    const seq = this.state.seq;
    if (this.#durableSeq >= seq) return Promise.resolve();
    if (this.isDiscarded) return Promise.reject(ownerGone());
    return new Promise((resolve, reject) => this.#waiting.push({ seq, resolve, reject }));
  }

  /** Everything applied so far is on the disk. */
  get isDurable(): boolean {
    return this.#durableSeq >= this.state.seq;
  }

  get isWatched(): boolean {
    return this.#hooks.hasWatchers(this.runId);
  }

  /** A call inside an attempt, for who observes. */
  noteCall(call: ObservedCall): void {
    const { observer } = this.#hooks;
    if (observer?.isWanted === true) observer.called?.(this, call);
  }

  notify(notice: RunNotice): void {
    if (this.isWatched) this.#hooks.notify(this, notice);
  }

  collect(): Append | undefined {
    for (const start of this.#starts) this.#writeStart(start);
    this.#starts.clear();
    if (this.isDiscarded || this.#events.length === 0) return undefined;
    const afterSeq = this.#committedSeq;
    const events = this.#events;
    this.#inCommit = { events, executors: this.#executors, commands: this.#commands, firstSeq: afterSeq + 1 };
    if (this.#executors.size > 0) this.#executors = new Map();
    this.#committedSeq += events.length;
    this.#events = [];
    this.#commands = [];
    return this.#toEntry(afterSeq, events);
  }

  // Most entries are events and nothing else, and there is one for every step.
  #toEntry(afterSeq: number, events: readonly NewEvent[]): Append {
    const entry: { -readonly [Name in keyof Append]: Append[Name] } = { run: this.no, afterSeq, events };
    const patch = this.#row.takePatch(this.state, events);
    if (patch !== undefined) entry.patch = patch;
    if (this.#isNew) entry.create = this.#about;
    this.#isNew = false;
    if (this.#outbox.length > 0) entry.outbox = this.#outbox.splice(0);
    if (this.#pins.length > 0) entry.pins = this.#pins.splice(0);
    return entry;
  }

  committed(result: AppendResult): void {
    const commit = this.#inCommit;
    this.#inCommit = undefined;
    if (commit === undefined || this.isDiscarded) return;
    if (!result.ok) {
      this.discard(result);
      return;
    }
    this.#durableSeq = commit.firstSeq + commit.events.length - 1;
    try {
      this.performNow(commit.commands);
      this.#publish(commit);
      this.#resolveWaiting();
      this.#hooks.afterCommit(this);
    } catch (error) {
      this.leave();
      this.#hooks.broken(this, error);
    }
  }

  #publish(commit: Commit): void {
    const { observer } = this.#hooks;
    if (observer?.isWanted === true) observer.committed(this, toObserved(commit));
    this.#tellWatchers(commit);
  }

  #tellWatchers({ events, firstSeq }: Commit): void {
    if (!this.isWatched) return;
    for (const [index, { event }] of events.entries()) {
      const graph = event.type === "callResolved" ? this.state.graphs.get(event.graph)?.graph : undefined;
      this.#hooks.notify(this, { type: "event", seq: firstSeq + index, event, graph });
    }
  }

  #resolveWaiting(): void {
    if (this.#waiting.length === 0) return;
    const done = this.#waiting.filter(({ seq }) => seq <= this.#durableSeq);
    this.#waiting = this.#waiting.filter(({ seq }) => seq > this.#durableSeq);
    for (const { resolve } of done) resolve();
  }

  /** What is in memory no longer counts. */
  discard(result: AppendResult & { ok: false }): void {
    this.leave(ownerGone(result.message));
    this.#hooks.discarded(this, result);
  }

  failed(error: unknown): void {
    this.leave(isPawlError(error) ? error : undefined);
    this.#hooks.broken(this, error);
  }

  /** Leaves memory: nothing more is taken in, and whoever still waits is told. */
  leave(why?: PawlError): void {
    this.isDiscarded = true;
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    // Made only where somebody is told: most runs leave with nobody waiting, and an error costs its stack.
    const told = why ?? ownerGone();
    for (const { reject } of waiting) reject(told);
  }

  /** The run as its row says it, once what is applied is durable. */
  toRecord(): RunRecord {
    return { ...this.#about, ...this.#row.current, no: this.no, lastSeq: this.state.seq };
  }
}

function toObserved({ events, executors, firstSeq }: Commit): readonly ObservedEvent[] {
  return events.map(({ event }, index) => ({ seq: firstSeq + index, event, executor: executors.get(event) }));
}

function ownerGone(message = "The run is no longer driven here."): PawlError {
  return new PawlError("OWNER_GONE", { message });
}
