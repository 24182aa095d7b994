import { PawlError } from "../../core/errors/pawl-error.ts";
import type {
  Claim,
  EventName,
  EventWait,
  NewEvent,
  PublishedEvent,
  PublishedEvents,
  WaitAddress,
} from "../../ports/service/published-events.ts";
import type { RecordDatabase } from "./record-database.ts";
import { emptyIfAbsent, integer, json, optional, RecordTable, text, words } from "./record-table.ts";

interface EventRow extends PublishedEvent {
  /** When its state was last another one. */
  readonly changedAt: number;
  readonly claimedBy?: string;
  readonly at: number;
}

const added = "published-events-1";

export const EVENTS = new RecordTable<EventRow>(
  "published_events",
  {
    id: text,
    tenantId: emptyIfAbsent,
    name: text,
    payload: json,
    at: integer,
    expiresAt: integer,
    state: text,
    changedAt: integer,
    claim: optional(json),
    claimedBy: optional(text),
  },
  {
    key: ["id"],
    indexes: {
      published_events_under_way: "(changed_at) WHERE state IN ('open', 'claimed')",
      published_events_kept: "(tenant_id) WHERE state <> 'done'",
      published_events_by_end: "(expires_at)",
    },
    added,
  },
);

interface KeyRow extends EventName {
  readonly event: string;
  readonly key: string;
}

export const EVENT_KEYS = new RecordTable<KeyRow>(
  "published_event_keys",
  { event: text, key: text, tenantId: emptyIfAbsent, name: text },
  {
    key: ["event", "key"],
    indexes: { published_event_keys_by_key: "(tenant_id, name, key)" },
    isByKey: true,
    added,
  },
);

export const WAITS = new RecordTable<EventWait>(
  "event_waits",
  {
    runId: text,
    path: text,
    attempt: integer,
    tenantId: emptyIfAbsent,
    name: text,
    fields: words,
    key: text,
    since: integer,
    expiresAt: optional(integer),
  },
  {
    key: ["runId", "path"],
    indexes: {
      event_waits_by_key: "(tenant_id, name, key, since)",
      event_waits_by_fields: "(tenant_id, name, fields)",
      event_waits_by_end: "(expires_at) WHERE expires_at IS NOT NULL",
    },
    isByKey: true,
    added,
  },
);

const DAY_MS = 86_400_000;
/** An event is looked at in so many ways. */
const MOST_SHAPES = 8;
const UNCLAIMED = { claim: null, claimedBy: null };
const IS_FREE = "state IN ('open', 'kept')";

const OLDEST = `WHERE id IN (SELECT event FROM published_event_keys WHERE tenant_id = ? AND name = ? AND key = ?)
  AND expires_at > ? AND (${IS_FREE} OR (state = 'claimed' AND claimed_by = ?)) ORDER BY at, id LIMIT 1`;

export class SqlPublishedEvents implements PublishedEvents {
  readonly #database: RecordDatabase;
  #lastAt = 0;

  constructor(database: RecordDatabase) {
    this.#database = database;
  }

