import pg from "pg";
import type { SqlDatabase } from "../sql/sql-database.ts";
import type { DatabaseAddress } from "./database-address.ts";
import type { Signals } from "./postgres-inbox.ts";

const CHANNEL = "pawl";
const RECONNECT_MS = 500;
/** Behind a pooler no signal arrives, and one may be lost with a connection: watchers are told to look this often anyway. */
const ANYWAY_MS = 250;

/** Wakes the other processes of a database, by a connection of its own. It carries nothing: whoever is woken looks. */
export class PostgresSignals implements Signals {
  readonly #address: DatabaseAddress;
  readonly #database: SqlDatabase;
  readonly #watchers = new Set<() => void>();
  #client: pg.Client | undefined;
  #isConnecting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(address: DatabaseAddress, database: SqlDatabase) {
    this.#address = address;
    this.#database = database;
  }

  async tell(): Promise<void> {
    await this.#database.run(`NOTIFY ${CHANNEL}`);
  }

  /** Until the returned function is called. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    this.#timer ??= setInterval(() => this.#tick(), ANYWAY_MS).unref();
    void this.#connect();
    return () => {
      this.#watchers.delete(changed);
      if (this.#watchers.size === 0) this.close();
    };
  }

  close(): void {
    this.#watchers.clear();
    clearInterval(this.#timer);
    this.#timer = undefined;
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => undefined);
  }

  #tick(): void {
    for (const changed of this.#watchers) changed();
  }

  async #connect(): Promise<void> {
    if (this.#client !== undefined || this.#isConnecting || this.#watchers.size === 0) return;
    this.#isConnecting = true;
    const client = new pg.Client({ connectionString: this.#address.url, application_name: "pawl", keepAlive: true });
    const again = () => {
      if (this.#client === client) this.#client = undefined;
      setTimeout(() => void this.#connect(), RECONNECT_MS).unref();
    };
    client.on("error", () => undefined);
    client.once("end", again);
    client.on("notification", () => this.#tick());
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.#client = client;
      // It keeps no process alive that has nothing else to do.
      (client as pg.Client & { unref(): void }).unref();
      this.#tick();
    } catch {
      client.end().catch(() => undefined);
    } finally {
      this.#isConnecting = false;
    }
    if (this.#watchers.size === 0) client.end().catch(() => undefined);
  }
}
