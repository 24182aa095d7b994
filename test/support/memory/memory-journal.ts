import {
  type Append,
  type AppendResult,
  type EventRow,
  holdsSteps,
  type Journal,
  type Line,
  type LogPage,
  type LogPosition,
  type LogQuery,
  type NewEvent,
  type OutboxQuery,
  type OutboxRecord,
  type RunFilter,
  type RunNo,
  type RunPatch,
  type RunRecord,
  type RunSelection,
  type RunStatus,
  type ViolationFilter,
  type ViolationRecord,
  wantsDriver,
} from "../../../src/ports/journal.ts";
import { factsOf, findRefusal, full, hasEnded, headAfter, taken, timeOf } from "../../../src/storage/append-rule.ts";
import { type Commit, findPosition, logBatch, type OpenPart, readLog } from "../../../src/storage/commit-log.ts";

/** The reference implementation of `Journal`: nothing is durable, everything is obvious. For tests and `--data memory`. */
export class MemoryJournal implements Journal {
  readonly #runs = new Map<RunNo, RunRecord>();
  readonly #numbers = new Map<string, RunNo>();
  readonly #events = new Map<RunNo, NewEvent[]>();
  /** Tenants of runs that were deleted. */
  readonly #deleted = new Map<RunNo, string | undefined>();
  readonly #commits: Commit[] = [];
  readonly #violations: (Pick<ViolationRecord, "seq" | "path" | "at" | "decision"> & { readonly runNo: RunNo })[] = [];
  #open: OpenPart | undefined;
  readonly #pins = new Map<string, string>();
  readonly #outbox = new Map<number, OutboxRecord>();
  readonly #places = new Map<RunNo, NonNullable<RunPatch["place"]> & { isTaken: boolean }>();
  readonly #batches = new Map<string, readonly AppendResult[]>();
  #lastReserved: RunNo = 0;
  #lastOutboxId = 0;

  async reserveRun(): Promise<RunNo> {
    this.#lastReserved += 1;
    return this.#lastReserved;
  }

