import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import type { Sql, SqlDatabase, SqlValue } from "../sql/sql-database.ts";
import { type DatabaseAddress, readDatabaseUrl } from "./database-address.ts";
import { isInTheWay, isLost, isNotPrepared, toDatabaseFailure } from "./postgres-failure.ts";
import { fromPostgres, toNumbered, toPostgres } from "./postgres-text.ts";

export interface PostgresOptions {
  readonly address: DatabaseAddress;
  /** The most connections of this process. */
  readonly connections: number;
}

/** How long a statement waits for a server that takes no connections, and how soon it asks again. */
const PATIENCE_MS = 5_000;
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 250;

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that says nothing for so long is taken to be gone. */
const ANSWER_TIMEOUT_MS = 60_000;

const MAX_TRANSACTIONS = 20;

const { builtins } = pg.types;

/** Whole numbers are exact below 2^53, as ours all are; texts may hold a NUL. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.NUMERIC]: Number,
  [builtins.TEXT]: fromPostgres,
};

const types = {
  getTypeParser: (oid: number, format?: string) =>
    (format !== "binary" && PARSERS[oid]) || pg.types.getTypeParser(oid, format as "text"),
} as pg.CustomTypesConfig;

/**
 * A PostgreSQL database by a pool of connections. Statements are prepared once in each session, until a pooler between here and
 * the server turns out to hand sessions around: then they are sent whole.
 */
export class PostgresDatabase implements SqlDatabase {
  readonly #pool: pg.Pool;
  readonly #shown: string;
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>();
  #hasNames = true;

  constructor({ address, connections }: PostgresOptions) {
    this.#shown = address.shown;
    this.#pool = new pg.Pool({
      connectionString: address.url,
      max: connections,
      types,
      application_name: "pawl",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      // A process that has nothing else to do may end.
      allowExitOnIdle: true,
    });
    // A connection that ends is replaced when one is needed; the statement that it was needed for says that it has failed.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  async run(text: string, ...parameters: readonly SqlValue[]): Promise<number> {
    const { rowCount } = await this.#once(text, parameters);
    return rowCount ?? 0;
  }

  async get<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined> {
    const rows = await this.all<Row>(text, ...parameters);
    return rows[0];
  }

  async all<Row>(text: string, ...parameters: readonly SqlValue[]): Promise<readonly Row[]> {
    const { rows } = await this.#once(text, parameters);
    return rows as readonly Row[];
  }

  async transaction<T>(act: (sql: Sql) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#tryTransaction(act);
      } catch (error) {
        const mayGoBetter = isInTheWay(error) || this.#wasUnprepared(error);
        if (!mayGoBetter || tries === MAX_TRANSACTIONS) throw toDatabaseFailure(error, this.#shown) ?? error;
        await setTimeout(Math.random() * FIRST_PAUSE_MS);
      }
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #once(text: string, parameters: readonly SqlValue[]): Promise<pg.QueryResult> {
    try {
      return await this.#withClient((client) => this.#query(client, text, parameters));
    } catch (error) {
      if (this.#wasUnprepared(error)) return this.#once(text, parameters);
      throw toDatabaseFailure(error, this.#shown) ?? error;
    }
  }

  async #tryTransaction<T>(act: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#withClient(async (client) => {
      await client.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
      try {
        const result = await act(this.#within(client));
        await client.query("COMMIT");
        return result;
      } catch (error) {
        if (!isLost(error)) await client.query("ROLLBACK");
        throw error;
      }
    });
  }

  #within(client: pg.PoolClient): Sql {
    const all = async (text: string, parameters: readonly SqlValue[]) => this.#query(client, text, parameters);
    return {
      run: async (text, ...parameters) => (await all(text, parameters)).rowCount ?? 0,
      get: async (text, ...parameters) => (await all(text, parameters)).rows[0],
      all: async (text, ...parameters) => (await all(text, parameters)).rows,
    };
  }

  #query(client: pg.PoolClient, text: string, parameters: readonly SqlValue[]): Promise<pg.QueryResult> {
    const values = parameters.map(toPostgres);
    const statement = this.#statementOf(text);
    return client.query(this.#hasNames ? { ...statement, values } : { text: statement.text, values });
  }

  #statementOf(text: string): { readonly name: string; readonly text: string } {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const numbered = toNumbered(text);
    // By what it says: behind a pooler a session may know a name from another process.
    const name = `pawl_${createHash("sha256").update(numbered).digest("base64url").slice(0, 22)}`;
    const statement = { name, text: numbered };
    this.#statements.set(text, statement);
    return statement;
  }

  /** Nothing was done, and from now on no statement has a name. */
  #wasUnprepared(error: unknown): boolean {
    if (!isNotPrepared(error) || !this.#hasNames) return false;
    this.#hasNames = false;
    return true;
  }

  async #withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let failure: unknown;
    try {
      return await work(client);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.release(failure !== undefined && isLost(failure));
    }
  }

  /** Nothing has been sent so far, so that asking again cannot do anything twice. */
  async #connect(): Promise<pg.PoolClient> {
    const until = performance.now() + PATIENCE_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const isRefusal = error instanceof pg.DatabaseError && !error.code?.startsWith("57");
        if (isRefusal || performance.now() >= until) throw error;
        await setTimeout(pauseMs);
      }
    }
  }
}

/** Works on the database of an address by one connection, which ends with the work. */
export async function withOneConnection<T>(
  url: string,
  work: (database: PostgresDatabase, address: DatabaseAddress) => Promise<T>,
): Promise<T> {
  const address = readDatabaseUrl(url);
  const database = new PostgresDatabase({ address, connections: 1 });
  try {
    return await work(database, address);
  } finally {
    await database.close();
  }
}
