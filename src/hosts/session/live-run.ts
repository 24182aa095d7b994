import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import type { Command } from "../../core/history/commands.ts";
import type { Event } from "../../core/history/events.ts";
import type { RunState } from "../../core/history/run-state.ts";
import { computeUncertain } from "../../core/interpreter/budget/paid-calls.ts";
import type { JsonObject } from "../../core/json.ts";
import { Queue } from "../../core/queue.ts";
import type { Append, AppendResult, NewOutbox, NewRun, RunNo, RunRecord } from "../../ports/journal.ts";
import type { ObservedCall, ObservedRun, RunObserver, RunTrace } from "../../ports/run-observer.ts";
import { passTurn } from "../../ports/turns.ts";
import type { RunNotice } from "../run-host.ts";
import { traceOf, traceParentOf } from "../trace-context.ts";
import type { ReusableOutcomes } from "./reuse/reuse.ts";
import { RunRow, type RunRowFields } from "./run-row.ts";
import { type Batch, Session } from "./session.ts";
import type { Committer, SessionLog } from "./session-log.ts";
import type { RunValues } from "./values/run-values.ts";
import { lengthOf, type StoredValue } from "./values/stored-value.ts";

/** So many commands are performed without a turn for others. */
const AT_ONCE = 50;

/** The parts that a host gives to all of its runs. */
export interface LiveRunHooks {
  readonly log: SessionLog;
  /** Called only after the commit of the event that caused the command. */
  perform(run: LiveRun, command: Command): void;
  applied(run: LiveRun, event: Event): void;
  /** Records the end with the event that caused it, if that can be done without reading anything. */
  finishAtOnce(run: LiveRun, command: Extract<Command, { type: "finishRun" }>): boolean;
  notify(run: LiveRun, notice: RunNotice): void;
  hasWatchers(runId: string): boolean;
  /** Spans of runs and attempts are exported, so that others may name them as parents. */
  readonly isTracing: boolean;
  readonly observer: WantedObserver | undefined;
  /** The commit is durable and its commands are under way. */
  afterCommit(run: LiveRun): void;
  /** The run cannot go on in this process: its record on disk is another's, or a defect has spoilt the state in memory. */
  broken(run: LiveRun, error: unknown): void;
}

/** Asked each time: observers come and go. */
export interface WantedObserver extends RunObserver {
  readonly isWanted: boolean;
}

/** A dispatched attempt whose start may still have to be written. */
export interface StartNote {
  readonly path: string;
  readonly attempt: number;
  readonly startedAt: number;
  /** The bound input as stored, where the executor wants it kept. */
  readonly startValue: StoredValue | undefined;
}

export interface LiveRunParts {
  readonly no: RunNo;
  readonly about: NewRun;
  /** Its first commit creates it. */
  readonly isNew: boolean;
  readonly state: RunState;
  /** Recorded with the run: who answers agent steps, and what else its steps need to know. */
  readonly options: JsonObject;
  readonly values: RunValues;
  readonly row: RunRowFields;
  /** Outcomes of an earlier run that this one may take over. */
  readonly reusable: ReusableOutcomes | undefined;
}

/**
 * One run in memory: its session, and what has to be durable together with the session's events. Events are applied when
 * they arrive, gathered for the next commit, and their commands performed after it.
 */
export class LiveRun implements Committer, ObservedRun {
  readonly no: RunNo;
  readonly runId: string;
  readonly options: JsonObject;
  readonly values: RunValues;
  readonly reusable: ReusableOutcomes | undefined;
  readonly session: Session;
  readonly #about: NewRun;
  readonly #hooks: LiveRunHooks;
  readonly #row: RunRow;
  /** The executor that did the work, by the event with the outcome. Kept while there is an observer. */
  readonly #executors = new WeakMap<Event, string>();
  readonly #outbox: NewOutbox[] = [];
  readonly #answers: number[] = [];
  readonly #pins: { hash: string; text: string }[] = [];
  /** Dispatched attempts whose start is not written yet: it never is where the outcome comes first. */
  readonly #starts = new Set<StartNote>();
  #isNew: boolean;
  /** There is one commit at a time. */
  #inCommit: Batch<string> | undefined;
  #durableSeq: number;
  #waiting: { readonly seq: number; resolve(): void; reject(error: Error): void }[] = [];
  #trace: RunTrace | undefined;
  /** Commands of a fan-out that wait until those before them were performed. */
  readonly #unperformed = new Queue<Command>();
  #isPerforming = false;
  isDiscarded = false;
  storingBytes = 0;

