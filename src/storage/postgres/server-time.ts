import type { SqlDatabase } from "../sql/sql-database.ts";

const SERVER_TIME = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

const SAMPLE_EVERY_MS = 2_000;
/** Nobody knows when in a longer exchange the server has read its clock. */
const LONGEST_EXCHANGE_MS = 200;

/** The time of the server, which is everybody's: the clocks of machines differ. */
export class ServerTime {
  readonly #database: SqlDatabase;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;
  #isKnown = false;
  /** Added to the time of this machine it is that of the server, in milliseconds. */
  offsetMs = 0;

  static async read(database: SqlDatabase): Promise<ServerTime> {
    const time = new ServerTime(database);
    await time.#ask();
    return time;
  }

  private constructor(database: SqlDatabase) {
    this.#database = database;
    this.#timer = setInterval(() => void this.#ask().catch(() => undefined), SAMPLE_EVERY_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const asked = Date.now();
      const seen = await this.#database.get<{ readonly now: number }>(SERVER_TIME);
      const took = Date.now() - asked;
      if (seen === undefined || (this.#isKnown && took > LONGEST_EXCHANGE_MS)) return;
      this.offsetMs = seen.now - asked - Math.round(took / 2);
      this.#isKnown = true;
    } finally {
      this.#isAsking = false;
    }
  }
}