  async append(entries: readonly Append[], token?: string): Promise<readonly AppendResult[]> {
    const known = token === undefined ? undefined : this.#batches.get(token);
    if (known !== undefined) return known;
    const results = entries.map((entry) => this.#appendOne(entry));
    const { commit, open } = logBatch(entries.filter((_, n) => results[n]?.ok === true).map(factsOf), this.#open);
    if (commit !== undefined) this.#commits.push({ ...commit, no: this.#commits.length + 1 });
    this.#open = open;
    if (token !== undefined) this.#batches.set(token, results);
    return results;
  }

  #appendOne(entry: Append): AppendResult {
    const before = this.#runs.get(entry.run);
    const refusal = findRefusal(before, factsOf(entry));
    if (refusal !== undefined) return refusal;
    if (entry.create !== undefined && this.#numbers.has(entry.create.id)) {
      return taken(entry.create.id);
    }
    const place = entry.patch?.place;
    const isFull = place !== undefined && this.#placesOf(place.key).length >= place.limit;
    if (isFull && entry.create !== undefined && place.whenFull === "skip") return full(place);

    const after = recordAfter(before, entry);
    this.#runs.set(entry.run, after);
    if (place !== undefined) this.#changePlace(entry.run, place);
    this.#numbers.set(after.id, entry.run);
    const events = this.#events.get(entry.run) ?? [];
    for (const noted of entry.events) {
      events.push(noted);
      const { event } = noted;
      const { policies = [] } = "policies" in event ? event : {};
      const { at, path = "" } = { path: undefined, ...event };
      for (const decision of policies) {
        this.#violations.push({ runNo: entry.run, seq: events.length, path, at, decision });
      }
    }
    this.#events.set(entry.run, events);
    for (const { hash, text } of entry.pins ?? []) {
      if (!this.#pins.has(hash)) this.#pins.set(hash, text);
    }
    for (const { kind, body } of entry.outbox ?? []) {
      this.#lastOutboxId += 1;
      const id = this.#lastOutboxId;
      this.#outbox.set(id, { id, run: entry.run, kind, body, createdAt: timeOf(entry) });
    }
    return { ok: true };
  }

  #placesOf(key: string) {
    const all = [...this.#places].map(([run, place]) => ({ run, place }));
    return all.filter(({ place }) => place.key === key).sort((a, b) => a.run - b.run);
  }

  #changePlace(run: RunNo, place: NonNullable<RunPatch["place"]>): void {
    if (place.isOver) this.#places.delete(run);
    else if (!this.#places.has(run)) this.#places.set(run, { ...place, isTaken: false });
    for (;;) {
      const all = this.#placesOf(place.key);
      const taken = all.filter(({ place: { isTaken } }) => isTaken).length;
      const first = all.find(({ place: { isTaken } }) => !isTaken);
      const record = first && this.#runs.get(first.run);
      if (first === undefined || record === undefined || taken >= first.place.limit) return;
      first.place.isTaken = true;
      this.#runs.set(first.run, { ...record, parked: false });
    }
  }

  async findLine(run: RunNo): Promise<Line | undefined> {
    const own = this.#places.get(run);
    if (own === undefined || own.isTaken) return undefined;
    const all = this.#placesOf(own.key);
    const holders = all.filter(({ place }) => place.isTaken).map((each) => this.#runs.get(each.run)?.id ?? "");
    return { holders, before: all.filter((each) => !each.place.isTaken && each.run < run).length };
  }

  async listOvertaken(): Promise<readonly string[]> {
    return [...this.#places].flatMap(([run, { key, limit }]) => {
      const newer = this.#placesOf(key).filter((each) => each.run > run);
      const wants = newer.some(({ place }) => place.whenFull === "cancelOlder" && !place.isTaken);
      return wants && newer.length >= limit ? [this.#runs.get(run)?.id ?? ""] : [];
    });
  }

  async readEvents(run: RunNo, options: { afterSeq: number; limit: number }): Promise<readonly EventRow[]> {
    const { afterSeq, limit } = options;
    const slice = (this.#events.get(run) ?? []).slice(afterSeq, afterSeq + limit);
    return slice.map(({ event }, index) => ({ seq: afterSeq + 1 + index, event }));
  }

  async readValue(run: RunNo, seq: number): Promise<string | undefined> {
    return this.#events.get(run)?.[seq - 1]?.value;
  }

  async readValues(run: RunNo, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const values = new Map<number, string>();
    for (const seq of seqs) {
      const value = await this.readValue(run, seq);
      if (value !== undefined) values.set(seq, value);
    }
    return values;
  }

  async readLog(query: LogQuery): Promise<LogPage> {
    return readLog(query, {
      ...this.#commitSource,
      run: (no) => this.#runs.get(no),
      tenantOfDeleted: (no) => this.#deleted.get(no),
      events: (run, afterSeq, limit) =>
        (this.#events.get(run) ?? [])
          .slice(afterSeq, afterSeq + limit)
          .map(({ event }, n) => ({ seq: afterSeq + 1 + n, event })),
    });
  }

  async findCommit(commit = this.#commits.length): Promise<LogPosition | undefined> {
    return findPosition(commit, this.#commitSource);
  }

  async listViolations(filter: ViolationFilter): Promise<readonly ViolationRecord[]> {
    const { run, workflow, tenantId, policy, action, from = 0, before = Number.POSITIVE_INFINITY, limit } = filter;
    return this.#violations
      .map((said, index) => ({ ...said, no: index + 1 }))
      .filter(({ no }) => filter.beforeNo === undefined || no < filter.beforeNo)
      .filter((said) => run === undefined || said.runNo === run)
      .filter(({ decision }) => policy === undefined || decision.policy === policy)
      .filter(({ decision }) => action === undefined || decision.action === action)
      .filter(({ at }) => at >= from && at < before)
      .flatMap(({ runNo, ...said }) => {
        const of = this.#runs.get(runNo);
        return of === undefined ? [] : [{ ...said, run: { id: of.id, workflow: of.workflow, tenantId: of.tenantId } }];
      })
      .filter((said) => workflow === undefined || said.run.workflow === workflow)
      .filter((said) => tenantId === undefined || said.run.tenantId === tenantId)
      .toReversed()
      .slice(0, limit);
  }

  readonly #commitSource = {
    commits: (no: number, limit: number) => this.#commits.slice(Math.max(0, no - 1)).slice(0, limit),
    lastSeq: (run: RunNo) => this.#events.get(run)?.length,
  };

  async findRun(idOrPrefix: string): Promise<RunRecord | "ambiguous" | undefined> {
    const fitting = [...this.#runs.values()].filter((run) => run.id.startsWith(idOrPrefix));
    const exact = fitting.find((run) => run.id === idOrPrefix);
    return exact ?? (fitting.length > 1 ? "ambiguous" : fitting[0]);
  }

  async readRun(run: RunNo): Promise<RunRecord | undefined> {
    return this.#runs.get(run);
  }

  async listRuns(filter: RunFilter): Promise<readonly RunRecord[]> {
    const { beforeRun, afterRun, offset = 0, limit } = filter;
    return this.#select(filter)
      .filter((run) => beforeRun === undefined || run.no < beforeRun)
      .filter((run) => afterRun === undefined || run.no > afterRun)
      .sort((a, b) => (afterRun === undefined ? b.no - a.no : a.no - b.no))
      .slice(offset, offset + limit);
  }

  async countRuns(selection: RunSelection): Promise<number> {
    return this.#select(selection).length;
  }

  async countRunsByStatus(selection: Omit<RunSelection, "status">): Promise<ReadonlyMap<RunStatus, number>> {
    const selected = this.#select(selection).map(({ status }) => status);
    return new Map(selected.map((status) => [status, selected.filter((each) => each === status).length]));
  }

  async countApprovals(): Promise<number> {
    return [...this.#runs.values()].reduce((sum, { openApprovals }) => sum + openApprovals, 0);
  }

  async sumStoredBytes(tenantId: string): Promise<number> {
    return this.#select({ tenantId }).reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  }

  #select(selection: RunSelection): RunRecord[] {
    const { status, workflow, tenantId, parentRunId, createdFrom, createdBefore, hasApprovals, text } = selection;
    const { dialect, holdsSteps: isHeld, dueAt } = selection;
    return [...this.#runs.values()]
      .filter((run) => status === undefined || status.includes(run.status))
      .filter((run) => workflow === undefined || run.workflow === workflow)
      .filter((run) => dialect === undefined || run.dialect === dialect)
      .filter((run) => isHeld !== true || holdsSteps(run))
      .filter((run) => dueAt === undefined || wantsDriver(run, dueAt))
      .filter((run) => tenantId === undefined || run.tenantId === tenantId)
      .filter((run) => parentRunId === undefined || run.parentRunId === parentRunId)
      .filter((run) => createdFrom === undefined || run.createdAt >= createdFrom)
      .filter((run) => createdBefore === undefined || run.createdAt < createdBefore)
      .filter((run) => hasApprovals !== true || run.openApprovals > 0)
      .filter((run) => text === undefined || hasText(run, text));
  }

  async claimDue(options: { now: number; afterRun: RunNo; limit: number }): Promise<readonly RunRecord[]> {
    const { now, afterRun, limit } = options;
    return [...this.#runs.values()]
      .filter((run) => !hasEnded(run.status))
      .filter((run) => !run.parked || (run.wakeAt !== undefined && run.wakeAt <= now))
      .filter((run) => run.no > afterRun)
      .sort((a, b) => a.no - b.no)
      .slice(0, limit);
  }

  async claim(run: RunNo): Promise<RunRecord | undefined> {
    return this.#runs.get(run);
  }

  async release(): Promise<void> {}

  async nextWakeAt(): Promise<number | undefined> {
    const times = [...this.#runs.values()]
      .filter((run) => !hasEnded(run.status) && run.parked)
      .flatMap((run) => run.wakeAt ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async readPinned(hash: string): Promise<string | undefined> {
    return this.#pins.get(hash);
  }

  async readOutbox({ limit, kind, afterId = 0 }: OutboxQuery): Promise<readonly OutboxRecord[]> {
    return [...this.#outbox.values()]
      .filter((record) => record.id > afterId && (kind === undefined || record.kind === kind))
      .slice(0, limit);
  }

  async finishOutbox(ids: readonly number[]): Promise<void> {
    for (const id of ids) this.#outbox.delete(id);
  }

  async deleteRun(run: RunNo): Promise<boolean> {
    const record = this.#runs.get(run);
    if (record === undefined || !hasEnded(record.status)) return false;
    this.#runs.delete(run);
    this.#deleted.set(run, record.tenantId);
    this.#numbers.delete(record.id);
    this.#events.delete(run);
    for (const entry of this.#outbox.values()) if (entry.run === run) this.#outbox.delete(entry.id);
    return true;
  }

  async close(): Promise<void> {}
}

/** Letters of ASCII are the same in either case, as in SQLite's `LIKE`. */
function hasText({ id, workflow, error }: RunRecord, text: string): boolean {
  const wanted = toLower(text);
  const stored = error === undefined ? "" : JSON.stringify(error);
  return [id, workflow, stored].some((each) => toLower(each).includes(wanted));
}

function toLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function recordAfter(before: RunRecord | undefined, entry: Append): RunRecord {
  const {
    wakeAt = before?.wakeAt,
    error = before?.error,
    startedAt,
    completedAt,
    uncertainMicro,
    costMicro,
    openApprovals,
    storedBytes,
  } = entry.patch ?? {};
  const { wakeAt: _wakeAt, error: _error, ...kept } = before ?? newRecord(entry);
  return {
    ...kept,
    ...headAfter(before, factsOf(entry)),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(costMicro === undefined ? {} : { costMicro }),
    ...(uncertainMicro === undefined ? {} : { uncertainMicro }),
    ...(openApprovals === undefined ? {} : { openApprovals }),
    ...(storedBytes === undefined ? {} : { storedBytes }),
    ...(wakeAt === null || wakeAt === undefined ? {} : { wakeAt }),
    ...(error === null || error === undefined ? {} : { error }),
  };
}

function newRecord({ run, create }: Append): RunRecord {
  if (create === undefined) throw new Error("An entry for a new run says how to create it.");
  return {
    ...create,
    no: run,
    status: "queued",
    lastSeq: 0,
    parked: false,
    costMicro: 0,
    uncertainMicro: 0,
    openApprovals: 0,
    storedBytes: 0,
  };
}
