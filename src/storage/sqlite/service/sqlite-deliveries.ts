import type { SQLInputValue } from "node:sqlite";
import type {
  Deliveries,
  Delivery,
  DeliveryFilter,
  DeliverySelection,
  DeliveryState,
  DeliveryStatus,
  DeliveryTry,
  DueWanted,
  MadeTry,
  NewDelivery,
} from "../../../ports/service/deliveries.ts";
import { flag, plain, RecordTable } from "./record-table.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** A delivery with its state in columns. The body may be long and is read for a try only. */
interface DeliveryRow extends Omit<Delivery, "state">, Pick<NewDelivery, "body"> {
  readonly status: DeliveryStatus;
  /** 0 unless it is pending; `endedAt` is 0 while it is. */
  readonly nextAt: number;
  readonly endedAt: number;
  readonly reason: string;
}

interface TryRow extends DeliveryTry {
  readonly no: number;
  readonly delivery: string;
}

interface ClosedAddress extends Required<Pick<NewDelivery, "tenantId" | "workflow" | "url">> {
  readonly at: number;
}

const SELECT_DUE = `WHERE status = 'pending' AND next_at <= ?
    AND lane NOT IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(?))
  ORDER BY next_at, no LIMIT ?`;

const COUNT_TRY = `UPDATE deliveries SET tries = tries + 1,
    tries_in_round = tries_in_round + (CASE WHEN round = ? THEN 1 ELSE 0 END) WHERE id = ?`;

const SEND_AGAIN = `UPDATE deliveries
  SET status = 'pending', next_at = ?, ended_at = 0, reason = '', round = round + 1, tries_in_round = 0 WHERE id = ?`;

const IS_ENDED_BEFORE = "status <> 'pending' AND ended_at < ?";
const IS_ADDRESS = "tenant_id = ? AND workflow = ? AND url = ?";