  async add({ keys, most, ...event }: NewEvent): Promise<boolean> {
    const { id, tenantId, name } = event;
    // Events of one millisecond keep their order.
    const at = Math.max(event.at, this.#lastAt + 1);
    this.#lastAt = at;
    return this.#database.transaction(async (sql) => {
      const open = await EVENTS.count(sql, ofTenant(tenantId), "AND state <> 'done' AND expires_at > ?", at);
      if (open >= most) {
        if ((await EVENTS.find(sql, { id })) !== undefined) return false;
        throw new PawlError("EVENTS_FULL", { message: `${most} events are kept that no run has waited for yet.` });
      }
      const row = { ...event, at, state: "open", changedAt: event.at } as const;
      const isNew = await EVENTS.insert(sql, row, "ON CONFLICT DO NOTHING");
      if (isNew) for (const key of keys) await EVENT_KEYS.insert(sql, { event: id, key, tenantId, name });
      return isNew;
    });
  }

  find(id: string): Promise<PublishedEvent | undefined> {
    return EVENTS.find(this.#database, { id });
  }

  async register(wait: EventWait): Promise<PublishedEvent | undefined> {
    await WAITS.put(this.#database, wait);
    const { tenantId = "", name, key, since } = wait;
    const values = [tenantId, name, key, since, claimant(wait)];
    for (;;) {
      const event = await EVENTS.find(this.#database, {}, OLDEST, ...values);
      if (event === undefined || event.claim !== undefined) return event;
      // Another process may have been faster: then it looks for the next one.
      if (await this.claim(event.id, wait, since)) return event;
    }
  }

  async unregister({ runId, path, attempt }: WaitAddress): Promise<void> {
    await WAITS.remove(this.#database, { runId, path, attempt });
  }

  /** By the index from one to the next: ten thousand waits of one kind are one step. */
  async listFields({ tenantId = "", name }: EventName): Promise<readonly (readonly string[])[]> {
    const found: string[] = [];
    const next = "SELECT min(fields) AS fields FROM event_waits WHERE tenant_id = ? AND name = ? AND fields > ?";
    while (found.length < MOST_SHAPES) {
      const row = await this.#database.get<{ readonly fields: string | null }>(
        next,
        tenantId,
        name,
        found.at(-1) ?? "",
      );
      if (row?.fields == null) break;
      found.push(row.fields);
    }
    return found.map((fields) => fields.split(" "));
  }

  async findWait({ id, tenantId, name }: EventName & { readonly id: string }): Promise<EventWait | undefined> {
    const rest =
      "AND key IN (SELECT key FROM published_event_keys WHERE event = ?) ORDER BY since, run_id, path LIMIT 1";
    return WAITS.find(this.#database, { ...ofTenant(tenantId), name }, rest, id);
  }

  async claim(id: string, { runId, path, attempt, key }: Claim, now: number): Promise<boolean> {
    const claim = { runId, path, attempt, key };
    const claimed = { state: "claimed", changedAt: now, claim, claimedBy: claimant(claim) } as const;
    return (await EVENTS.update(this.#database, claimed, { id }, `AND ${IS_FREE} AND expires_at > ?`, now)) === 1;
  }

  async giveBack(id: string, wait: WaitAddress, now: number): Promise<void> {
    await this.#database.transaction(async (sql) => {
      const { runId, path, attempt } = wait;
      await WAITS.remove(sql, { runId, path, attempt });
      const open = { state: "open", changedAt: now, ...UNCLAIMED } as const;
      await EVENTS.update(sql, open, { id, state: "claimed", claimedBy: claimant(wait) });
    });
  }

  async settle(id: string, now: number): Promise<void> {
    await this.#database.transaction(async (sql) => {
      const done = { state: "done", changedAt: now, payload: {}, expiresAt: now + DAY_MS } as const;
      await EVENTS.update(sql, done, { id });
      await EVENT_KEYS.remove(sql, { event: id });
    });
  }

  async keep(id: string): Promise<void> {
    await EVENTS.update(this.#database, { state: "kept" }, { id, state: "open" });
  }

  listUnsettled(before: number, limit: number): Promise<readonly PublishedEvent[]> {
    const rest = "WHERE state IN ('open', 'claimed') AND changed_at < ? ORDER BY changed_at LIMIT ?";
    return EVENTS.list(this.#database, {}, rest, before, limit);
  }

  async forget(now: number): Promise<void> {
    await this.#database.transaction(async (sql) => {
      const over =
        "SELECT id FROM published_events WHERE expires_at <= ? AND state <> 'claimed' ORDER BY expires_at, id LIMIT 1000";
      await EVENT_KEYS.remove(sql, {}, `WHERE event IN (${over})`, now);
      await EVENTS.remove(sql, {}, `WHERE id IN (${over})`, now);
      await WAITS.remove(sql, {}, "WHERE expires_at <= ?", now);
    });
  }
}

function claimant({ runId, path }: WaitAddress): string {
  return `${runId} ${path}`;
}

function ofTenant(tenantId: string | undefined): { readonly tenantId: string | null } {
  return { tenantId: tenantId ?? null };
}
