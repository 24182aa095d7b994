import type {
  Deliveries,
  Delivery,
  DeliverySelection,
  DeliveryState,
  DeliveryStatus,
  DeliveryTry,
  DueWanted,
  NewDelivery,
} from "../../ports/service/deliveries.ts";
import type { Sql, SqlValue } from "../sql/sql-database.ts";
import type { RecordDatabase } from "./record-database.ts";
import { emptyIfAbsent, flag, integer, optional, placesFor, RecordTable, serial, text } from "./record-table.ts";

/** A delivery with its state in columns. The body may be long and is read for a try only. */
interface DeliveryRow extends Omit<Delivery, "state">, Pick<NewDelivery, "body"> {
  readonly status: DeliveryStatus;
  /** 0 unless it is pending; `endedAt` is 0 while it is. */
  readonly nextAt: number;
  readonly endedAt: number;
  readonly reason: string;
  readonly claimedUntil: number;
}

export const DELIVERIES = new RecordTable<DeliveryRow>(
  "deliveries",
  {
    no: serial,
    id: text,
    tenantId: optional(text),
    event: text,
    runId: optional(text),
    workflow: text,
    url: text,
    readsEnv: flag,
    sealedHeaders: { ...text, name: "headers" },
    body: { ...text, isLong: true },
    lane: text,
    createdAt: integer,
    status: text,
    nextAt: integer,
    endedAt: { ...integer, byDefault: "0" },
    reason: { ...text, byDefault: "''" },
    round: { ...integer, byDefault: "1" },
    tries: { ...integer, byDefault: "0" },
    triesInRound: { ...integer, byDefault: "0" },
    channel: { ...text, byDefault: "'webhook'" },
    claimedBy: { ...optional(text), added: "deliveries-2" },
    claimedUntil: { ...integer, byDefault: "0", added: "deliveries-2" },
  },
  {
    unique: ["id"],
    indexes: {
      deliveries_due: "(next_at, no) WHERE status = 'pending'",
      deliveries_by_run: "(run_id)",
      deliveries_by_end: "(ended_at) WHERE status <> 'pending'",
      deliveries_claimed: "(claimed_by) WHERE claimed_by IS NOT NULL",
    },
  },
);

interface TryRow extends DeliveryTry {
  readonly no: number;
  readonly delivery: string;
}

export const TRIES = new RecordTable<TryRow>(
  "delivery_tries",
  {
    no: serial,
    delivery: text,
    at: integer,
    durationMs: integer,
    status: optional(integer),
    error: optional(text),
    excerpt: optional(text),
  },
  { indexes: { delivery_tries_by_delivery: "(delivery)" } },
);

interface ClosedAddress extends Pick<NewDelivery, "tenantId" | "workflow" | "url"> {
  readonly at: number;
}

export const CLOSED = new RecordTable<ClosedAddress>(
  "closed_addresses",
  { tenantId: emptyIfAbsent, workflow: text, url: text, at: integer },
  { key: ["tenantId", "workflow", "url"], isByKey: true },
);

const UNCLAIMED = { claimedBy: null, claimedUntil: 0 };

const COUNT_TRY = `UPDATE deliveries SET tries = tries + 1,
    tries_in_round = tries_in_round + (CASE WHEN round = ? THEN 1 ELSE 0 END) WHERE id = ?`;

const SEND_AGAIN = `UPDATE deliveries
  SET status = 'pending', next_at = ?, ended_at = 0, reason = '', round = round + 1, tries_in_round = 0 WHERE id = ?`;

const IS_ENDED_BEFORE = "status <> 'pending' AND ended_at < ?";