  constructor({ no, about, isNew, state, options, values, row, reusable }: LiveRunParts, hooks: LiveRunHooks) {
    this.no = no;
    this.runId = about.id;
    this.options = options;
    this.values = values;
    this.reusable = reusable;
    this.session = new Session(state, (command) => hooks.finishAtOnce(this, command));
    this.#about = about;
    this.#isNew = isNew;
    this.#row = new RunRow(row);
    this.#hooks = hooks;
    this.#durableSeq = state.seq;
  }

  get state(): RunState {
    return this.session.state;
  }

  get workflow(): string {
    return this.#about.workflow;
  }

  get tenantId(): string | undefined {
    return this.#about.tenantId;
  }

  get startedAt(): number {
    return this.state.startedAt;
  }

  get uncertainMicro(): number | null {
    return computeUncertain(this.state.budget);
  }

  get costMicro(): number {
    return this.state.budget.spentMicro;
  }

  /** Events wait for their commit, or commands for their turn. */
  get isBusy(): boolean {
    return this.hasMore || this.isCommitting || this.#isPerforming;
  }

  get isCommitting(): boolean {
    return this.#inCommit !== undefined;
  }

  get hasMore(): boolean {
    return this.session.hasEvents || this.#starts.size > 0;
  }

  /** Applies an event when it arrives, and returns its number. What it causes is performed only after its commit. */
  apply(event: Event, value?: string): number {
    // After the end the record is closed, and nothing that comes in is kept.
    if (this.isDiscarded || this.state.phase === "finished") return 0;
    const { log, observer, applied } = this.#hooks;
    const executor = observer?.isWanted === true ? this.#executorOf(event) : undefined;
    const seq = this.state.seq + 1;
    try {
      const stored = this.session.apply(event, value);
      if (executor !== undefined) this.#executors.set(stored, executor);
    } catch (error) {
      // The core has failed half-way, so its state is worth nothing. The record decides again, elsewhere or later.
      this.#break(error);
      return 0;
    }
    log.mark(this);
    applied(this, event);
    return seq;
  }

