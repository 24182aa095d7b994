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
  const fates = new LetterFates(app);
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
      const { note } = await fates.find(record.id, failed.path);
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
  return toDeadLetter(record, held, (await new LetterFates(app).find(record.id, held.path)).note);
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

/** What was done about a letter. */
export interface Fate {
  /** Absent: nothing that counts. */
  readonly note?: DeadLetterNote;
  /** A retry that never began: its process died before. Whoever retries next takes its id. */
  readonly claim?: DeadLetterNote;
  /** A retry that was begun and has ended without doing the step. */
  readonly stale?: DeadLetterNote;
}

/** The path of a note on all letters of a run: a repetition does all again that had not succeeded. */
export const ALL_LETTERS = "";

const MAX_REPETITIONS = 1_000;

/**
 * Finds what was done about steps that failed for good, by people and by what has repeated their runs. A repetition that is under way,
 * or has completed, answers for the letters of its run; so does one that has a letter of its own about the same step. Made for one
 * reading: it keeps what it has found.
 */
export class LetterFates {
  readonly #app: Pick<Stores, "records" | "service">;
  readonly #repetitions = new Map<string, readonly RunRecord[]>();
  readonly #letters = new Map<string, ReadonlySet<string>>();

  constructor(app: Pick<Stores, "records" | "service">) {
    this.#app = app;
  }

  async find(run: string, path: string): Promise<Fate> {
    const { deadLetters } = await this.#app.service();
    const note = (await deadLetters.find(run, path)) ?? (await deadLetters.find(run, ALL_LETTERS));
    if (note?.status === "resolved") return { note };
    const { journal } = await this.#app.records();
    if (note?.newRun !== undefined && (await journal.findRun(note.newRun)) === undefined)
      return note.isPending === true ? { claim: note } : { note };
    const successor = await this.#successorOf(run, path);
    if (successor === undefined) return note === undefined ? {} : { stale: note };
    return { note: { run, path, status: "retried", at: successor.createdAt, newRun: successor.id } };
  }

  async #successorOf(run: string, path: string): Promise<RunRecord | undefined> {
    for (const repetition of await this.#repetitionsOf(run)) {
      if (await this.#answersFor(repetition, path)) return repetition;
    }
    return undefined;
  }

  async #answersFor(repetition: RunRecord, path: string): Promise<boolean> {
    const { id, status, completedAt } = repetition;
    if (completedAt === undefined || status === "completed" || status === "partial") return true;
    return (await this.#lettersOf(repetition)).has(path) || (await this.#successorOf(id, path)) !== undefined;
  }

  async #repetitionsOf(run: string): Promise<readonly RunRecord[]> {
    const known = this.#repetitions.get(run);
    if (known !== undefined) return known;
    const { journal } = await this.#app.records();
    const found = await journal.listRuns({ parentRunId: run, afterRun: 0, limit: MAX_REPETITIONS });
    this.#repetitions.set(run, found);
    return found;
  }

  async #lettersOf(record: RunRecord): Promise<ReadonlySet<string>> {
    const known = this.#letters.get(record.id);
    if (known !== undefined) return known;
    const { state } = await rebuildRun((await this.#app.records()).journal, record, new Map());
    const { failures, graph } = state;
    const found = new Set(graph.graph.ending.deadLetter ? failures.map(({ path }) => path) : []);
    this.#letters.set(record.id, found);
    return found;
  }
}
