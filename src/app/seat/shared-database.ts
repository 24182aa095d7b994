import { hash } from "node:crypto";
import type { Config } from "../../config/load-config.ts";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Drives } from "../../hosts/local/local-host-options.ts";
import type { Conversations } from "../../ports/conversations.ts";
import type { DatabaseCare } from "../../ports/database-care.ts";
import type { Journal } from "../../ports/journal.ts";
import type { Log } from "../../ports/log.ts";
import type { PoolShares } from "../../ports/pool-shares.ts";
import type { RequestRates } from "../../ports/request-rates.ts";
import type { RedisLink } from "../../relay/redis-link.ts";
import { readDatabaseUrl } from "../../storage/postgres/database-address.ts";
import { openPostgresJournal } from "../../storage/postgres/journal/postgres-journal.ts";
import { lookAfterDatabase } from "../../storage/postgres/look-after-database.ts";
import { dropNamedInDatabase } from "../../storage/postgres/named-blobs.ts";
import { createPoolShares } from "../../storage/postgres/pool-shares.ts";
import { PostgresDatabase, withOneConnection } from "../../storage/postgres/postgres-database.ts";
import { createPostgresInbox, type Signals } from "../../storage/postgres/postgres-inbox.ts";
import { PostgresSignals } from "../../storage/postgres/postgres-signals.ts";
import { ServerTime } from "../../storage/postgres/server-time.ts";
import type { SqlDatabase } from "../../storage/sql/sql-database.ts";
import { doAll } from "../do-all.ts";
import { once } from "../once.ts";
import { type OpenServiceRecords, openRecordsOn } from "../open-service-records.ts";
import type { SocketPath } from "../owner/socket-path.ts";
import { SystemClock } from "../system-clock.ts";
import { logTrouble, type Seat, type StorageWatch } from "./seat.ts";

const LOOK_EVERY_MS = 1_000;

/** The PostgreSQL database that `database.url` names, and everything that lies in it. Each part is opened when it is needed. */
export class SharedDatabase {
  readonly #database: PostgresDatabase;
  readonly #signals: PostgresSignals;
  readonly #leaseMs: number;
  readonly #redisUrl: string | undefined;

  /** Throws `CONFIG_INVALID`. Nothing is sent before something is needed. */
  constructor(url: string, config: Config) {
    const { secrets, webhook, database, redis } = config.settings;
    if (secrets.key === undefined && webhook.secret === undefined)
      throw new PawlError("CONFIG_INVALID", {
        message:
          "`database.url` (DATABASE_URL) is set, and neither `secrets.key` nor WEBHOOK_SECRET is: a key in a file would be this machine's alone.",
        remedy:
          "Set PAWL_SECRETS__KEY to at least 16 random characters, the same for every process. `openssl rand -hex 32` makes some.",
      });
    this.#database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: database.connections });
    this.#signals = new PostgresSignals(readDatabaseUrl(url), this.#database);
    this.#leaseMs = database.lease_ms;
    this.#redisUrl = redis.url;
  }

