import type { IndexedGraph } from "../core/graph/indexed-graph.ts";
import type { Event } from "../core/history/events.ts";
import { runStatus } from "../core/interpreter/run-status.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { loadGraph } from "../hosts/local/rebuild-run.ts";
import type { RunNotice } from "../hosts/run-host.ts";
import type { EventRow, Journal, RunRecord, RunStatus } from "../ports/journal.ts";
import type { Application } from "./application.ts";
import { describeRun } from "./describe-run.ts";
import { RunHistory, type StepHistory } from "./describe-run-history.ts";
import { type StepStatus, statusOfEnd, statusOfPhase } from "./describe-run-steps.ts";
import { findRun } from "./find-run.ts";
import { toUsd } from "./micro-dollars.ts";
import { toTold } from "./read-run-events.ts";
import { describeLimits, type LimitDescription, showLimit } from "./use-limits.ts";

/** What a follower of a run is told. Only what has an id can be asked for again: `status` says how it is now. */
export type StreamedChange =
  | { readonly event: "status"; readonly data: RunNow }
  | { readonly event: "step"; readonly id: string; readonly data: StepNow }
  | { readonly event: "progress" | "live"; readonly data: StepProgress }
  /** Of the journal, where that is asked for. */
  | { readonly event: "event"; readonly id: string; readonly data: EventRow }
  /** A limit is near (80 %) or used up: told once for each. */
  | { readonly event: "limit"; readonly id: string; readonly data: LimitDescription & { readonly budget_id?: string } }
  | { readonly event: "error"; readonly id: string; readonly data: { readonly code: string; readonly message: string } }
  | { readonly event: "result"; readonly id: string; readonly data: RunResultNow }
  | { readonly event: "end"; readonly id: string; readonly data: { readonly run_id: string } };

interface RunNow {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly total_cost_usd: number;
}

interface StepNow {
  readonly step_id: string;
  readonly path: string;
  readonly parallel_index: number | null;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly cost_usd: number | null;
  readonly duration_seconds: number | null;
  readonly error?: { readonly code: string; readonly message: string };
}

interface StepProgress {
  readonly path: string;
  readonly attempt: number;
  readonly event: Json;
}

interface RunResultNow extends RunNow {
  /** Null where they are larger than 64 kB: `outputs_ref` says where they are. */
  readonly outputs: Json;
  readonly outputs_ref?: string;
  readonly error: JsonObject | null;
}

type ProgressChange = Extract<StreamedChange, { readonly event: "progress" | "live" }>;

export interface StreamOptions {
  /** The id of the last change that the follower has seen. */
  readonly after?: string;
  /**
   * Also what steps tell while they work: `progress` is in their logs, `live` (the text of an agent as it comes) is nowhere
   * else. It is told once, and left out for who reads too slowly.
   */
  readonly withProgress?: boolean;
  /** Also the events of the journal, for who draws the whole run. */
  readonly withEvents?: boolean;
}

const PAGE = 200;
const MAX_INLINE_BYTES = 64 * 1024;
const MAX_PROGRESS_KEPT = 256;
const MAX_LIVE_KEPT = 1_024;

/**
 * What happens in a run, from its beginning or from where a follower has lost it: without a gap and without a repetition, as
 * the journal is read again from there. Whoever reads slowly is behind, and nothing is kept for them in memory.
 */
export async function* streamRun(
  app: Application,
  idOrPrefix: string,
  options: StreamOptions,
  stop: AbortSignal,
): AsyncGenerator<StreamedChange> {
  const record = await findRun(app, idOrPrefix);
  const { journal } = await app.records();
  const follower = new Follower(record, journal, {
    after: parseId(options.after),
    ...(options.withEvents === true ? { toTold: (row) => toTold(app, row) } : {}),
  });
  const wakeUp = new WakeUp(options.withProgress === true);
  const stopped = () => wakeUp.ring();
  // Before anything is read: what happens in between is not missed.
  const host = await app.host();
  const stopWatching = host.watch(record.id, (notice) => wakeUp.hear(notice));
  stop.addEventListener("abort", stopped, { once: true });
  try {
    let shown: RunNow | undefined;
    while (!stop.aborted) {
      yield* wakeUp.takeProgress();
      const page = await follower.readPage();
      yield* page.changes;
      const now = follower.now();
      if (shown?.status !== now.status && page.isLast) {
        yield { event: "status", data: now };
        shown = now;
      }
      if (follower.hasEnded) return yield* tellEnd(app, follower);
      if (page.isLast && !stop.aborted) await wakeUp.next();
    }
  } finally {
    stopWatching();
    stop.removeEventListener("abort", stopped);
  }
}

