import { z } from "zod";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { explainHeld } from "../../core/interpreter/attempt/crashes.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { DeadLetterNote } from "../../ports/service/dead-letter-notes.ts";
import { findRun } from "../application/find-run.ts";
import type { DefinitionPorts, Driving, Place, Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type PreparedRepetition, prepareRepetition } from "../repeat/prepare-repetition.ts";
import { acceptedRunSchema } from "../runs/run-schemas.ts";
import { idempotencyKey, idField, listOf, numberCursor, offsetQuery, pageQuery } from "../schemas.ts";
import { describeSubmitted } from "../start/submit-run.ts";
import {
  ALL_LETTERS,
  countDeadLetters,
  type DeadLetter,
  deadLetterSchema,
  deadLetterStatusSchema,
  type Fate,
  LetterFates,
  listDeadLetters as list,
  toDeadLetter,
} from "./list-dead-letters.ts";

const id = idField("A `dead_letter_id`: RUN:PATH.", "dead-letter ls");
const names = { id: "dead_letter_id" };

export const listDeadLetters = defineOperation({
  id: "listDeadLetters",
  summary: "List the steps that have failed for good or are held, oldest first",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    ...pageQuery,
    cursor: numberCursor,
    ...offsetQuery,
    status: deadLetterStatusSchema.optional().describe("What was done about them."),
    workflow: z.string().min(1).optional().describe("Of runs of this workflow."),
  }),
  output: listOf(deadLetterSchema),
  http: { method: "GET", path: "/dead-letter" },
  cli: {
    verb: "dead-letter ls",
    summary: "list those that are open, oldest first",
    usual: { status: "open" },
    options: { status: false },
    parts: [{ flags: "--all", summary: "also those that were retried or resolved", at: ["status"], clears: true }],
    view: "dead-letters",
  },
  mcp: {
    tool: "list_dead_letters",
    isRare: true,
    title: "List dead letters",
    description: "Steps that have failed for good, of workflows that keep them, oldest first.",
    usual: { status: "open" },
    limit: { usual: 20, most: 100 },
  },
  word: (letter) => ({ text: letter.dead_letter_id, meaning: `${letter.workflow_name}, ${letter.code}` }),
  handle: ({ app }: OperationContext<Stores>, wanted) => list(app, wanted),
  count: ({ app }: OperationContext<Stores>, { status, workflow }) => countDeadLetters(app, { status, workflow }),
});

export const getDeadLetter = defineOperation({
  id: "getDeadLetter",
  summary: "Show one dead letter",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id }),
  output: deadLetterSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "DEAD_LETTER_NOT_FOUND"],
  http: { method: "GET", path: "/dead-letter/{id}" },
  cli: { no: "`dead-letter ls` tells the same of each." },
  mcp: { no: "`list_dead_letters` tells the same of each." },
  handle: async ({ app }: OperationContext<Stores>, given) => (await findDeadLetter(app, given.id)).letter,
});

export const retryDeadLetter = defineOperation({
  id: "retryDeadLetter",
  summary: "Do the run again from the step that has failed, or go on with a step that is held",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({ id, idempotency_key: idempotencyKey }),
  output: acceptedRunSchema.extend({ changes: z.array(z.string()).describe("What has changed of its files since.") }),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "DEAD_LETTER_NOT_FOUND", "DEAD_LETTER_CLOSED"],
  http: { method: "POST", path: "/dead-letter/{id}/retry", status: 202 },
  cli: {
    verb: "dead-letter retry",
    args: ["id"],
    options: { idempotency_key: false },
    follows: "always",
    show: ({ changes }) => ({ told: changes }),
  },
  mcp: {
    tool: "retry_dead_letter",
    isRare: true,
    title: "Retry a dead letter",
    description:
      "Does the run again from the step that has failed; of several who ask one gets a run. A run whose step is held goes on itself.",
    names,
  },
  async handle({ app, submissions, traceParent }: OperationContext<DefinitionPorts & Driving>, given) {
    const { idempotency_key: idempotencyKey } = given;
    const { record, letter, isHeld } = await findDeadLetter(app, given.id);
    if (isHeld) {
      const { id, status } = await (await app.host()).request(record.id, { type: "resume", releases: true });
      return { run_id: id, status, changes: [] };
    }
    const submitted = await submissions.start(app, {
      asked: { retry: letter.dead_letter_id },
      prepare: (runId) => prepareDeadLetterRetry(app, given.id, runId),
      idempotencyKey,
      traceParent,
    });
    return { ...describeSubmitted(submitted), changes: submitted.is === "new" ? submitted.prepared.notices : [] };
  },
});

