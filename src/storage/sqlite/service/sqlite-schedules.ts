import type {
  NewSlot,
  ScheduleEdit,
  Schedules,
  SkipReason,
  SlotClaim,
  SlotOutcome,
  SlotPage,
  SlotRecord,
  StoredSchedule,
} from "../../../ports/service/schedules.ts";
import { flag, grant, json, plain, RecordTable } from "./record-table.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** A slot with its outcome in columns. */
interface SlotRow extends Omit<SlotRecord, "outcome"> {
  readonly state: SlotOutcome["state"];
  readonly reason?: SkipReason;
  readonly message?: string;
  readonly runId?: string;
}

/** How many slots are stored for each schedule. */
const KEPT_SLOTS = 1_000;

const REMOVE_OLD_SLOTS = `DELETE FROM schedule_slots
  WHERE schedule_id = ?1 AND (state = 'skipped' OR is_over = 1) AND seq <=
    (SELECT seq FROM schedule_slots WHERE schedule_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`;

export class SqliteSchedules implements Schedules {
  readonly #database: ServiceDatabase;
  readonly #schedules: RecordTable<StoredSchedule>;
  readonly #slots: RecordTable<SlotRow>;
  readonly #watchers = new Set<() => void>();
  #seenVersion: number | undefined;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#schedules = new RecordTable<StoredSchedule>(database, "schedules", {
      id: plain,
      workflow: { ...plain, name: "workflow_name" },
      cron: { ...plain, name: "cron_expression" },
      timezone: plain,
      input: { ...json, name: "input_data" },
      notify: json,
      enabled: flag,
      disabledReason: plain,
      overlap: plain,
      catchUp: plain,
      jitterSeconds: plain,
      source: plain,
      tenantId: plain,
      maxCostMicro: plain,
      grant,
      lastRunId: plain,
      nextFireAt: plain,
      dueAt: plain,
      version: plain,
      createdAt: plain,
      updatedAt: plain,
    });
    this.#slots = new RecordTable<SlotRow>(database, "schedule_slots", {
      seq: plain,
      scheduleId: plain,
      slot: plain,
      kind: plain,
      state: plain,
      reason: plain,
      message: plain,
      runId: plain,
      lastSlot: plain,
      count: plain,
      at: plain,
    });
    this.hasChangedElsewhere();
  }

  async add(schedule: StoredSchedule): Promise<boolean> {
    const isNew = this.#schedules.insert(schedule, "ON CONFLICT DO NOTHING");
    this.tell();
    return isNew;
  }

  async find(id: string): Promise<StoredSchedule | undefined> {
    return this.#schedules.find("WHERE id = ?", id);
  }

  async list({ tenantId }: { readonly tenantId?: string }): Promise<readonly StoredSchedule[]> {
    if (tenantId === undefined) return this.#schedules.list("ORDER BY created_at, id");
    return this.#schedules.list("WHERE tenant_id = ? ORDER BY created_at, id", tenantId);
  }

  async edit(id: string, { version, at, changes, slots = [] }: ScheduleEdit): Promise<boolean> {
    const changed = { ...changes, updatedAt: at, version: version + 1 };
    const hasChanged = this.#database.together(() => {
      if (this.#schedules.update(changed, "id = ? AND version = ?", id, version) === 0) return false;
      this.#insertSlots(id, slots);
      return true;
    });
    this.tell();
    return hasChanged;
  }

  async remove(id: string): Promise<boolean> {
    const wasThere = this.#database.together(() => {
      this.#database.run("DELETE FROM schedule_slots WHERE schedule_id = ?", id);
      return this.#database.run("DELETE FROM schedules WHERE id = ?", id) === 1;
    });
    this.tell();
    return wasThere;
  }

  async listDue(now: number): Promise<readonly StoredSchedule[]> {
    return this.#schedules.list("WHERE enabled = 1 AND due_at <= ? ORDER BY due_at, created_at, id", now);
  }

  async nextDueAt(): Promise<number | undefined> {
    const text = "SELECT min(due_at) AS at FROM schedules WHERE enabled = 1";
    return this.#database.get<{ readonly at: number | null }>(text)?.at ?? undefined;
  }

  async claim(id: string, { version, fromFireAt, nextFireAt, dueAt, slots }: SlotClaim): Promise<boolean> {
    const changes = { nextFireAt: nextFireAt ?? null, dueAt: dueAt ?? null };
    const isAsSeen = "id = ? AND enabled = 1 AND version = ? AND next_fire_at = ?";
    return this.#database.together(() => {
      if (this.#schedules.update(changes, isAsSeen, id, version, fromFireAt) === 0) return false;
      this.#insertSlots(id, slots);
      return true;
    });
  }

  async addSlots(id: string, slots: readonly NewSlot[]): Promise<void> {
    this.#database.together(() => this.#insertSlots(id, slots));
  }

  async listPending(): Promise<readonly SlotRecord[]> {
    return this.#slots.list("WHERE state IN ('claimed', 'queued') ORDER BY schedule_id, slot, seq").map(toSlot);
  }

  async listRunning(id: string): Promise<readonly SlotRecord[]> {
    const rest = "WHERE schedule_id = ? AND state = 'started' AND is_over = 0 ORDER BY seq";
    return this.#slots.list(rest, id).map(toSlot);
  }

  async settle(seq: number, outcome: SlotOutcome): Promise<void> {
    this.#database.together(() => {
      this.#slots.update({ reason: null, message: null, runId: null, ...outcome }, "seq = ?", seq);
      if (outcome.state !== "started") return;
      const isOfSlot = "id = (SELECT schedule_id FROM schedule_slots WHERE seq = ?)";
      this.#schedules.update({ lastRunId: outcome.runId }, isOfSlot, seq);
    });
  }

  async finish(seqs: readonly number[]): Promise<void> {
    this.#database.together(() => {
      for (const seq of seqs) this.#database.run("UPDATE schedule_slots SET is_over = 1 WHERE seq = ?", seq);
    });
  }

  async listSlots(
    id: string,
    { limit, beforeSeq = Number.MAX_SAFE_INTEGER, offset = 0 }: SlotPage,
  ): Promise<readonly SlotRecord[]> {
    const rest = "WHERE schedule_id = ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?";
    return this.#slots.list(rest, id, beforeSeq, limit, offset).map(toSlot);
  }

  async countSlots(id: string): Promise<number> {
    const text = "SELECT count(*) AS n FROM schedule_slots WHERE schedule_id = ?";
    return this.#database.get<{ readonly n: number }>(text, id)?.n ?? 0;
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** For who has changed schedules by another connection. */
  tell(): void {
    for (const changed of this.#watchers) changed();
  }

  hasChangedElsewhere(): boolean {
    const version = this.#database.readVersion();
    const hasChanged = version !== this.#seenVersion;
    this.#seenVersion = version;
    return hasChanged;
  }

  #insertSlots(scheduleId: string, slots: readonly NewSlot[]): void {
    for (const { outcome, count = 1, ...slot } of slots) {
      // A slot that is recorded is not recorded again, so that it fires once even if the clock is set back.
      this.#slots.insert({ ...slot, ...outcome, count, scheduleId }, "ON CONFLICT DO NOTHING");
      if (outcome.state === "started") this.#schedules.update({ lastRunId: outcome.runId }, "id = ?", scheduleId);
    }
    this.#database.run(REMOVE_OLD_SLOTS, scheduleId, KEPT_SLOTS);
  }
}

function toSlot({ state, reason = "refused", message, runId = "", ...slot }: SlotRow): SlotRecord {
  switch (state) {
    case "claimed":
    case "queued":
      return { ...slot, outcome: { state } };
    case "started":
      return { ...slot, outcome: { state, runId } };
    case "skipped":
      return { ...slot, outcome: { state, reason, message } };
  }
}
