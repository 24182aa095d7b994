import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import type { Records, ServiceRecords } from "../operations/application/ports.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import type { Journal } from "../ports/journal.ts";
import { once } from "./once.ts";
import type { OpenServiceRecords } from "./open-service-records.ts";
import { openStores } from "./open-stores.ts";
import type { SharedDatabase } from "./seat/shared-database.ts";
import type { StorageThread } from "./storage-thread/storage-thread.ts";

interface OpenedPartsOptions {
  /** Undefined: runs and records lie in the data directory. */
  database(): Promise<SharedDatabase> | undefined;
  readonly storage: Settings["storage"];
  readonly durability: "power" | "process";
  /** Has the owner take entries off the outbox, where this process only reads. */
  finishOutbox(ids: readonly number[]): Promise<void>;
  /** Records that are not there are empty, and are not made. */
  readonly makesNothing?: boolean | undefined;
}

/** Opens the parts of a data directory, each at most once and only when it is needed: for reading, or as the owner. */
export class OpenedParts {
  readonly #dataDir: string;
  readonly #options: OpenedPartsOptions;
  /** Writes everything, if there is one. */
  thread: StorageThread | undefined;
  #reading: Promise<Journal> | undefined;
  #owned: Journal | undefined;
  #service: Promise<OpenServiceRecords> | undefined;

  constructor(dataDir: string, options: OpenedPartsOptions) {
    this.#dataDir = dataDir;
    this.#options = options;
  }

  async records(): Promise<Records> {
    return { journal: await this.journal(), blobs: await this.blobs() };
  }

  async journal(): Promise<Journal> {
    if (this.#owned !== undefined) return this.#owned;
    const database = this.#options.database();
    if (database !== undefined) return (await database).journal();
    const path = join(this.#dataDir, "pawl.db");
    // Looked for again each time: another process may make it meanwhile.
    if (!existsSync(path)) return emptyJournal();
    this.#reading ??= openForReading(path).then((journal) => ({
      ...journal,
      finishOutbox: (ids) => this.#options.finishOutbox(ids),
    }));
    return this.#reading;
  }

  /** From now on this process is the owner, and reads what it writes. */
  async own(journal: Journal): Promise<void> {
    this.#owned = journal;
    await this.#closeReading();
  }

  /** From now on all is written on a thread, for a process that others wait for. */
  async writeInThread(): Promise<StorageThread> {
    const { StorageThread } = await import("./storage-thread/storage-thread.ts");
    const { durability } = this.#options;
    const fileOf = (name: string) => join(this.#dataDir, name);
    this.thread ??= new StorageThread({
      journal: fileOf("pawl.db"),
      service: fileOf("service.db"),
      conversations: fileOf("conversations.db"),
      durability,
    });
    return this.thread;
  }

  readonly stores = once(() => openStores(this.#dataDir, this.#options.storage, this.#options.database()));

  async blobs(): Promise<Blobs> {
    return (await this.stores()).blobs;
  }

  async files(): Promise<FileStorage> {
    return (await this.stores()).files;
  }

  service(): Promise<ServiceRecords> {
    this.#service ??= this.#openService().catch((error: unknown) => {
      // It is tried again when it is asked for again.
      this.#service = undefined;
      throw error;
    });
    return this.#service;
  }

  /** Undefined: it was not needed so far. Looked for again each time: another process may make it meanwhile. */
  async serviceIfThere(): Promise<ServiceRecords | undefined> {
    const isElsewhere = this.#options.database() !== undefined;
    if (this.#service === undefined && !isElsewhere && !existsSync(join(this.#dataDir, "service.db"))) return undefined;
    return this.service();
  }

  /** The owner's journal is closed by its `Ownership`. */
  async close(): Promise<void> {
    const service = this.#service;
    this.#service = undefined;
    await this.#closeReading();
    const database = await this.#options.database()?.catch(() => undefined);
    if (database !== undefined) await database.close();
    else await (await service?.catch(() => undefined))?.close();
  }

  async #openService(): Promise<OpenServiceRecords> {
    const database = this.#options.database();
    if (database !== undefined) return (await database).records();
    const { openServiceRecords } = await import("./open-service-records.ts");
    const { durability, makesNothing } = this.#options;
    const path = join(this.#dataDir, "service.db");
    const shown = makesNothing === true && !existsSync(path) ? ":memory:" : path;
    return openServiceRecords({ path: shown, durability }, () => this.thread);
  }

  async #closeReading(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await (await reading)?.close();
  }
}

async function openForReading(path: string): Promise<Journal> {
  const { openSqliteJournal } = await import("../storage/sqlite/sqlite-journal.ts");
  return openSqliteJournal({ path, durability: "power", readOnly: true });
}

async function emptyJournal(): Promise<Journal> {
  const { openEmptyJournal } = await import("../storage/sqlite/sqlite-journal.ts");
  return openEmptyJournal();
}
