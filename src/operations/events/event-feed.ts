import { createCipheriv, createDecipheriv } from "node:crypto";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { isBefore, type Journal, LOG_BEGIN, type LoggedEvent, type LogPosition } from "../../ports/journal.ts";
import type { RunObserver } from "../../ports/run-observer.ts";
import type { RunSecrets } from "../../ports/run-secrets.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Records } from "../application/ports.ts";
import { describeForFeed, type ToldEvent } from "./describe-for-feed.ts";
import { LogTail } from "./log-tail.ts";

export interface StreamedEvent extends ToldEvent {
  readonly id: string;
}

export interface FeedOptions {
  records(): Promise<Pick<Records, "journal">>;
  secrets(): Promise<Pick<RunSecrets, "derive">>;
  onDefect(error: unknown): void;
}

export interface FollowOptions {
  /** The tenant whose runs are followed. Absent: all tenants. */
  readonly tenantId: string | undefined;
  /** The id of the last event that the follower has seen. Absent: from now on. */
  readonly after: string | undefined;
}

interface FedEvent extends ToldEvent {
  readonly position: LogPosition;
  readonly tenantId: string | undefined;
}

const PAGE = 200;
const LOOK_EVERY_MS = 250;

/** Whether a text may be an id of this stream, or of an older version's. */
export const EVENT_ID = /^[\w.-]{1,64}$/;

/**
 * Tells followers what happens in all runs. The journal is the only source: whoever follows closely shares what
 * was read for all, whoever is behind reads it again, one page at a time and one follower after the other, so that nobody
 * who reads slowly fills memory or keeps a commit waiting.
 */
export class EventFeed implements RunObserver {
  readonly #options: FeedOptions;
  #followers = 0;
  #tail: LogTail<FedEvent> | undefined;
  #looking: NodeJS.Timeout | undefined;
  #cursor: Promise<LogCursor> | undefined;
  #pages: Promise<unknown> = Promise.resolve();

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** It only reports that there is something new, which is then read from the journal. */
  committed(): void {
    this.#tail?.look().catch(this.#options.onDefect);
  }

  /**
   * Behind the event with the id `after`, exactly, also through restarts of the server; without it from now on. `reset` says
   * that something is missing: the runs were deleted, or the id is of another history. Throws `REQUEST_INVALID`.
   */
  follow({ tenantId, after }: FollowOptions, stop: AbortSignal): AsyncGenerator<StreamedEvent> {
    if (after !== undefined && !EVENT_ID.test(after))
      throw new PawlError("REQUEST_INVALID", { message: "The id is none of this stream." });
    // Asked for at once: what is committed from now on lies behind it.
    const begin = this.#begin(after);
    begin.catch(() => undefined);
    return this.#follow(begin, tenantId, stop);
  }

  async *#follow(
    begin: Promise<Begin>,
    tenantId: string | undefined,
    stop: AbortSignal,
  ): AsyncGenerator<StreamedEvent> {
    const { journal, cursor, newest, first, position: from } = await begin;
    const tail = this.#join(journal, newest);
    try {
      let position = from;
      if (first !== undefined) yield { ...first, id: cursor.write(position) };
      while (!stop.aborted) {
        await passTurn();
        const page: FedPage = tail.read(position, PAGE) ?? (await this.#readPage(journal, position, tenantId));
        if (page.missed !== undefined) yield { ...toReset(page.missed), id: cursor.write(position) };
        for (const entry of page.entries) {
          if (stop.aborted) return;
          if (tenantId !== undefined && entry.tenantId !== tenantId) continue;
          yield { event: entry.event, id: cursor.write(entry.position), data: entry.data };
        }
        if (isBefore(position, page.end)) position = page.end;
        else await tail.next(position, stop);
      }
    } finally {
      this.#leave();
    }
  }

  async #begin(after: string | undefined): Promise<Begin> {
    const [{ journal }, cursor] = await Promise.all([this.#options.records(), this.#openCursor()]);
    const newest = (await journal.findCommit()) ?? LOG_BEGIN;
    const known = after === undefined ? undefined : await findPlace(journal, cursor.read(after));
    if (known !== undefined) return { journal, cursor, newest, position: known, first: undefined };
    const first = after === undefined ? { event: "ready", data: {} } : toReset(null);
    return { journal, cursor, newest, position: newest, first };
  }

  #openCursor(): Promise<LogCursor> {
    this.#cursor ??= this.#options.secrets().then((secrets) => new LogCursor(secrets.derive("ids of GET /events")));
    return this.#cursor;
  }

  /** Until somebody follows nothing is read, and nothing is kept. */
  #join(journal: Journal, position: LogPosition): LogTail<FedEvent> {
    this.#followers += 1;
    this.#tail ??= new LogTail(journal, position, toFed);
    this.#tail.look().catch(this.#options.onDefect);
    // Other processes may write in the same journal.
    this.#looking ??= setInterval(() => this.committed(), LOOK_EVERY_MS).unref();
    return this.#tail;
  }

  #leave(): void {
    this.#followers -= 1;
    if (this.#followers > 0) return;
    this.#tail = undefined;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** The journal commits between two pages. */
  #readPage(journal: Journal, after: LogPosition, tenantId: string | undefined): Promise<FedPage> {
    const page = this.#pages.then(async () => {
      const { events, end, missed } = await journal.readLog({ after, limit: PAGE, tenantId });
      const entries = events.flatMap((event) => toFed(event) ?? []);
      return { entries, end, ...(missed === 0 ? {} : { missed }) };
    });
    this.#pages = page.catch(() => undefined);
    return page;
  }
}