async function* tellEnd(app: Application, follower: Follower): AsyncGenerator<StreamedChange> {
  const { record, lastSeq } = follower;
  const id = (n: number) => `${lastSeq}.${RESULT_FROM + n}`;
  const run = await describeRun(await app.records(), await findRun(app, record.id), { withPrompts: false });
  const changes: StreamedChange[] = [];
  if (run.error !== null) {
    changes.push({ event: "error", id: id(0), data: { code: run.error.code, message: run.error.message } });
  }
  const { run_id, status, total_cost_usd, outputs, error } = run;
  const isLarge = Buffer.byteLength(JSON.stringify(outputs)) > MAX_INLINE_BYTES;
  const shown = isLarge ? { outputs: null, outputs_ref: `/runs/${run_id}?prompts=false` } : { outputs };
  const data = { run_id, status, total_cost_usd, ...shown, error: error === null ? null : { ...error } };
  changes.push({ event: "result", id: id(1), data }, { event: "end", id: id(2), data: { run_id } });
  for (const change of changes) if ("id" in change && follower.isNew(change.id)) yield change;
}

/** Behind the changes of steps that one event can cause. */
const JOURNAL_AT = 800_000;

/** Behind the changes of steps, before the result. */
const LIMITS_FROM = 900_000;

/** Behind those. */
const BUDGETS_FROM = 950_000;

/** Behind everything else that one event can cause. */
const RESULT_FROM = 1_000_000;

interface Position {
  readonly seq: number;
  readonly n: number;
}

/** What is no id of ours begins from the beginning: twice is better than never. */
function parseId(id: string | undefined): Position {
  const [, seq, n] = /^(\d{1,12})\.(\d{1,12})$/.exec(id ?? "") ?? [];
  return seq === undefined || n === undefined ? { seq: 0, n: -1 } : { seq: Number(seq), n: Number(n) };
}

/** Reads a run's events and says what each has changed. */
class Follower {
  readonly record: RunRecord;
  readonly #journal: Journal;
  readonly #after: Position;
  /** Of an event of the journal. Absent: none is told. */
  readonly #toTold: ((row: EventRow) => EventRow) | undefined;
  readonly #graphs = new Map<string, IndexedGraph>();
  #history: RunHistory | undefined;
  /** What was last told of a step, by its path. */
  readonly #told = new Map<string, string>();

  constructor(
    record: RunRecord,
    journal: Journal,
    { after, toTold: told }: { readonly after: Position; toTold?(row: EventRow): EventRow },
  ) {
    this.record = record;
    this.#journal = journal;
    this.#after = after;
    this.#toTold = told;
  }

  get lastSeq(): number {
    return this.#history?.state.seq ?? 0;
  }

  get hasEnded(): boolean {
    return this.#history?.state.phase === "finished";
  }

