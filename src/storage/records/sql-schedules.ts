import type {
  NewSlot,
  Schedules,
  SkipReason,
  SlotOutcome,
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
    requestedBy: { ...optional(text), added: "schedules-2" },
    says: { ...optional(json), added: "schedules-3" },
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

/** `tell` is for who has changed schedules by another connection. */
export function openSchedules(database: RecordDatabase): Schedules & { tell(): void } {
  const watchers = new Set<() => void>();
  let seenMark: unknown;
  const tell = () => {
    for (const changed of watchers) changed();
  };
  return {
    tell,
    async add(schedule) {
      const isNew = await SCHEDULES.insert(database, schedule, "ON CONFLICT DO NOTHING");
      tell();
      return isNew;
    },
    find: (id) => SCHEDULES.find(database, { id }),
    list: (wanted) => SCHEDULES.list(database, wanted, "ORDER BY created_at, id"),
    async edit(id, { version, at, changes, slots = [] }) {
      const changed = { ...changes, updatedAt: at, version: version + 1 };
      const hasChanged = await database.transaction(async (sql) => {
        if ((await SCHEDULES.update(sql, changed, { id, version })) === 0) return false;
        await insertSlots(sql, id, slots);
        return true;
      });
      tell();
      return hasChanged;
    },
    async remove(id) {
      const wasThere = await database.transaction(async (sql) => {
        await SLOTS.remove(sql, { scheduleId: id });
        return (await SCHEDULES.remove(sql, { id })) === 1;
      });
      tell();
      return wasThere;
    },
    listDue: (now) =>
      SCHEDULES.list(database, {}, "WHERE enabled = 1 AND due_at <= ? ORDER BY due_at, created_at, id", now),
    async nextDueAt() {
      const next = "SELECT min(due_at) AS at FROM schedules WHERE enabled = 1";
      return (await database.get<{ readonly at: number | null }>(next))?.at ?? undefined;
    },
    async claim(id, { version, fromFireAt, nextFireAt, dueAt, slots }) {
      const changes = { nextFireAt: nextFireAt ?? null, dueAt: dueAt ?? null };
      const asSeen = { id, enabled: true, version, nextFireAt: fromFireAt };
      return database.transaction(async (sql) => {
        if ((await SCHEDULES.update(sql, changes, asSeen)) === 0) return false;
        await insertSlots(sql, id, slots);
        return true;
      });
    },
    addSlots: (id, slots) => database.transaction((sql) => insertSlots(sql, id, slots)),
    async listPending() {
      const rest = "WHERE state IN ('claimed', 'queued') ORDER BY schedule_id, slot, seq";
      return (await SLOTS.list(database, {}, rest)).map(toSlot);
    },
    async listRunning(id) {
      const rest = "AND state = 'started' AND is_over = 0 ORDER BY seq";
      return (await SLOTS.list(database, { scheduleId: id }, rest)).map(toSlot);
    },
    settle: (seq, outcome) =>
      database.transaction(async (sql) => {
        const columns = { reason: null, message: null, runId: null, ...outcome };
        if ((await SLOTS.update(sql, columns, { seq }, "AND state <> 'started'")) === 0) return;
        if (outcome.state !== "started") return;
        const ofSlot = "WHERE id = (SELECT schedule_id FROM schedule_slots WHERE seq = ?)";
        await SCHEDULES.update(sql, { lastRunId: outcome.runId }, {}, ofSlot, seq);
      }),
    finish: (seqs) =>
      database.transaction(async (sql) => {
        for (const seq of seqs) await SLOTS.update(sql, { isOver: true }, { seq });
      }),
    async listSlots(id, { limit, beforeSeq = Number.MAX_SAFE_INTEGER, offset = 0 }) {
      const rest = "AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?";
      return (await SLOTS.list(database, { scheduleId: id }, rest, beforeSeq, limit, offset)).map(toSlot);
    },
    countSlots: (id) => SLOTS.count(database, { scheduleId: id }),
    watch(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    async hasChangedElsewhere() {
      const mark = await database.traits.readMark();
      const hasChanged = mark !== seenMark;
      seenMark = mark;
      return hasChanged;
    },
  };
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