  /** For reading, whatever process drives the runs. */
  readonly journal = once(async (): Promise<Journal> => openPostgresJournal({ database: this.#database }));

  readonly records = once(
    (): Promise<OpenServiceRecords & { readonly conversations: Conversations }> => openRecordsOn(this.#database),
  );

  /** What each process may use of the servers that all of them call. */
  readonly poolShares = once(async (): Promise<PoolShares> => createPoolShares(this.#database));

  /** Whether any process drives runs now. One that has died counts until its lease is over. */
  async isDriven(): Promise<boolean> {
    await this.journal();
    const alive = "SELECT 1 FROM workers WHERE until >= clock_timestamp() LIMIT 1";
    return (await this.#database.get(alive)) !== undefined;
  }

  /** Names the data of this database, the same in every process that uses it. */
  readonly dataId = once(async (): Promise<string> => {
    const text = "SELECT system_identifier || ' ' || current_database() AS id FROM pg_control_system()";
    const found = await this.#database.get<{ readonly id: string }>(text);
    return `database-${hash("sha256", found?.id ?? "").slice(0, 32)}`;
  });

  /** Undefined: `redis.url` names none. Rejects with `CONFIG_INVALID`. */
  readonly redis = once(async (): Promise<RedisLink | undefined> => {
    const url = this.#redisUrl;
    if (url === undefined) return undefined;
    const { RedisLink, readRedisUrl } = await import("../../relay/redis-link.ts");
    return new RedisLink({ url: readRedisUrl(url), prefix: `pawl:${await this.dataId()}:` });
  });

  /** Undefined: each process counts for itself. */
  readonly requestRates = once(async (): Promise<RequestRates | undefined> => {
    const link = await this.redis();
    return link === undefined ? undefined : (await import("../../relay/redis-rates.ts")).createRedisRates(link);
  });

  /** Takes the hashes of blobs away that something in the database refers to. */
  async dropNamed(hashes: Map<string, unknown>): Promise<void> {
    // Both bring their tables up to date.
    await Promise.all([this.journal(), this.records()]);
    await dropNamedInDatabase(this.#database, hashes);
  }

  /** From now on this process takes requests, and drives runs if it is to. `failed`: its sign of life could not be given. */
  async takeSeat(socket: SocketPath, drives: Drives, failed: (error: unknown) => void): Promise<Seat> {
    let lost: () => void = () => undefined;
    const { runs, programs = () => [] } = drives;
    const lease = { leaseMs: this.#leaseMs, programs, others: runs !== "programs", lost: () => lost(), failed };
    const database = this.#database;
    const journal = await openPostgresJournal(runs === "none" ? { database } : { database, lease });
    const watch = new DatabaseWatch(journal, this.#database);
    const time = await ServerTime.read(this.#database);
    const redis = await this.redis();
    const signals = redis === undefined ? this.#signals : wakeBy(redis, this.#signals);
    const relay =
      redis === undefined ? undefined : (await import("../../relay/redis-relay.ts")).createRedisRelay(redis);
    return {
      journal: watch.journal,
      starts: await this.journal(),
      clock: new SystemClock(() => time.offsetMs),
      storage: watch,
      loss: undefined,
      previousSeenAt: undefined,
      drives,
      lookEveryMs: runs === "none" ? undefined : LOOK_EVERY_MS,
      inbox: createPostgresInbox(this.#database, { owner: () => journal.owner, signals }),
      relay,
      workers: { own: () => journal.owner ?? "", list: () => journal.listWorkers() },
      whenLost(listen) {
        lost = listen;
      },
      announce: () => undefined,
      async release() {
        time.close();
        socket.remove();
      },
    };
  }

  /** After everything that was opened. */
  async close(): Promise<void> {
    await doAll(
      () => this.redis.close((link) => link?.close()),
      () => this.#signals.close(),
      () => this.#database.close(),
    );
  }
}

/** Redis is asked to wake the others; while it is away, PostgreSQL. A process that hears neither looks by itself. */
function wakeBy(redis: RedisLink, signals: Signals): Signals {
  return {
    async tell() {
      if (!redis.publish("wake", "")) await signals.tell();
    },
    watch(changed) {
      const stops = [signals.watch(changed), redis.subscribe("wake", changed)];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/** By one connection of its own, which needs no key for secrets: who brings tables up to date reads none. */
export function careForDatabase<T>(url: string, work: (care: DatabaseCare) => Promise<T>): Promise<T> {
  return withOneConnection(url, (database, address) => work(lookAfterDatabase(database, address)));
}

const WATCH_EVERY_MS = 1_000;

/** Looks whether a database answers, and takes note of commits that it refuses. */
class DatabaseWatch implements StorageWatch {
  /** The same journal, whose failures are noted. */
  readonly journal: Journal;
  readonly #database: SqlDatabase;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** A commit failed. It is tried again until it goes through: an answer to anything else does not say that it can. */
  #refused: PawlError | undefined;
  #unanswered: PawlError | undefined;
  #told: ErrorCode | undefined;

  constructor(journal: Journal, database: SqlDatabase) {
    this.#database = database;
    this.journal = {
      ...journal,
      append: (entries, token) =>
        journal.append(entries, token).then(
          (results) => {
            this.#refused = undefined;
            return results;
          },
          (error: unknown) => {
            this.#refused = toTrouble(error);
            throw error;
          },
        ),
    };
  }

  get trouble(): PawlError | undefined {
    return this.#refused ?? this.#unanswered;
  }

  start(log: Log): void {
    this.#timer ??= setInterval(() => void this.#look(log), WATCH_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(log: Log): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#unanswered = await this.#database.all("SELECT 1").then(() => undefined, toTrouble);
    this.#isLooking = false;
    const { trouble } = this;
    logTrouble(log, trouble, this.#told);
    this.#told = trouble?.code;
  }
}

/** Other failures are those of what was asked, and the database is in order. */
function toTrouble(error: unknown): PawlError | undefined {
  return isPawlError(error) && isStorageFailure(error) ? error : undefined;
}