  now(): RunNow {
    const { id: run_id } = this.record;
    if (this.#history === undefined) return { run_id, status: "queued", total_cost_usd: 0 };
    const { state } = this.#history;
    return { run_id, status: runStatus(state), total_cost_usd: toUsd(state.budget.spentMicro) };
  }

  isNew(id: string): boolean {
    const { seq, n } = parseId(id);
    return seq > this.#after.seq || (seq === this.#after.seq && n > this.#after.n);
  }

  async readPage(): Promise<{ readonly changes: readonly StreamedChange[]; readonly isLast: boolean }> {
    const rows = await this.#journal.readEvents(this.record.no, { afterSeq: this.lastSeq, limit: PAGE });
    const changes: StreamedChange[] = [];
    for (const row of rows) for (const change of await this.#apply(row)) changes.push(change);
    return { changes, isLast: rows.length < PAGE };
  }

  async #apply({ seq, event }: EventRow): Promise<readonly StreamedChange[]> {
    this.#history ??= new RunHistory(await loadGraph(this.#journal, this.record.graph, this.#graphs));
    const history = this.#history;
    if (event.type === "callResolved" && !history.state.graphs.has(event.graph)) {
      history.state.graphs.set(event.graph, await loadGraph(this.#journal, event.graph, this.#graphs));
    }
    const { began, ended } = history.apply(event);
    const touched = new Set([...began, ...ended, ...namedBy(event, history)]);
    const steps = [...touched].flatMap((step, n) => this.#tell(step, `${seq}.${n}`));
    return [
      ...steps,
      ...this.#tellEvent({ seq, event }),
      ...this.#tellLimits(history, seq),
      ...this.#tellBudget(event, seq),
    ];
  }

  #tellEvent(row: EventRow): readonly StreamedChange[] {
    const id = `${row.seq}.${JOURNAL_AT}`;
    return this.#toTold !== undefined && this.isNew(id) ? [{ event: "event", id, data: this.#toTold(row) }] : [];
  }

  #tellBudget(event: Event, seq: number): readonly StreamedChange[] {
    const id = `${seq}.${BUDGETS_FROM}`;
    if (event.type !== "limitNeared" || !this.isNew(id)) return [];
    return [{ event: "limit", id, data: { ...showLimit(event), budget_id: event.budget } }];
  }

  #tellLimits({ state }: RunHistory, seq: number): readonly StreamedChange[] {
    return describeLimits(state).flatMap((data, n): readonly StreamedChange[] => {
      const told = `limit ${data.of}`;
      if (data.is === "ok" || this.#told.get(told) === data.is) return [];
      this.#told.set(told, data.is);
      const id = `${seq}.${LIMITS_FROM + n}`;
      return this.isNew(id) ? [{ event: "limit", id, data }] : [];
    });
  }

  /** Nothing where the step is as it was told to be, or where the follower knows it. */
  #tell(step: StepHistory, id: string): readonly StreamedChange[] {
    const data = describeStep(step);
    const told = `${data.status} ${data.attempt}`;
    if (this.#told.get(step.path) === told) return [];
    this.#told.set(step.path, told);
    return this.isNew(id) ? [{ event: "step", id, data }] : [];
  }
}

function namedBy(event: Event, history: RunHistory): readonly StepHistory[] {
  const step = "path" in event ? history.steps.get(event.path) : undefined;
  return step === undefined ? [] : [step];
}

function describeStep(step: StepHistory): StepNow {
  const { path, item, life, costMicro, unpriced, startedAt, attemptFailure } = step;
  const status = life.is === "live" ? statusOfPhase(life.instance.phase) : statusOfEnd(life.status);
  const hasFailed = (status === "failed" || status === "retrying") && attemptFailure !== undefined;
  return {
    step_id: step.step.step.id,
    path,
    parallel_index: item < 0 ? null : item,
    status,
    attempt: life.is === "live" ? life.instance.attempt : life.attempt,
    cost_usd: unpriced ? null : toUsd(costMicro),
    duration_seconds: life.is === "ended" && startedAt !== undefined ? (life.at - startedAt) / 1_000 : null,
    ...(hasFailed ? { error: attemptFailure } : {}),
  };
}

/** Tells that there is something to read, and keeps a little of what is not recorded. */
class WakeUp {
  readonly #keepsProgress: boolean;
  #kept: ProgressChange[] = [];
  #count = { progress: 0, live: 0 };
  #isDue = false;
  #ring: () => void = () => undefined;

  constructor(keepsProgress: boolean) {
    this.#keepsProgress = keepsProgress;
  }

  hear(notice: RunNotice): void {
    if (notice.type === "progress" || notice.type === "live") {
      if (!this.#keepsProgress) return;
      this.#keep(notice);
    } else if (notice.type !== "event") return;
    this.ring();
  }

  /** Many small pieces never push out what stands in the log as well. */
  #keep({ type, path, attempt, event }: Extract<RunNotice, { readonly type: "progress" | "live" }>): void {
    if (this.#count[type] >= (type === "live" ? MAX_LIVE_KEPT : MAX_PROGRESS_KEPT)) return;
    this.#count[type] += 1;
    this.#kept.push({ event: type, data: { path, attempt, event } });
  }

  ring(): void {
    this.#isDue = true;
    this.#ring();
  }

  takeProgress(): readonly ProgressChange[] {
    this.#count = { progress: 0, live: 0 };
    return this.#kept.splice(0);
  }

  async next(): Promise<void> {
    if (!this.#isDue) await new Promise<void>((resolve) => (this.#ring = resolve));
    this.#isDue = false;
  }
}
