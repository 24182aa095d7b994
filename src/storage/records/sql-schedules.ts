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
} from "../../ports/service/schedules.ts";
import type { Sql } from "../sql/sql-database.ts";
import type { RecordDatabase } from "./record-database.ts";
import { flag, grant, integer, json, optional, RecordTable, serial, text } from "./record-table.ts";

export const SCHEDULES = new RecordTable<StoredSchedule>(
  "schedules",
  {
    id: text,
    workflow: { ...text, name: "workflow_name" },
    cron: { ...text, name: "cron_expression" },
    timezone: text,
    input: { ...json, name: "input_data" },
    notify: optional(json),
    enabled: flag,
    disabledReason: optional(text),
    overlap: text,
    catchUp: text,
    jitterSeconds: integer,
    source: text,
    tenantId: optional(text),
    maxCostMicro: optional(integer),
    lastRunId: optional(text),
    nextFireAt: optional(integer),
    dueAt: optional(integer),
    version: integer,
    createdAt: integer,
    updatedAt: integer,
    grant: optional(grant),
  },
  { key: ["id"], indexes: { schedules_due: "(due_at) WHERE enabled = 1" } },
);

/** A slot with its outcome in columns. */
interface SlotRow extends Omit<SlotRecord, "outcome"> {
  readonly count: number;
  readonly state: SlotOutcome["state"];
  readonly reason?: SkipReason;
  readonly message?: string;
  readonly runId?: string;
  /** Its run is known to have ended. */
  readonly isOver: boolean;
}

export const SLOTS = new RecordTable<SlotRow>(
  "schedule_slots",
  {
    seq: serial,
    scheduleId: text,
    slot: integer,
    kind: text,
    state: text,
    reason: optional(text),
    message: optional(text),
    runId: optional(text),
    lastSlot: optional(integer),
    count: integer,
    at: integer,
    isOver: { ...flag, byDefault: "0" },
  },
  {
    unique: ["scheduleId", "slot", "kind"],
    indexes: {
      schedule_slots_by_schedule: "(schedule_id, seq)",
      schedule_slots_pending: "(schedule_id, slot) WHERE state IN ('claimed', 'queued')",
      schedule_slots_running: "(schedule_id) WHERE state = 'started' AND is_over = 0",
    },
  },
);

/** How many slots are stored for each schedule. */
const KEPT_SLOTS = 1_000;

const REMOVE_OLD_SLOTS = `DELETE FROM schedule_slots
  WHERE schedule_id = ?1 AND (state = 'skipped' OR is_over = 1) AND seq <=
    (SELECT seq FROM schedule_slots WHERE schedule_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`;

export class SqlSchedules implements Schedules {
  readonly #database: RecordDatabase;
  readonly #watchers = new Set<() => void>();
  #seenMark: unknown;

  constructor(database: RecordDatabase) {
    this.#database = database;
  }

