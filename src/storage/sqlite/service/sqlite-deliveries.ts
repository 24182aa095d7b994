import type { SQLInputValue } from "node:sqlite";
import type {
  Deliveries,
  Delivery,
  DeliveryChannel,
  DeliveryFilter,
  DeliverySelection,
  DeliveryState,
  DeliveryTry,
  DueWanted,
  MadeTry,
  NewDelivery,
} from "../../../ports/deliveries.ts";
import { prepareQuery } from "../statement.ts";
import type { ServiceDatabase } from "./service-database.ts";

interface DeliveryRow {
  readonly no: number;
  readonly id: string;
  readonly tenant_id: string | null;
  readonly channel: DeliveryChannel;
  readonly event: string;
  readonly run_id: string | null;
  readonly workflow: string;
  readonly url: string;
  readonly reads_env: number;
  readonly headers: string;
  readonly lane: string;
  readonly created_at: number;
  readonly status: Delivery["state"]["status"];
  readonly next_at: number;
  readonly ended_at: number;
  readonly reason: string;
  readonly round: number;
  readonly tries: number;
  readonly tries_in_round: number;
}

interface TryRow {
  readonly at: number;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly excerpt: string | null;
}

/** Everything but the body, which may be long and is read for a try only. */
const COLUMNS = `no, id, tenant_id, channel, event, run_id, workflow, url, reads_env, headers, lane, created_at, status,
  next_at, ended_at, reason, round, tries, tries_in_round`;

const INSERT = `INSERT INTO deliveries
  (id, tenant_id, channel, event, run_id, workflow, url, reads_env, headers, body, lane, created_at, status, next_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?) ON CONFLICT (id) DO NOTHING`;

const SELECT_DUE = `SELECT ${COLUMNS} FROM deliveries
  WHERE status = 'pending' AND next_at <= ?
    AND lane NOT IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(?))
  ORDER BY next_at, no LIMIT ?`;

const INSERT_TRY = `INSERT INTO delivery_tries (delivery, at, duration_ms, status, error, excerpt)
  VALUES (?, ?, ?, ?, ?, ?)`;

/** Only in the round that it was read in: who has asked for it again meanwhile has begun another. */
const UPDATE_STATE = `UPDATE deliveries SET status = ?, next_at = ?, ended_at = ?, reason = ?
  WHERE id = ? AND round = ?`;

const SEND_AGAIN = `UPDATE deliveries
  SET status = 'pending', next_at = ?, ended_at = 0, reason = '', round = round + 1, tries_in_round = 0 WHERE id = ?`;

export class SqliteDeliveries implements Deliveries {
  readonly #database: ServiceDatabase;

  constructor(database: ServiceDatabase) {
    this.#database = database;
  }

  async add(delivery: NewDelivery): Promise<boolean> {
    const { id, tenantId, channel, event, runId, workflow, url, readsEnv, sealedHeaders, body, lane, createdAt } =
      delivery;
    const target = [workflow, url, readsEnv ? 1 : 0, sealedHeaders, body, lane];
    return (
      this.#run(INSERT, id, tenantId ?? null, channel, event, runId ?? null, ...target, createdAt, createdAt) === 1
    );
  }

  async find(id: string): Promise<Delivery | undefined> {
    const row = this.#query<DeliveryRow>(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`).get(id);
    return row === undefined ? undefined : toDelivery(row);
  }

  async readBody(id: string): Promise<string> {
    const row = this.#query<{ readonly body: string }>("SELECT body FROM deliveries WHERE id = ?").get(id);
    if (row === undefined) throw new Error(`The delivery ${id} is gone while it is under way.`);
    return row.body;
  }

  async list({ beforeNo, offset = 0, limit, ...selection }: DeliveryFilter): Promise<readonly Delivery[]> {
    const { where, values } = toWhere(selection, beforeNo);
    const text = `SELECT ${COLUMNS} FROM deliveries ${where} ORDER BY no DESC LIMIT ? OFFSET ?`;
    return this.#query<DeliveryRow>(text)
      .all(...values, limit, offset)
      .map(toDelivery);
  }

  async count(selection: DeliverySelection): Promise<number> {
    const { where, values } = toWhere(selection);
    const row = this.#query<{ readonly n: number }>(`SELECT count(*) AS n FROM deliveries ${where}`).get(...values);
    return row?.n ?? 0;
  }