export function openDeliveries(database: RecordDatabase): Deliveries {
  const { serverTime, skipLocked } = database.traits;
  const isDue = `status = 'pending' AND next_at <= ? AND claimed_until <= coalesce(${serverTime}, ?)`;

  /** As many as there is room for in their lanes. */
  async function findDue({ now, limit, perLane, lanesUnderWay }: DueWanted): Promise<readonly Delivery[]> {
    const count = new Map<string, number>();
    const add = (lane: string) => count.set(lane, (count.get(lane) ?? 0) + 1).get(lane) ?? 0;
    for (const lane of lanesUnderWay) add(lane);
    const full = [...count].filter(([, underWay]) => underWay >= perLane).map(([lane]) => lane);
    const hasRoom = full.length === 0 ? "" : `AND lane NOT IN (${placesFor(full)})`;
    const rest = `WHERE ${isDue} ${hasRoom} ORDER BY next_at, no LIMIT ?`;
    const due = await DELIVERIES.list(database, {}, rest, now, now, ...full, limit);
    return due.filter(({ lane }) => add(lane) <= perLane).map(toDelivery);
  }

  return {
    async add(delivery) {
      const row = { ...delivery, status: "pending", nextAt: delivery.createdAt } as const;
      return DELIVERIES.insert(database, row, "ON CONFLICT (id) DO NOTHING");
    },
    async find(id) {
      const row = await DELIVERIES.find(database, { id });
      return row === undefined ? undefined : toDelivery(row);
    },
    async readBody(id) {
      const row = await database.get<{ readonly body: string }>("SELECT body FROM deliveries WHERE id = ?", id);
      if (row === undefined) throw new Error(`The delivery ${id} is gone while it is under way.`);
      return row.body;
    },
    async list({ beforeNo, offset = 0, limit, ...selection }) {
      const { where, values } = toWhere(selection, beforeNo);
      const rest = `${where} ORDER BY no DESC LIMIT ? OFFSET ?`;
      return (await DELIVERIES.list(database, {}, rest, ...values, limit, offset)).map(toDelivery);
    },
    async count(selection) {
      const { where, values } = toWhere(selection);
      return DELIVERIES.count(database, {}, where, ...values);
    },
    async claimDue(wanted) {
      const { now, by, leaseMs } = wanted;
      // Read first, since this is asked all the time and seldom finds anything. Others may be faster: the claim looks again.
      const found = await findDue(wanted);
      if (found.length === 0) return [];
      const still = `SELECT no FROM deliveries WHERE no IN (${placesFor(found)}) AND ${isDue} ${skipLocked}`;
      const text = `UPDATE deliveries SET claimed_by = ?, claimed_until = coalesce(${serverTime}, ?) + ?
        WHERE no IN (${still}) RETURNING no`;
      const numbers = found.map(({ no }) => no);
      const claimed = await database.all<{ readonly no: number }>(text, by, now, leaseMs, ...numbers, now, now);
      const isMine = new Set(claimed.map(({ no }) => no));
      return found.filter(({ no }) => isMine.has(no)).map((delivery) => ({ ...delivery, claimedBy: by }));
    },
    async release({ by, except = [] }) {
      const others = except.length === 0 ? "" : `AND id NOT IN (${placesFor(except)})`;
      if (by === "all")
        await DELIVERIES.update(database, UNCLAIMED, {}, `WHERE claimed_by IS NOT NULL ${others}`, ...except);
      else await DELIVERIES.update(database, UNCLAIMED, { claimedBy: by }, others, ...except);
    },
    async readTries(id) {
      const tries = await TRIES.list(database, { delivery: id }, "ORDER BY no");
      return tries.map(({ no: _, delivery: __, ...made }) => made);
    },
    record: (delivery, { made, next, gone }) =>
      database.transaction(async (sql) => {
        await TRIES.insert(sql, { ...made, delivery: delivery.id });
        await sql.run(COUNT_TRY, delivery.round, delivery.id);
        await setState(sql, delivery, next);
        if (gone) await CLOSED.insert(sql, { ...addressOf(delivery), at: made.at }, "ON CONFLICT DO NOTHING");
        else if (next.status === "delivered") await CLOSED.remove(sql, addressOf(delivery));
      }),
    skip: (delivery, { at, reason }) =>
      database.transaction((sql) => setState(sql, delivery, { status: "skipped", endedAt: at, reason })),
    isClosed: async (address) => (await CLOSED.find(database, addressOf(address))) !== undefined,
    sendAgain: async (id, at) => (await database.run(SEND_AGAIN, at, id)) === 1,
    forgetEndedBefore: (at) =>
      database.transaction(async (sql) => {
        const ended = `SELECT id FROM deliveries WHERE ${IS_ENDED_BEFORE}`;
        await TRIES.remove(sql, {}, `WHERE delivery IN (${ended})`, at);
        await DELIVERIES.remove(sql, {}, `WHERE ${IS_ENDED_BEFORE}`, at);
      }),
  };
}

/** A claim that somebody else has taken over, or a request to send it again, is left alone. */
async function setState(sql: Sql, delivery: Delivery, state: DeliveryState): Promise<void> {
  const { id, round } = delivery;
  const claimedBy = delivery.claimedBy ?? null;
  await DELIVERIES.update(sql, { nextAt: 0, endedAt: 0, reason: "", ...state }, { id, round, claimedBy });
  if (claimedBy !== null) await DELIVERIES.update(sql, UNCLAIMED, { id, claimedBy });
}

type Address = Pick<NewDelivery, "tenantId" | "workflow" | "url">;

function addressOf({ tenantId, workflow, url }: Address) {
  return { tenantId: tenantId ?? null, workflow, url };
}

interface Where {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

function toWhere({ tenantId, runId, status }: DeliverySelection, beforeNo?: number): Where {
  const conditions: readonly (readonly [string, readonly SqlValue[] | undefined])[] = [
    ["tenant_id = ?", tenantId === undefined ? undefined : [tenantId]],
    ["run_id = ?", runId === undefined ? undefined : [runId]],
    [status?.length === 0 ? "1 = 0" : `status IN (${placesFor(status ?? [])})`, status],
    ["no < ?", beforeNo === undefined ? undefined : [beforeNo]],
  ];
  const held = conditions.filter(([, values]) => values !== undefined);
  return {
    where: held.length === 0 ? "" : `WHERE ${held.map(([text]) => text).join(" AND ")}`,
    values: held.flatMap(([, values]) => values ?? []),
  };
}

function toDelivery(row: DeliveryRow): Delivery {
  const { status, nextAt, endedAt, reason, body: _, claimedUntil: __, ...delivery } = row;
  switch (status) {
    case "pending":
      return { ...delivery, state: { status, nextAt } };
    case "delivered":
      return { ...delivery, state: { status, endedAt } };
    case "failed":
    case "skipped":
      return { ...delivery, state: { status, endedAt, reason } };
  }
}
