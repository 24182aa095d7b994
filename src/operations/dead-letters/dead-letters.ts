import { z } from "zod";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { explainHeld } from "../../core/interpreter/attempt/crashes.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import type { RunRecord, RunStatus } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { Driving, Place, Principal, Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type PreparedRepetition, prepareRepetition } from "../repeat/prepare-repetition.ts";
import { acceptedRunSchema } from "../runs/run-schemas.ts";
import { idField, listOf, numberCursor, offsetQuery, pageQuery } from "../schemas.ts";
import { withTrace } from "../start/with-trace.ts";
import {
  countDeadLetters,
  type DeadLetter,
  deadLetterSchema,
  deadLetterStatusSchema,
  findDeadLetterNote,
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
  cli: [
    {
      verb: "dead-letter ls",
      summary: "list those that are open, oldest first",
      usual: { status: "open" },
      options: { status: false },
      parts: [{ flags: "--all", summary: "also those that were retried or resolved", at: ["status"], clears: true }],
      view: "dead-letters",
    },
  ],
  mcp: {
    tool: "list_dead_letters",
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
  input: z.strictObject({ id }),
  output: acceptedRunSchema.extend({ changes: z.array(z.string()).describe("What has changed of its files since.") }),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "DEAD_LETTER_NOT_FOUND", "DEAD_LETTER_CLOSED"],
  http: { method: "POST", path: "/dead-letter/{id}/retry", status: 202 },
  cli: [{ verb: "dead-letter retry", args: ["id"], follows: "always", show: ({ changes }) => ({ told: changes }) }],
  mcp: {
    tool: "retry_dead_letter",
    title: "Retry a dead letter",
    description:
      "Does the run again from the step that has failed; of several who ask one gets a run. A run whose step is held goes on itself.",
    names,
  },
  async handle({ app, submissions, traceParent }: OperationContext<Place & Principal & Stores & Driving>, given) {
    const { record, isHeld } = await findDeadLetter(app, given.id);
    if (isHeld) {
      const { id, status } = await (await app.host()).request(record.id, { type: "resume", releases: true });
      return { run_id: id, status, changes: [] };
    }
    const { prepared, begin } = await prepareDeadLetterRetry(app, given.id);
    await begin(() => submissions.begin(withTrace(prepared.start, traceParent)));
    return { run_id: prepared.start.runId, status: "queued" as RunStatus, changes: prepared.notices };
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
  cli: [
    {
      verb: "dead-letter resolve",
      args: ["id"],
      options: { note: "--note <text>" },
      show: ({ run_id }) => ({
        told: [`Resolved. The run stays as it ended; see it with: pawl runs show ${run_id}`],
      }),
    },
  ],
  mcp: {
    tool: "resolve_dead_letter",
    title: "Resolve a dead letter",
    description: "Notes that nothing more is to be done about a failed step. The status of its run stays.",
    names,
  },
  async handle({ app }: OperationContext<Place & Stores>, given) {
    const { record, letter, claimed } = await findDeadLetter(app, given.id);
    const { deadLetters } = await app.service();
    if (claimed !== undefined) await deadLetters.reopen(record.id, letter.path, claimed);
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

interface DeadLetterRetry {
  readonly prepared: PreparedRepetition;
  /** Throws `DEAD_LETTER_CLOSED` where somebody was faster. Rejects as `start` does; then the letter is open again. */
  begin<T>(start: () => Promise<T>): Promise<T>;
}

/**
 * A rerun from the step that has failed. Of those who ask at the same time one gets a run: the retry is noted with the id of its
 * run before that begins, since two runs for one failure would pay twice. A note whose run never began counts for nothing but
 * its id, under which whoever asks next begins; of several who do the host lets one.
 */
async function prepareDeadLetterRetry(app: Place & Principal & Stores, id: string): Promise<DeadLetterRetry> {
  const { record, letter, claimed } = await findDeadLetter(app, id);
  if (letter.status !== "open") throw deadLetterClosed(letter);
  const { path } = letter;
  const repetition = { run: record.id, fromStep: path, runId: claimed };
  const prepared = await prepareRepetition(app, repetition);
  const { runId } = prepared.start;
  const { deadLetters } = await app.service();
  const closed = async () => deadLetterClosed((await findDeadLetter(app, id)).letter);
  return {
    prepared,
    async begin(start) {
      const at = app.clock.now();
      const note = { run: record.id, path, status: "retried", at, newRun: runId, isPending: true } as const;
      if (claimed === undefined && !(await deadLetters.close(note))) throw await closed();
      const begun = await start().catch(async (error: unknown) => {
        throw isPawlError(error) && error.code === "RUN_ID_TAKEN" ? await closed() : error;
      });
      await deadLetters.confirm(record.id, path);
      return begun;
    },
  };
}

interface FoundDeadLetter {
  readonly record: RunRecord;
  readonly letter: DeadLetter;
  /** Its run has not ended: it goes on when it is resumed. */
  readonly isHeld: boolean;
  /** The id of a run that a retry has claimed and not begun. */
  readonly claimed?: string;
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
  if (failed === undefined) {
    throw new PawlError("DEAD_LETTER_NOT_FOUND", { message: `There is no dead letter "${id}".` });
  }
  const { note, claimed } = await findDeadLetterNote(app, record.id, path);
  const letter = toDeadLetter(record, { ...failed, isHeld }, note);
  return { record, letter, claimed, isHeld };
}

function deadLetterClosed({ dead_letter_id: id, status, retried_as: run }: DeadLetter): PawlError {
  // Open: somebody has claimed the retry and is just beginning it.
  const how = status === "open" ? "it is being retried" : run === null ? status : `${status} as ${run}`;
  return new PawlError("DEAD_LETTER_CLOSED", { message: `The dead letter "${id}" was dealt with already: ${how}.` });
}