interface Begin {
  readonly journal: Journal;
  readonly cursor: LogCursor;
  readonly newest: LogPosition;
  readonly position: LogPosition;
  /** The first message, if it is not the next event. */
  readonly first: ToldEvent | undefined;
}

interface FedPage {
  readonly entries: readonly FedEvent[];
  readonly end: LogPosition;
  /** Absent: nothing is missing. */
  readonly missed?: number;
}

/** Undefined: it is none in this journal. */
async function findPlace(journal: Journal, place: LogPosition | undefined): Promise<LogPosition | undefined> {
  if (place === undefined) return undefined;
  if (place.commit === 0 && place.at === 0 && place.index === 0) return LOG_BEGIN;
  const found = await journal.findCommit(place.commit);
  return found !== undefined && found.at === place.at && place.index <= found.index ? place : undefined;
}

function toFed(event: LoggedEvent): FedEvent | undefined {
  const told = describeForFeed(event);
  return told === undefined ? undefined : { ...told, position: event.position, tenantId: event.run.tenantId };
}

function toReset(missed: number | null): { readonly event: "reset"; readonly data: JsonObject } {
  return { event: "reset", data: { missed, remedy: "Read GET /runs again, and go on from here." } };
}

const COMMIT_BYTES = 6;
const INDEX_BYTES = 4;
const AT_BYTES = 6;

/**
 * A place in the order of all runs, as followers are told it: one encrypted block, so that the numbers of a tenant's
 * events tell nothing of the events of others. Equal places have equal names.
 */
export class LogCursor {
  readonly #key: Uint8Array;

  /** `key`: 32 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  write({ commit, index, at }: LogPosition): string {
    const block = Buffer.alloc(COMMIT_BYTES + INDEX_BYTES + AT_BYTES);
    block.writeUIntBE(commit, 0, COMMIT_BYTES);
    block.writeUInt32BE(index, COMMIT_BYTES);
    block.writeUIntBE(at, COMMIT_BYTES + INDEX_BYTES, AT_BYTES);
    const cipher = createCipheriv("aes-256-ecb", this.#key, null).setAutoPadding(false);
    return Buffer.concat([cipher.update(block), cipher.final()]).toString("base64url");
  }

  /** Any other text becomes a place that does not exist, or undefined if it cannot be a place. */
  read(text: string): LogPosition | undefined {
    const sealed = Buffer.from(text, "base64url");
    if (sealed.length !== COMMIT_BYTES + INDEX_BYTES + AT_BYTES) return undefined;
    const decipher = createDecipheriv("aes-256-ecb", this.#key, null).setAutoPadding(false);
    const block = Buffer.concat([decipher.update(sealed), decipher.final()]);
    return {
      commit: block.readUIntBE(0, COMMIT_BYTES),
      index: block.readUInt32BE(COMMIT_BYTES),
      at: block.readUIntBE(COMMIT_BYTES + INDEX_BYTES, AT_BYTES),
    };
  }
}