export class SqliteDeliveries implements Deliveries {
  readonly #database: ServiceDatabase;
  readonly #deliveries: RecordTable<DeliveryRow>;
  readonly #tries: RecordTable<TryRow>;
  readonly #closed: RecordTable<ClosedAddress>;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#deliveries = new RecordTable<DeliveryRow>(database, "deliveries", {
      no: plain,
      id: plain,
      tenantId: plain,
      channel: plain,
      event: plain,
      runId: plain,
      workflow: plain,
      url: plain,
      readsEnv: flag,
      sealedHeaders: { ...plain, name: "headers" },
      body: { ...plain, isLong: true },
      lane: plain,
      createdAt: plain,
      status: plain,
      nextAt: plain,
      endedAt: plain,
      reason: plain,
      round: plain,
      tries: plain,
      triesInRound: plain,
    });
    this.#tries = new RecordTable<TryRow>(database, "delivery_tries", {
      no: plain,
      delivery: plain,
      at: plain,
      durationMs: plain,
      status: plain,
      error: plain,
      excerpt: plain,
    });
    this.#closed = new RecordTable<ClosedAddress>(database, "closed_addresses", {
      tenantId: plain,
      workflow: plain,
      url: plain,
      at: plain,
    });
  }

  async add(delivery: NewDelivery): Promise<boolean> {
    const row = { ...delivery, status: "pending", nextAt: delivery.createdAt } as const;
    return this.#deliveries.insert(row, "ON CONFLICT (id) DO NOTHING");
  }

  async find(id: string): Promise<Delivery | undefined> {
    const row = this.#deliveries.find("WHERE id = ?", id);
    return row === undefined ? undefined : toDelivery(row);
  }

  async readBody(id: string): Promise<string> {
    const row = this.#database.get<{ readonly body: string }>("SELECT body FROM deliveries WHERE id = ?", id);
    if (row === undefined) throw new Error(`The delivery ${id} is gone while it is under way.`);
    return row.body;
  }

  async list({ beforeNo, offset = 0, limit, ...selection }: DeliveryFilter): Promise<readonly Delivery[]> {
    const { where, values } = toWhere(selection, beforeNo);
    return this.#deliveries
      .list(`${where} ORDER BY no DESC LIMIT ? OFFSET ?`, ...values, limit, offset)
      .map(toDelivery);
  }

  async count(selection: DeliverySelection): Promise<number> {
    const { where, values } = toWhere(selection);
    const text = `SELECT count(*) AS n FROM deliveries ${where}`;
    return this.#database.get<{ readonly n: number }>(text, ...values)?.n ?? 0;
  }

  async listDue({ now, limit, fullLanes, flying }: DueWanted): Promise<readonly Delivery[]> {
    return this.#deliveries
      .list(SELECT_DUE, now, JSON.stringify(fullLanes), JSON.stringify(flying), limit)
      .map(toDelivery);
  }

  async readTries(id: string): Promise<readonly DeliveryTry[]> {
    return this.#tries.list("WHERE delivery = ? ORDER BY no", id).map(({ no: _, delivery: __, ...made }) => made);
  }

  async record(delivery: Delivery, { made, next, gone }: MadeTry): Promise<void> {
    this.#database.together(() => {
      this.#tries.insert({ ...made, delivery: delivery.id });
      this.#database.run(COUNT_TRY, delivery.round, delivery.id);
      this.#setState(delivery, next);
      if (gone) this.#close(delivery, made.at);
      else if (next.status === "delivered") this.#open(delivery);
    });
  }

  async skip(delivery: Delivery, { at, reason }: { readonly at: number; readonly reason: string }): Promise<void> {
    this.#setState(delivery, { status: "skipped", endedAt: at, reason });
  }

  async isClosed(address: Address): Promise<boolean> {
    return this.#closed.find(`WHERE ${IS_ADDRESS}`, ...toKey(address)) !== undefined;
  }

  async sendAgain(id: string, at: number): Promise<boolean> {
    return this.#database.run(SEND_AGAIN, at, id) === 1;
  }

  async forgetEndedBefore(at: number): Promise<void> {
    this.#database.together(() => {
      const ended = `SELECT id FROM deliveries WHERE ${IS_ENDED_BEFORE}`;
      this.#database.run(`DELETE FROM delivery_tries WHERE delivery IN (${ended})`, at);
      this.#database.run(`DELETE FROM deliveries WHERE ${IS_ENDED_BEFORE}`, at);
    });
  }

  /** Only in the round that it was read in: a request to send it again has begun another round. */
  #setState({ id, round }: Delivery, state: DeliveryState): void {
    this.#deliveries.update({ nextAt: 0, endedAt: 0, reason: "", ...state }, "id = ? AND round = ?", id, round);
  }

  #close({ tenantId = "", workflow, url }: Address, at: number): void {
    this.#closed.insert({ tenantId, workflow, url, at }, "ON CONFLICT DO NOTHING");
  }

  #open(address: Address): void {
    this.#database.run(`DELETE FROM closed_addresses WHERE ${IS_ADDRESS}`, ...toKey(address));
  }
}

type Address = Pick<NewDelivery, "tenantId" | "workflow" | "url">;

function toKey({ tenantId = "", workflow, url }: Address): readonly string[] {
  return [tenantId, workflow, url];
}

interface Where {
  readonly where: string;
  readonly values: readonly SQLInputValue[];
}

function toWhere({ tenantId, runId, status }: DeliverySelection, beforeNo?: number): Where {
  const conditions: readonly (readonly [string, SQLInputValue | undefined])[] = [
    ["tenant_id = ?", tenantId],
    ["run_id = ?", runId],
    ["status IN (SELECT value FROM json_each(?))", status === undefined ? undefined : JSON.stringify(status)],
    ["no < ?", beforeNo],
  ];
  const held = conditions.filter(([, value]) => value !== undefined);
  return {
    where: held.length === 0 ? "" : `WHERE ${held.map(([text]) => text).join(" AND ")}`,
    values: held.map(([, value]) => value ?? null),
  };
}

function toDelivery({ status, nextAt, endedAt, reason, body: _, ...delivery }: DeliveryRow): Delivery {
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
