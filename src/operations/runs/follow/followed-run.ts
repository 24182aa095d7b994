import type { IndexedGraph } from "../../../core/graph/indexed-graph.ts";
import type { Event } from "../../../core/history/events.ts";
import { computeUncertain } from "../../../core/interpreter/budget/paid-calls.ts";
import { runStatus, waitsForOthers } from "../../../core/interpreter/run-status.ts";
import { loadGraph } from "../../../hosts/session/rebuild-run.ts";
import type { EventRow, Journal, RunRecord } from "../../../ports/journal.ts";
import { passTurn } from "../../../ports/turns.ts";
import { findRun } from "../../application/find-run.ts";
import type { Records } from "../../application/ports.ts";
import { toUsd, toUsdAtMost } from "../../limits/micro-dollars.ts";
import { describeLimits, showLimit } from "../../limits/use-limits.ts";
import { describeRun } from "../describe/describe-run.ts";
import { RunHistory } from "../describe/describe-run-history.ts";
import { applyStored } from "../describe/describe-run-reading.ts";
import { describeStep } from "../describe/describe-step.ts";
import type { StepHistory } from "../describe/step-history.ts";
import { entryOf } from "../describe/step-tree.ts";
import { endIdOf, type NumberedChange, RESULT_FROM, type RunNow, type StepNow } from "./streamed-change.ts";

const PAGE = 200;

/** Behind the changes of steps that one event can cause. */
const JOURNAL_AT = 800_000;

/** Behind the changes of steps, before the result. */
const LIMITS_FROM = 900_000;

/** Behind those. */
const BUDGETS_FROM = 950_000;

/**
 * One run as all those see it who follow it at the moment: its events are read, folded and kept once, however many they are.
 * Each of them holds no more than a place in its changes.
 */
export class FollowedRun {
  /** All so far, in order. */
  readonly changes: NumberedChange[] = [];
  readonly #record: RunRecord;
  readonly #journal: Journal;
  #isLast = false;
  #reading: Promise<void> | undefined;
  #nextReading: Promise<void> | undefined;
  #end: Promise<readonly NumberedChange[]> | undefined;
  readonly #graphs = new Map<string, IndexedGraph>();
  #history: RunHistory | undefined;
  /** The last news of each step, by its path. */
  readonly #told = new Map<string, string>();

  constructor(record: RunRecord, journal: Journal) {
    this.#record = record;
    this.#journal = journal;
  }

  get lastSeq(): number {
    return this.#history?.state.seq ?? 0;
  }

  /** Whether everything was read that there was. */
  get isLast(): boolean {
    return this.#isLast;
  }

  get hasEnded(): boolean {
    return this.#history?.state.phase === "finished";
  }

  now(): RunNow {
    const { id: run_id } = this.#record;
    if (this.#history === undefined)
      return { run_id, status: "queued", total_cost_usd: 0, cost_usd_at_most: 0, at_rest: false };
    const { state } = this.#history;
    const at_rest = state.phase === "finished" || waitsForOthers(state);
    const { spentMicro } = state.budget;
    const cost_usd_at_most = toUsdAtMost(spentMicro, computeUncertain(state.budget));
    return { run_id, status: runStatus(state), total_cost_usd: toUsd(spentMicro), cost_usd_at_most, at_rest };
  }

  /** Reads what was written before this was called, a page of it at most. All who ask during one reading share the next. */
  readOn(): Promise<void> {
    this.#nextReading ??= this.#readNext();
    return this.#nextReading;
  }

  async #readNext(): Promise<void> {
    await this.#reading?.catch(() => undefined);
    await passTurn();
    this.#reading = this.#nextReading;
    this.#nextReading = undefined;
    await this.#readPage();
  }

  async #readPage(): Promise<void> {
    // While a page is half applied the state is ahead of the changes: nobody is to take it for the whole.
    this.#isLast = false;
    const rows = await this.#journal.readEvents(this.#record.no, { afterSeq: this.lastSeq, limit: PAGE });
    for (const row of rows) for (const change of await this.#apply(row)) this.changes.push(change);
    this.#isLast = rows.length < PAGE;
  }

  /** The last changes of a run that has ended. */
  end(sources: Records): Promise<readonly NumberedChange[]> {
    this.#end ??= this.#describeEnd(sources);
    return this.#end;
  }

  async #describeEnd(sources: Records): Promise<readonly NumberedChange[]> {
    const id = (n: number) => `${this.lastSeq}.${RESULT_FROM + n}`;
    const record = await findRun({ records: async () => sources }, this.#record.id);
    const run = await describeRun(sources, record, { withSteps: false });
    const { run_id, status, total_cost_usd, cost_usd_at_most, outputs, outputs_ref, error } = run;
    const shown = outputs_ref === undefined ? { outputs } : { outputs, outputs_ref };
    const costs = { total_cost_usd, cost_usd_at_most };
    const data = { run_id, status, ...costs, ...shown, error: error === null ? null : { ...error } };
    return [
      ...(error === null
        ? []
        : [{ event: "error" as const, id: id(0), data: { code: error.code, message: error.message } }]),
      { event: "result", id: id(1), data },
      { event: "end", id: endIdOf({ lastSeq: this.lastSeq }), data: { run_id } },
    ];
  }

  async #apply({ seq, event }: EventRow): Promise<readonly NumberedChange[]> {
    this.#history ??= new RunHistory(await loadGraph(this.#journal, this.#record.graph, this.#graphs));
    const history = this.#history;
    const { changed } = await applyStored(history, event, { journal: this.#journal, graphs: this.#graphs });
    const steps: NumberedChange[] = [];
    // The event that opens a fan-out begins all of its items.
    for (const [n, step] of [...changed].entries()) {
      steps.push(...this.#tell(step, `${seq}.${n}`));
      await passTurn();
    }
    const recorded: NumberedChange = { event: "event", id: `${seq}.${JOURNAL_AT}`, data: { seq, event } };
    return [...steps, recorded, ...this.#tellLimits(history, seq), ...this.#tellBudget(event, seq)];
  }

  #tellBudget(event: Event, seq: number): readonly NumberedChange[] {
    const id = `${seq}.${BUDGETS_FROM}`;
    if (event.type !== "limitNeared") return [];
    return [{ event: "limit", id, data: { ...showLimit(event), budget_id: event.budget } }];
  }

  #tellLimits({ state }: RunHistory, seq: number): readonly NumberedChange[] {
    return describeLimits(state).flatMap((data, n): readonly NumberedChange[] => {
      const told = `limit ${data.of}`;
      if (data.is === "ok" || this.#told.get(told) === data.is) return [];
      this.#told.set(told, data.is);
      const id = `${seq}.${LIMITS_FROM + n}`;
      return [{ event: "limit", id, data }];
    });
  }

  /** Nothing where the step is as it was told to be. */
  #tell(step: StepHistory, id: string): readonly NumberedChange[] {
    const data = describeNow(step);
    const told = `${data.status} ${data.attempt}`;
    if (this.#told.get(step.path) === told) return [];
    this.#told.set(step.path, told);
    return [{ event: "step", id, data }];
  }
}

function describeNow(step: StepHistory): StepNow {
  const { usage: _, started_at: __, completed_at: ___, ...told } = describeStep(entryOf(step));
  const { failure } = step;
  return { ...told, ...(failure === undefined ? {} : { error: { code: failure.code, message: failure.message } }) };
}
