import { z } from "zod";
import { parseExact } from "../../core/exact-json.ts";
import { explainHeld } from "../../core/interpreter/attempt/crashes.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import { holdsSteps, type RunRecord } from "../../ports/journal.ts";
import type { DeadLetterNote } from "../../ports/service/dead-letter-notes.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Stores } from "../application/ports.ts";
import { type Frozen, timeSchema } from "../schemas.ts";

export const deadLetterStatusSchema = z.enum(["open", "retried", "resolved"]);

export const deadLetterSchema = z
  .object({
    dead_letter_id: z.string().describe("`RUN:PATH`."),
    run_id: z.string(),
    workflow_name: z.string(),
    path: z.string(),
    code: z.string(),
    message: z.string(),
    failed_at: timeSchema,
    held: z.boolean().describe("Its run has not ended: it goes on when this is retried."),
    status: deadLetterStatusSchema.describe("What was done about it. The run stays as it ended."),
    closed_at: timeSchema.nullable(),
    note: z.string().nullable(),
    retried_as: z.string().nullable().describe("The run that repeats from there."),
  })
  .meta({ id: "DeadLetter", description: "A step that has failed for good, or is held until its run is resumed." });

export type DeadLetter = Frozen<z.output<typeof deadLetterSchema>>;

interface DeadLettersWanted {
  readonly status?: DeadLetter["status"];
  readonly workflow?: string;
}

export interface DeadLetterList {
  readonly items: readonly DeadLetter[];
  readonly next_cursor: string | null;
}

const SLICE = 500;

interface DeadLetterPage extends DeadLettersWanted {
  readonly limit: number;
  readonly cursor?: string;
  /** How many are left out before the first. */
  readonly offset?: number;
}

/** Oldest first. */
export async function listDeadLetters(
  app: Stores,
  { limit, cursor, offset = 0, ...wanted }: DeadLetterPage,
): Promise<DeadLetterList> {
  const items: DeadLetter[] = [];
  let last = 0;
  let before = offset;
  for await (const { id, letter } of deadLettersFrom(app, wanted, Number(cursor ?? 0))) {
    if (before > 0) {
      before -= 1;
      continue;
    }
    if (items.length === limit) return { items, next_cursor: String(last) };
    items.push(letter);
    last = id;
  }
  return { items, next_cursor: null };
}

export async function countDeadLetters(app: Stores, wanted: DeadLettersWanted): Promise<number> {
  let count = 0;
  for await (const _ of deadLettersFrom(app, wanted, 0)) count += 1;
  return count;
}

async function* deadLettersFrom(app: Stores, { status, workflow }: DeadLettersWanted, after: number) {
  const { journal } = await app.records();
  for (let afterId = after; ; ) {
    const rows = await journal.readOutbox({ kind: "dead_letter", limit: SLICE, afterId });
    for (const { id, run, body } of rows) {
      await passTurn();
      afterId = id;
      const record = await journal.readRun(run);
      const failure: Json = parseExact(body);
      if (record === undefined || !isJsonObject(failure)) continue;
      if (workflow !== undefined && record.workflow !== workflow) continue;
      const { path, code, message, at, isHeld } = failure;
      const failed = { path: String(path), code: String(code), message: String(message), isHeld: isHeld === true };
      if (failed.isHeld) {
        const letter = await findHeldLetter(app, record, { ...failed, at: Number(at) });
        if (letter !== undefined && (status === undefined || letter.status === status)) yield { id, letter };
        continue;
      }
      const { note } = await findDeadLetterNote(app, record.id, failed.path);
      const letter = toDeadLetter(record, failed, note);
      if (status === undefined || letter.status === status) yield { id, letter };
    }
    if (rows.length < SLICE) return;
  }
}

export interface FailedForGood {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  /** Absent: the end of the run. */
  readonly at?: number;
  readonly isHeld: boolean;
}

/** The letter about a step is there as long as the step is held. */
async function findHeldLetter(
  app: Pick<Stores, "records" | "service">,
  record: RunRecord,
  held: FailedForGood,
): Promise<DeadLetter | undefined> {
  if (!holdsSteps(record)) return undefined;
  const { state } = await rebuildRun((await app.records()).journal, record, new Map());
  const instance = state.active.get(held.path);
  if (instance?.phase !== "held" || explainHeld(instance).at !== held.at) return undefined;
  return toDeadLetter(record, held, (await findDeadLetterNote(app, record.id, held.path)).note);
}

export function toDeadLetter(
  record: RunRecord,
  { at, isHeld, ...failed }: FailedForGood,
  note: DeadLetterNote | undefined,
): DeadLetter {
  return {
    dead_letter_id: `${record.id}:${failed.path}`,
    run_id: record.id,
    workflow_name: record.workflow,
    ...failed,
    failed_at: toIsoTime(at ?? record.completedAt ?? record.createdAt),
    held: isHeld,
    status: note?.status ?? "open",
    closed_at: note === undefined ? null : toIsoTime(note.at),
    note: note?.note ?? null,
    retried_as: note?.newRun ?? null,
  };
}

interface FoundNote {
  /** The note. Absent: nothing was done. */
  readonly note?: DeadLetterNote;
  /** The id that a retry has claimed whose run never began: its process died before. Whoever retries next takes it. */
  readonly claimed?: string;
}

/** Finds the note on a step that failed for good. */
export async function findDeadLetterNote(
  app: Pick<Stores, "records" | "service">,
  run: string,
  path: string,
): Promise<FoundNote> {
  const note = await (await app.service()).deadLetters.find(run, path);
  if (note === undefined) return {};
  if (note.isPending !== true || note.newRun === undefined) return { note };
  const known = await (await app.records()).journal.findRun(note.newRun);
  return known === undefined ? { claimed: note.newRun } : { note };
}