export const resolveDeadLetter = defineOperation({
  id: "resolveDeadLetter",
  summary: "Note that nothing more is to be done",
  scope: "run",
  effect: "destroys",
  input: z.strictObject({ id, note: z.string().max(10_000).optional().describe("Why, for later readers.") }),
  output: deadLetterSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "DEAD_LETTER_NOT_FOUND", "DEAD_LETTER_CLOSED"],
  http: { method: "POST", path: "/dead-letter/{id}/resolve" },
  cli: {
    verb: "dead-letter resolve",
    args: ["id"],
    options: { note: "--note <text>" },
    show: ({ run_id }) => ({
      told: [`Resolved. The run stays as it ended; see it with: pawl runs show ${run_id}`],
    }),
  },
  mcp: {
    tool: "resolve_dead_letter",
    isRare: true,
    title: "Resolve a dead letter",
    description: "Notes that nothing more is to be done about a failed step. The status of its run stays.",
    names,
  },
  async handle({ app }: OperationContext<Place & Stores>, given) {
    const { record, letter, claim, stale } = await findDeadLetter(app, given.id);
    if (letter.status !== "open") throw deadLetterClosed(letter);
    const { deadLetters } = await app.service();
    await takeBack(app, claim ?? stale, letter.path);
    const closed = await deadLetters.close({
      run: record.id,
      path: letter.path,
      status: "resolved",
      at: app.clock.now(),
      note: given.note === undefined ? undefined : app.mask(given.note),
    });
    const after = (await findDeadLetter(app, given.id)).letter;
    if (closed) return after;
    throw deadLetterClosed(after);
  },
});

interface DeadLetterRetry extends PreparedRepetition {
  /** Throws `DEAD_LETTER_CLOSED` where somebody was faster. Rejects as `start` does; then the letter is open again. */
  begin(start: () => Promise<void>): Promise<void>;
}

/**
 * A rerun from the step that has failed. Of those who ask at the same time, for any letter of the run, one gets a run: it does again
 * all that had failed, and is noted with its id before it begins, since two runs for one failure would pay twice. A note whose
 * run never began counts for nothing but its id, under which whoever asks next begins; of several who do the host lets one.
 */
async function prepareDeadLetterRetry(
  app: DefinitionPorts,
  id: string,
  newId: string | undefined,
): Promise<DeadLetterRetry> {
  const { record, letter, claim, stale } = await findDeadLetter(app, id);
  if (letter.status !== "open") throw deadLetterClosed(letter);
  const repetition = { run: record.id, fromStep: letter.path, runId: claim?.newRun ?? newId };
  const prepared = await prepareRepetition(app, repetition);
  const { runId } = prepared.start;
  const { deadLetters } = await app.service();
  const closed = async () => deadLetterClosed((await findDeadLetter(app, id)).letter);
  return {
    ...prepared,
    async begin(start) {
      const at = app.clock.now();
      const note = {
        run: record.id,
        path: ALL_LETTERS,
        status: "retried",
        at,
        newRun: runId,
        isPending: true,
      } as const;
      await takeBack(app, stale);
      if (claim === undefined && !(await deadLetters.close(note))) throw await closed();
      await start().catch(async (error: unknown) => {
        throw isPawlError(error) && error.code === "RUN_ID_TAKEN" ? await closed() : error;
      });
      await deadLetters.confirm(record.id, claim?.path ?? ALL_LETTERS);
    },
  };
}

/** Makes room for another note at the path, or at the note's own. */
async function takeBack(app: Stores, note: DeadLetterNote | undefined, path = note?.path): Promise<void> {
  if (note?.newRun === undefined || note.path !== path) return;
  await (await app.service()).deadLetters.reopen(note.run, note.path, note.newRun);
}

interface FoundDeadLetter extends Omit<Fate, "note"> {
  readonly record: RunRecord;
  readonly letter: DeadLetter;
  /** Its run has not ended: it goes on when it is resumed. */
  readonly isHeld: boolean;
}

/** By `RUN:PATH`. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`, `DEAD_LETTER_NOT_FOUND`. */
async function findDeadLetter(app: Stores, id: string): Promise<FoundDeadLetter> {
  const colon = id.indexOf(":");
  const record = await findRun(app, colon === -1 ? id : id.slice(0, colon));
  const path = colon === -1 ? "" : id.slice(colon + 1);
  const { state } = await rebuildRun((await app.records()).journal, record, new Map());
  const keeps = record.completedAt !== undefined && state.graph.graph.ending.deadLetter;
  const instance = state.active.get(path);
  const isHeld = instance?.phase === "held";
  const failures = keeps ? state.failures : [];
  const failed = isHeld ? explainHeld(instance) : failures.find((failure) => failure.path === path);
  if (failed === undefined)
    throw new PawlError("DEAD_LETTER_NOT_FOUND", { message: `There is no dead letter "${id}".` });
  const { note, ...fate } = await new LetterFates(app).find(record.id, path);
  return { ...fate, record, letter: toDeadLetter(record, { ...failed, isHeld }, note), isHeld };
}

function deadLetterClosed({ dead_letter_id: id, status, retried_as: run }: DeadLetter): PawlError {
  // Open: somebody has claimed the retry and is just beginning it.
  const how = status === "open" ? "it is being retried" : run === null ? status : `${status} as ${run}`;
  return new PawlError("DEAD_LETTER_CLOSED", { message: `The dead letter "${id}" was dealt with already: ${how}.` });
}