  async add(schedule: StoredSchedule): Promise<boolean> {
    const isNew = await SCHEDULES.insert(this.#database, schedule, "ON CONFLICT DO NOTHING");
    this.tell();
    return isNew;
  }

  async find(id: string): Promise<StoredSchedule | undefined> {
    return SCHEDULES.find(this.#database, { id });
  }

  async list(ofTenant: { readonly tenantId?: string }): Promise<readonly StoredSchedule[]> {
    return SCHEDULES.list(this.#database, ofTenant, "ORDER BY created_at, id");
  }

  async edit(id: string, { version, at, changes, slots = [] }: ScheduleEdit): Promise<boolean> {
    const changed = { ...changes, updatedAt: at, version: version + 1 };
    const hasChanged = await this.#database.transaction(async (sql) => {
      if ((await SCHEDULES.update(sql, changed, { id, version })) === 0) return false;
      await insertSlots(sql, id, slots);
      return true;
    });
    this.tell();
    return hasChanged;
  }

  async remove(id: string): Promise<boolean> {
    const wasThere = await this.#database.transaction(async (sql) => {
      await SLOTS.remove(sql, { scheduleId: id });
      return (await SCHEDULES.remove(sql, { id })) === 1;
    });
    this.tell();
    return wasThere;
  }

  async listDue(now: number): Promise<readonly StoredSchedule[]> {
    return SCHEDULES.list(this.#database, {}, "WHERE enabled = 1 AND due_at <= ? ORDER BY due_at, created_at, id", now);
  }

  async nextDueAt(): Promise<number | undefined> {
    const next = "SELECT min(due_at) AS at FROM schedules WHERE enabled = 1";
    return (await this.#database.get<{ readonly at: number | null }>(next))?.at ?? undefined;
  }

  async claim(id: string, { version, fromFireAt, nextFireAt, dueAt, slots }: SlotClaim): Promise<boolean> {
    const changes = { nextFireAt: nextFireAt ?? null, dueAt: dueAt ?? null };
    const asSeen = { id, enabled: true, version, nextFireAt: fromFireAt };
    return this.#database.transaction(async (sql) => {
      if ((await SCHEDULES.update(sql, changes, asSeen)) === 0) return false;
      await insertSlots(sql, id, slots);
      return true;
    });
  }

  async addSlots(id: string, slots: readonly NewSlot[]): Promise<void> {
    await this.#database.transaction((sql) => insertSlots(sql, id, slots));
  }

  async listPending(): Promise<readonly SlotRecord[]> {
    const rest = "WHERE state IN ('claimed', 'queued') ORDER BY schedule_id, slot, seq";
    return (await SLOTS.list(this.#database, {}, rest)).map(toSlot);
  }

  async listRunning(id: string): Promise<readonly SlotRecord[]> {
    const rest = "AND state = 'started' AND is_over = 0 ORDER BY seq";
    return (await SLOTS.list(this.#database, { scheduleId: id }, rest)).map(toSlot);
  }

  async settle(seq: number, outcome: SlotOutcome): Promise<void> {
    await this.#database.transaction(async (sql) => {
      const columns = { reason: null, message: null, runId: null, ...outcome };
      if ((await SLOTS.update(sql, columns, { seq }, "AND state <> 'started'")) === 0) return;
      if (outcome.state !== "started") return;
      const ofSlot = "WHERE id = (SELECT schedule_id FROM schedule_slots WHERE seq = ?)";
      await SCHEDULES.update(sql, { lastRunId: outcome.runId }, {}, ofSlot, seq);
    });
  }

  async finish(seqs: readonly number[]): Promise<void> {
    await this.#database.transaction(async (sql) => {
      for (const seq of seqs) await SLOTS.update(sql, { isOver: true }, { seq });
    });
  }

  async listSlots(
    id: string,
    { limit, beforeSeq = Number.MAX_SAFE_INTEGER, offset = 0 }: SlotPage,
  ): Promise<readonly SlotRecord[]> {
    const rest = "AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?";
    return (await SLOTS.list(this.#database, { scheduleId: id }, rest, beforeSeq, limit, offset)).map(toSlot);
  }

  async countSlots(id: string): Promise<number> {
    return SLOTS.count(this.#database, { scheduleId: id });
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** For who has changed schedules by another connection. */
  tell(): void {
    for (const changed of this.#watchers) changed();
  }

  async hasChangedElsewhere(): Promise<boolean> {
    const mark = await this.#database.traits.readMark();
    const hasChanged = mark !== this.#seenMark;
    this.#seenMark = mark;
    return hasChanged;
  }
}

async function insertSlots(sql: Sql, scheduleId: string, slots: readonly NewSlot[]): Promise<void> {
  for (const { outcome, count = 1, ...slot } of slots) {
    // A slot that is recorded is not recorded again, so that it fires once even if the clock is set back.
    await SLOTS.insert(sql, { ...slot, ...outcome, count, scheduleId }, "ON CONFLICT DO NOTHING");
    if (outcome.state === "started") await SCHEDULES.update(sql, { lastRunId: outcome.runId }, { id: scheduleId });
  }
  await sql.run(REMOVE_OLD_SLOTS, scheduleId, KEPT_SLOTS);
}

function toSlot({ state, reason = "refused", message, runId = "", isOver: _, ...slot }: SlotRow): SlotRecord {
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