  async listDue({ now, limit, fullLanes, flying }: DueWanted): Promise<readonly Delivery[]> {
    return this.#query<DeliveryRow>(SELECT_DUE)
      .all(now, JSON.stringify(fullLanes), JSON.stringify(flying), limit)
      .map(toDelivery);
  }

  async readTries(id: string): Promise<readonly DeliveryTry[]> {
    const text = "SELECT at, duration_ms, status, error, excerpt FROM delivery_tries WHERE delivery = ? ORDER BY no";
    return this.#query<TryRow>(text).all(id).map(toTry);
  }

  async record(delivery: Delivery, { made, next, gone }: MadeTry): Promise<void> {
    const { at, durationMs, status, error, excerpt } = made;
    this.#database.together(() => {
      this.#run(INSERT_TRY, delivery.id, at, durationMs, status ?? null, error ?? null, excerpt ?? null);
      this.#run("UPDATE deliveries SET tries = tries + 1 WHERE id = ?", delivery.id);
      this.#run(
        "UPDATE deliveries SET tries_in_round = tries_in_round + 1 WHERE id = ? AND round = ?",
        delivery.id,
        delivery.round,
      );
      this.#setState(delivery, next);
      if (gone) this.#close(delivery, at);
      else if (next.status === "delivered") this.#open(delivery);
    });
  }

  async skip(delivery: Delivery, { at, reason }: { readonly at: number; readonly reason: string }): Promise<void> {
    this.#setState(delivery, { status: "skipped", endedAt: at, reason });
  }

  async isClosed(address: Pick<NewDelivery, "tenantId" | "workflow" | "url">): Promise<boolean> {
    const text = "SELECT 1 FROM closed_addresses WHERE tenant_id = ? AND workflow = ? AND url = ?";
    return this.#query(text).get(...toAddress(address)) !== undefined;
  }

  async sendAgain(id: string, at: number): Promise<boolean> {
    return this.#run(SEND_AGAIN, at, id) === 1;
  }

  async forgetEndedBefore(at: number): Promise<void> {
    this.#database.together(() => {
      const ended = "SELECT id FROM deliveries WHERE status <> 'pending' AND ended_at < ?";
      this.#run(`DELETE FROM delivery_tries WHERE delivery IN (${ended})`, at);
      this.#run("DELETE FROM deliveries WHERE status <> 'pending' AND ended_at < ?", at);
    });
  }

  #setState({ id, round }: Delivery, state: DeliveryState): void {
    const nextAt = state.status === "pending" ? state.nextAt : 0;
    const endedAt = state.status === "pending" ? 0 : state.endedAt;
    this.#run(UPDATE_STATE, state.status, nextAt, endedAt, "reason" in state ? state.reason : "", id, round);
  }

  #close(delivery: Delivery, at: number): void {
    const address = toAddress(delivery);
    this.#run("INSERT INTO closed_addresses VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", ...address, at);
  }

  #open(delivery: Delivery): void {
    const address = toAddress(delivery);
    this.#run("DELETE FROM closed_addresses WHERE tenant_id = ? AND workflow = ? AND url = ?", ...address);
  }

  #query<Row>(text: string) {
    return prepareQuery<Row>(this.#database, text);
  }

  #run(text: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#database.prepare(text).run(...values).changes);
  }
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

function toAddress({ tenantId, workflow, url }: Pick<NewDelivery, "tenantId" | "workflow" | "url">): readonly string[] {
  return [tenantId ?? "", workflow, url];
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    no: row.no,
    id: row.id,
    channel: row.channel,
    event: row.event,
    workflow: row.workflow,
    url: row.url,
    readsEnv: row.reads_env === 1,
    sealedHeaders: row.headers,
    lane: row.lane,
    createdAt: row.created_at,
    state: toState(row),
    round: row.round,
    tries: row.tries,
    triesInRound: row.tries_in_round,
    ...(row.tenant_id === null ? {} : { tenantId: row.tenant_id }),
    ...(row.run_id === null ? {} : { runId: row.run_id }),
  };
}

function toState({ status, next_at: nextAt, ended_at: endedAt, reason }: DeliveryRow): DeliveryState {
  switch (status) {
    case "pending":
      return { status, nextAt };
    case "delivered":
      return { status, endedAt };
    case "failed":
    case "skipped":
      return { status, endedAt, reason };
  }
}

function toTry({ at, duration_ms: durationMs, status, error, excerpt }: TryRow): DeliveryTry {
  return {
    at,
    durationMs,
    ...(status === null ? {} : { status }),
    ...(error === null ? {} : { error }),
    ...(excerpt === null ? {} : { excerpt }),
  };
}
