import type { Event } from "../../src/core/history/events.ts";
import type { Append, Journal, NewOutbox, RunPatch, RunRecord } from "../../src/ports/journal.ts";
import { reserveRuns } from "../contracts/journal-samples.ts";

/** A run that was really done, of which others are copies. */
interface Model {
  readonly record: RunRecord;
  readonly rows: readonly { readonly event: Event; readonly value?: string }[];
  readonly outbox: readonly NewOutbox[];
}

export interface FillOptions {
  readonly runs: number;
  /** Of the last run, in milliseconds since the epoch. */
  readonly now: number;
}

const COMMIT = 5_000;
const YEAR_MS = 365 * 86_400_000;
const TENANTS = [undefined, undefined, "acme", "globex", "initech"];
/** One in so many has a parent, or is a copy of the second model, of the third ... All others are copies of the first. */
const RARE = 100;
const PARENTS = 50;

/**
 * Fills a journal with copies of the runs that are in it, in time and in order over a year: the oldest one is the usual
 * one, and of each other there is one in a hundred. Workflows, tenants and parents vary.
 */
export async function fillJournal(journal: Journal, { runs, now }: FillOptions): Promise<void> {
  const models = await readModels(journal);
  for (let begun = 0; begun < runs; begun += COMMIT) {
    const count = Math.min(COMMIT, runs - begun);
    const entries = (await reserveRuns(journal, count)).map((no, n) => {
      const at = now - Math.floor(((runs - begun - n) / runs) * YEAR_MS);
      return copyOf(modelFor(models, begun + n), { no, n: begun + n, at });
    });
    const results = await journal.append(entries);
    const refused = results.find(({ ok }) => !ok);
    if (refused !== undefined) throw new Error(JSON.stringify(refused));
  }
}

async function readModels(journal: Journal): Promise<readonly Model[]> {
  const records = await journal.listRuns({ afterRun: 0, limit: RARE });
  const letters = await journal.readOutbox({ kind: "dead_letter", limit: RARE });
  return Promise.all(
    records.map(async (record) => {
      const rows = await journal.readEvents(record.no, { afterSeq: 0, limit: 1_000 });
      const values = await journal.readValues(
        record.no,
        rows.map(({ seq }) => seq),
      );
      return {
        record,
        rows: rows.map(({ seq, event }) => {
          const value = values.get(seq);
          return value === undefined ? { event } : { event, value };
        }),
        outbox: letters.filter(({ run }) => run === record.no).map(({ kind, body }) => ({ kind, body })),
      };
    }),
  );
}

function modelFor(models: readonly Model[], n: number): Model {
  const model = models[(n % RARE) + 1] ?? models[0];
  if (model === undefined) throw new Error("There is no run to copy.");
  return model;
}

function copyOf({ record, rows, outbox }: Model, { no, n, at }: { no: number; n: number; at: number }): Append {
  const shift = at - record.createdAt;
  const id = idOf(n);
  const workflow = `w${n % 7}`;
  const tenantId = TENANTS[n % TENANTS.length];
  const { parked, costMicro, uncertainMicro, openApprovals, status, error } = record;
  const later = (time: number | undefined) => (time === undefined ? undefined : time + shift);
  const patch: RunPatch = {
    ...{ parked, costMicro, uncertainMicro, openApprovals, status },
    startedAt: later(record.startedAt),
    completedAt: later(record.completedAt),
    // Sleepers sleep on: a start that wakes them would drive runs, which is not what is looked at.
    wakeAt: record.wakeAt,
    error,
  };
  return {
    run: no,
    afterSeq: 0,
    create: {
      ...{ id, workflow, dialect: record.dialect, graph: record.graph, definition: record.definition, createdAt: at },
      ...(tenantId === undefined ? {} : { tenantId }),
      ...(n % PARENTS === 1 ? { parentRunId: idOf(n - 1) } : {}),
    },
    events: rows.map(({ event, ...value }) => ({ event: { ...renamed(event, id), at: event.at + shift }, ...value })),
    patch,
    outbox,
  };
}

function renamed(event: Event, runId: string): Event {
  return event.type === "runStarted" ? { ...event, runId } : event;
}

/** Ids that begin with a time do not fit in order: these do. */
function idOf(n: number): string {
  return `018bcfe5-6800-7000-8000-${n.toString(16).padStart(12, "0")}`;
}
