import type { SQLInputValue } from "node:sqlite";
import type {
  NewSlot,
  ScheduleEdit,
  Schedules,
  SlotClaim,
  SlotOutcome,
  SlotPage,
  SlotRecord,
  StoredSchedule,
} from "../../../ports/schedules.ts";
import { prepareQuery, type Query } from "../statement.ts";
import { type ScheduleRow, type SlotRow, toSchedule, toSlot } from "./schedule-rows.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** How much is remembered of what became of slots, for each schedule. */
const KEPT_SLOTS = 1_000;

export class SqliteSchedules implements Schedules {
  readonly #database: ServiceDatabase;
  readonly #watchers = new Set<() => void>();
  readonly #byId: Query<ScheduleRow>;
  readonly #due: Query<ScheduleRow>;
  readonly #nextDue: Query<{ readonly due_at: number | null }>;
  readonly #dataVersion: Query<{ readonly data_version: number }>;
  #seenVersion: number | undefined;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#byId = prepareQuery(database, "SELECT * FROM schedules WHERE id = ?");
    this.#due = prepareQuery(
      database,
      "SELECT * FROM schedules WHERE enabled = 1 AND due_at <= ? ORDER BY due_at, created_at, id",
    );
    this.#nextDue = prepareQuery(database, "SELECT min(due_at) AS due_at FROM schedules WHERE enabled = 1");
    this.#dataVersion = prepareQuery(database, "PRAGMA data_version");
    this.hasChangedElsewhere();
  }

  async add(schedule: StoredSchedule): Promise<boolean> {
    const { id, workflow, cron, timezone, input, notify, enabled, disabledReason, overlap, catchUp } = schedule;
    const { jitterSeconds, source, tenantId, maxCostMicro, nextFireAt, dueAt, version, createdAt, updatedAt } =
      schedule;
    const result = this.#database
      .prepare(
        `INSERT INTO schedules (id, workflow_name, cron_expression, timezone, input_data, notify, enabled, disabled_reason,
          overlap, catch_up, jitter_seconds, source, tenant_id, max_cost_micro, next_fire_at, due_at, version, created_at,
          updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      )
      .run(
        ...[id, workflow, cron, timezone, JSON.stringify(input), notify === undefined ? null : JSON.stringify(notify)],
        ...[enabled ? 1 : 0, disabledReason ?? null, overlap, catchUp, jitterSeconds, source, tenantId ?? null],
        ...[maxCostMicro ?? null, nextFireAt ?? null, dueAt ?? null, version, createdAt, updatedAt],
      );
    this.#tell();
    return result.changes === 1;
  }

  async find(id: string): Promise<StoredSchedule | undefined> {
    const row = this.#byId.get(id);
    return row === undefined ? undefined : toSchedule(row);
  }

  async list({ tenantId }: { readonly tenantId?: string }): Promise<readonly StoredSchedule[]> {
    const where = tenantId === undefined ? "" : "WHERE tenant_id = ?";
    const query = prepareQuery<ScheduleRow>(this.#database, `SELECT * FROM schedules ${where} ORDER BY created_at, id`);
    return query.all(...(tenantId === undefined ? [] : [tenantId])).map(toSchedule);
  }

  async edit(id: string, { version, at, changes, slots = [] }: ScheduleEdit): Promise<boolean> {
    const columns = toColumns(changes);
    const set = [...columns.map(([name]) => `${name} = ?`), "updated_at = ?", "version = version + 1"].join(", ");
    const update = this.#database.prepare(`UPDATE schedules SET ${set} WHERE id = ? AND version = ?`);
    const hasChanged = this.#database.together(() => {
      if (update.run(...columns.map(([, value]) => value), at, id, version).changes === 0) return false;
      this.#insertSlots(id, slots);
      return true;
    });
    this.#tell();
    return hasChanged;
  }

  async remove(id: string): Promise<boolean> {
    const wasThere = this.#database.together(() => {
      this.#database.prepare("DELETE FROM schedule_slots WHERE schedule_id = ?").run(id);
      return this.#database.prepare("DELETE FROM schedules WHERE id = ?").run(id).changes === 1;
    });
    this.#tell();
    return wasThere;
  }

  async listDue(now: number): Promise<readonly StoredSchedule[]> {
    return this.#due.all(now).map(toSchedule);
  }

  async nextDueAt(): Promise<number | undefined> {
    return this.#nextDue.get()?.due_at ?? undefined;
  }

  async claim(id: string, { version, fromFireAt, nextFireAt, dueAt, slots }: SlotClaim): Promise<boolean> {
    const move = this.#database.prepare(
      `UPDATE schedules SET next_fire_at = ?, due_at = ?
        WHERE id = ? AND enabled = 1 AND version = ? AND next_fire_at = ?`,
    );
    return this.#database.together(() => {
      if (move.run(nextFireAt ?? null, dueAt ?? null, id, version, fromFireAt).changes === 0) return false;
      this.#insertSlots(id, slots);
      return true;
    });
  }

  async addSlots(id: string, slots: readonly NewSlot[]): Promise<void> {
    this.#database.together(() => this.#insertSlots(id, slots));
  }

  async listPending(): Promise<readonly SlotRecord[]> {
    return prepareQuery<SlotRow>(
      this.#database,
      "SELECT * FROM schedule_slots WHERE state IN ('claimed', 'queued') ORDER BY schedule_id, slot, seq",
    )
      .all()
      .map(toSlot);
  }

  async listRunning(id: string): Promise<readonly SlotRecord[]> {
    return prepareQuery<SlotRow>(
      this.#database,
      "SELECT * FROM schedule_slots WHERE schedule_id = ? AND state = 'started' AND is_over = 0 ORDER BY seq",
    )
      .all(id)
      .map(toSlot);
  }

  async settle(seq: number, outcome: SlotOutcome): Promise<void> {
    const { state, reason, message, runId } = columnsOf(outcome);
    this.#database.together(() => {
      this.#database
        .prepare("UPDATE schedule_slots SET state = ?, reason = ?, message = ?, run_id = ? WHERE seq = ?")
        .run(state, reason, message, runId, seq);
      if (runId === null) return;
      this.#database
        .prepare(
          "UPDATE schedules SET last_run_id = ? WHERE id = (SELECT schedule_id FROM schedule_slots WHERE seq = ?)",
        )
        .run(runId, seq);
    });
  }

  async finish(seqs: readonly number[]): Promise<void> {
    const finish = this.#database.prepare("UPDATE schedule_slots SET is_over = 1 WHERE seq = ?");
    this.#database.together(() => {
      for (const seq of seqs) finish.run(seq);
    });
  }

  async listSlots(id: string, { limit, beforeSeq, offset = 0 }: SlotPage): Promise<readonly SlotRecord[]> {
    return prepareQuery<SlotRow>(
      this.#database,
      "SELECT * FROM schedule_slots WHERE schedule_id = ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?",
    )
      .all(id, beforeSeq ?? Number.MAX_SAFE_INTEGER, limit, offset)
      .map(toSlot);
  }

  async countSlots(id: string): Promise<number> {
    const text = "SELECT count(*) AS n FROM schedule_slots WHERE schedule_id = ?";
    return prepareQuery<{ readonly n: number }>(this.#database, text).get(id)?.n ?? 0;
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  hasChangedElsewhere(): boolean {
    const version = this.#dataVersion.get()?.data_version;
    const hasChanged = version !== this.#seenVersion;
    this.#seenVersion = version;
    return hasChanged;
  }

  #insertSlots(id: string, slots: readonly NewSlot[]): void {
    // A slot that has a record keeps it: whatever happens to the clock, it is not fired again.
    const insert = this.#database.prepare(
      `INSERT INTO schedule_slots (schedule_id, slot, kind, state, reason, message, run_id, last_slot, count, at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    for (const { slot, kind, outcome, lastSlot, count = 1, at } of slots) {
      const { state, reason, message, runId } = columnsOf(outcome);
      insert.run(id, slot, kind, state, reason, message, runId, lastSlot ?? null, count, at);
      if (runId !== null) this.#database.prepare("UPDATE schedules SET last_run_id = ? WHERE id = ?").run(runId, id);
    }
    this.#database
      .prepare(
        `DELETE FROM schedule_slots WHERE schedule_id = ?1 AND (state = 'skipped' OR is_over = 1) AND seq <=
          (SELECT seq FROM schedule_slots WHERE schedule_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
      )
      .run(id, KEPT_SLOTS);
  }

  #tell(): void {
    for (const changed of this.#watchers) changed();
  }
}

/** Names of columns are ours, never what somebody sent. */
function toColumns(changes: ScheduleEdit["changes"]): readonly (readonly [string, SQLInputValue])[] {
  const { cron, timezone, input, notify, enabled, disabledReason, overlap, catchUp } = changes;
  const { jitterSeconds, maxCostMicro, nextFireAt, dueAt } = changes;
  const columns: readonly (readonly [string, SQLInputValue | undefined])[] = [
    ["cron_expression", cron],
    ["timezone", timezone],
    ["input_data", input === undefined ? undefined : JSON.stringify(input)],
    ["notify", notify === undefined || notify === null ? notify : JSON.stringify(notify)],
    ["enabled", enabled === undefined ? undefined : Number(enabled)],
    ["disabled_reason", disabledReason],
    ["overlap", overlap],
    ["catch_up", catchUp],
    ["jitter_seconds", jitterSeconds],
    ["max_cost_micro", maxCostMicro],
    ["next_fire_at", nextFireAt],
    ["due_at", dueAt],
  ];
  return columns.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function columnsOf(outcome: SlotOutcome) {
  return {
    state: outcome.state,
    reason: outcome.state === "skipped" ? outcome.reason : null,
    message: outcome.state === "skipped" ? (outcome.message ?? null) : null,
    runId: outcome.state === "started" ? outcome.runId : null,
  };
}
