import { PawlError } from "../../core/errors/pawl-error.ts";
import { explainHeld } from "../../core/interpreter/attempt/crashes.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { Stores } from "../application/ports.ts";
import { type DeadLetter, findDeadLetterNote, toDeadLetter } from "./list-dead-letters.ts";

export interface FoundDeadLetter {
  readonly record: RunRecord;
  readonly letter: DeadLetter;
  /** Its run has not ended: it goes on when it is resumed. */
  readonly isHeld: boolean;
  /** The id of a run that a retry has claimed and not begun. */
  readonly claimed?: string;
}

/** By `RUN:PATH`. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`, `DEAD_LETTER_NOT_FOUND`. */
export async function findDeadLetter(app: Stores, id: string): Promise<FoundDeadLetter> {
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

export function deadLetterClosed({ dead_letter_id: id, status, retried_as: run }: DeadLetter): PawlError {
  // Open: somebody has claimed the retry and is just beginning it.
  const how = status === "open" ? "it is being retried" : run === null ? status : `${status} as ${run}`;
  return new PawlError("DEAD_LETTER_CLOSED", { message: `The dead letter "${id}" was dealt with already: ${how}.` });
}