  /** Asked before the outcome is applied: afterwards the instance may be gone. */
  #executorOf(event: Event): string | undefined {
    if (event.type !== "stepSucceeded" && event.type !== "stepFailed") return undefined;
    const step = this.state.active.get(event.path)?.step.step;
    return step?.kind === "task" ? step.executor : undefined;
  }

  /** The start is written with the next commit, unless the outcome is there by then. */
  noteStart(start: StartNote): void {
    this.#starts.add(start);
    this.#hooks.log.mark(this);
  }

  /** The outcome is there. A start that carries the input is written all the same, before it. */
  dropStart(start: StartNote): void {
    if (this.#starts.delete(start) && start.startValue !== undefined) this.#writeStart(start);
  }

  #writeStart({ path, attempt, startedAt, startValue }: StartNote): void {
    const event = { type: "stepStarted", at: startedAt, path, attempt, ...lengthOf(startValue) } as const;
    this.apply(event, startValue?.stored);
  }

  addOutbox(entries: readonly NewOutbox[]): void {
    this.#outbox.push(...entries);
  }

  /** The event that was applied just now answers a request of another process, if it has an id. */
  addAnswer(request: number | undefined): void {
    if (request !== undefined) this.#answers.push(request);
  }

  addPins(pins: readonly { hash: string; text: string }[]): void {
    this.#pins.push(...pins);
  }

  addGraph(graph: IndexedGraph): void {
    this.state.graphs.set(graph.hash, graph);
  }

  collect(): Append | undefined {
    for (const start of this.#starts) this.#writeStart(start);
    this.#starts.clear();
    const batch = this.isDiscarded ? undefined : this.session.take();
    if (batch === undefined) return undefined;
    this.#inCommit = batch;
    const { events } = batch;
    // Most entries are events and nothing else, and there is one for every step.
    const entry: { -readonly [Name in keyof Append]: Append[Name] } = {
      run: this.no,
      afterSeq: batch.firstSeq - 1,
      events,
    };
    const patch = this.#row.takePatch(this.state, events);
    if (patch !== undefined) entry.patch = patch;
    if (this.#isNew) entry.create = this.#about;
    this.#isNew = false;
    if (this.#outbox.length > 0) entry.outbox = this.#outbox.splice(0);
    if (this.#answers.length > 0) entry.answers = this.#answers.splice(0);
    if (this.#pins.length > 0) entry.pins = this.#pins.splice(0);
    return entry;
  }

  committed(result: AppendResult): void {
    const batch = this.#inCommit;
    this.#inCommit = undefined;
    if (batch === undefined || this.isDiscarded) return;
    if (!result.ok) return this.#refuse(result);
    this.#durableSeq = batch.firstSeq + batch.events.length - 1;
    try {
      // Before what it causes is told.
      this.#publish(batch);
      this.perform(batch.commands);
      this.#resolveWaiting();
      this.#hooks.afterCommit(this);
    } catch (error) {
      this.#break(error);
    }
  }

  #refuse({ reason, message }: Extract<AppendResult, { readonly ok: false }>): void {
    const code = reason === "taken" ? "RUN_ID_TAKEN" : reason === "full" ? "PLACES_TAKEN" : undefined;
    const why = code === undefined ? ownerGone(message) : new PawlError(code, { message });
    this.leave(why);
    this.#hooks.broken(this, code !== undefined || reason === "fenced" ? why : new Error(message));
  }

  failed(error: unknown): void {
    this.#break(error, isPawlError(error) ? error : undefined);
  }

  /** Performs commands whose event is durable. Where there are many, others have their turn in between. */
  perform(commands: readonly Command[]): void {
    if (commands.length <= AT_ONCE && !this.#isPerforming)
      for (const command of commands) this.#hooks.perform(this, command);
    else {
      for (const command of commands) this.#unperformed.push(command);
      if (!this.#isPerforming) void this.#performInTurns();
    }
  }

  async #performInTurns(): Promise<void> {
    this.#isPerforming = true;
    try {
      for (let done = 1; this.#unperformed.size > 0 && !this.isDiscarded; done += 1) {
        const command = this.#unperformed.shift();
        if (command !== undefined) this.#hooks.perform(this, command);
        if (done % AT_ONCE === 0) await passTurn(this.tenantId ?? "");
      }
      this.#isPerforming = false;
      if (!this.isDiscarded) this.#hooks.afterCommit(this);
    } catch (error) {
      this.#isPerforming = false;
      this.#break(error);
    }
  }

  #publish({ events, firstSeq }: Batch<string>): void {
    const { observer, notify } = this.#hooks;
    if (observer?.isWanted === true) {
      const toObserved = ({ event }: { event: Event }, index: number) => ({
        seq: firstSeq + index,
        event,
        executor: this.#executors.get(event),
      });
      observer.committed(this, events.map(toObserved));
    }
    if (!this.isWatched) return;
    for (const [index, { event }] of events.entries()) {
      const graph = event.type === "callResolved" ? this.state.graphs.get(event.graph)?.graph : undefined;
      notify(this, { type: "event", seq: firstSeq + index, event, graph });
    }
  }

  /** Resolves when everything applied so far is durable. */
  durable(): Promise<void> {
    if (this.isDurable) return Promise.resolve();
    if (this.isDiscarded) return Promise.reject(ownerGone());
    return new Promise((resolve, reject) => this.#waiting.push({ seq: this.state.seq, resolve, reject }));
  }

  /** Everything applied so far is on the disk. */
  get isDurable(): boolean {
    return this.#durableSeq >= this.state.seq;
  }

  #resolveWaiting(): void {
    if (this.#waiting.length === 0) return;
    const done = this.#waiting.filter(({ seq }) => seq <= this.#durableSeq);
    this.#waiting = this.#waiting.filter(({ seq }) => seq > this.#durableSeq);
    for (const { resolve } of done) resolve();
  }

  #break(error: unknown, why?: PawlError): void {
    this.leave(why);
    this.#hooks.broken(this, error);
  }

  /** Leaves memory: nothing more is taken in, and all waiting callers are refused. */
  leave(why?: PawlError): void {
    this.isDiscarded = true;
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    // Made only for waiters: an error costs its stack, and most runs have none.
    const reason = why ?? ownerGone();
    for (const { reject } of waiting) reject(reason);
  }

  get isWatched(): boolean {
    return this.#hooks.hasWatchers(this.runId);
  }

  notify(notice: RunNotice): void {
    if (this.isWatched) this.#hooks.notify(this, notice);
  }

  noteCall(call: ObservedCall): void {
    const { observer } = this.#hooks;
    if (observer?.isWanted === true) observer.called?.(this, call);
  }

  get trace(): RunTrace {
    this.#trace ??= traceOf(this.runId, this.options);
    return this.#trace;
  }

  /** W3C trace context for those who work for an attempt. */
  traceParentOf(path: string, attempt: number): string | undefined {
    return traceParentOf(this, { tracing: this.#hooks.isTracing, path, attempt });
  }

  /** The run as its row shows it, once what is applied is durable. */
  toRecord(): RunRecord {
    return { ...this.#about, ...this.#row.current, no: this.no, lastSeq: this.state.seq };
  }
}

function ownerGone(message = "The run is no longer driven here."): PawlError {
  return new PawlError("OWNER_GONE", { message });
}
