import type { SQLInputValue } from "node:sqlite";
import { writeExact } from "../../core/exact-json.ts";
import { encodeEvent } from "../../core/history/event-codec.ts";
import type { Append, AppendResult, NewOutbox, NewRun, RunPatch } from "../../ports/journal.ts";
import { type EntryFacts, factsOf, type Refusal } from "../append-rule.ts";
import { SEQ_RANGE, toUncertainColumn } from "../sql/run-row.ts";

/**
 * A batch as its writer takes it: rows of values, few objects. Another thread gets a copy of each object with the names of its
 * fields, which for the entries themselves took as long as writing them.
 */
export interface EncodedBatch {
  readonly entries: readonly EncodedEntry[];
  /** The columns of `events`, row after row, entry after entry. */
  readonly rows: readonly SQLInputValue[];
}

/** Most entries are facts and nothing else. */
export interface EncodedEntry extends EntryFacts {
  /** The columns of `runs`. */
  readonly create?: readonly SQLInputValue[];
  readonly patch?: RunPatch;
  readonly place?: RunPatch["place"];
  readonly outbox?: readonly NewOutbox[];
  readonly pins?: readonly { readonly hash: string; readonly text: string }[];
  /** The columns of `violations`. */
  readonly violations?: readonly (readonly SQLInputValue[])[];
  /** Why its events cannot be written as rows. It has none then. */
  readonly unfit?: string;
}

/** The entries of a batch that were not written, by their place. */
export type Refusals = ReadonlyMap<number, Refusal>;

const WRITTEN: AppendResult = { ok: true };

export function toResults(entries: readonly Append[], refusals: Refusals): readonly AppendResult[] {
  return entries.map((_, index) => refusals.get(index) ?? WRITTEN);
}

/** Remembers which texts are pinned: they are written once, and most runs name the same. */
export class BatchEncoder {
  readonly #pinned = new Set<string>();

  encode(entries: readonly Append[]): EncodedBatch {
    const rows: SQLInputValue[] = [];
    return { entries: entries.map((entry) => this.#encodeEntry(entry, rows)), rows };
  }

  /** The batch is durable. */
  written(entries: readonly Append[], refusals: Refusals): void {
    for (const [index, { pins }] of entries.entries()) {
      if (pins !== undefined && !refusals.has(index)) for (const { hash } of pins) this.#pinned.add(hash);
    }
  }

  #encodeEntry(entry: Append, rows: SQLInputValue[]): EncodedEntry {
    const { length } = rows;
    try {
      return this.#toEncoded(entry, rows);
    } catch (error) {
      rows.length = length;
      return { ...factsOf(entry), count: 0, unfit: error instanceof Error ? error.message : String(error) };
    }
  }

  #toEncoded(entry: Append, rows: SQLInputValue[]): EncodedEntry {
    const { create, patch, outbox, pins } = entry;
    const violations = encodeEvents(entry, rows);
    const encoded: { -readonly [Name in keyof EncodedEntry]: EncodedEntry[Name] } = factsOf(entry);
    if (create !== undefined) encoded.create = toRow(entry.run, create, patch);
    else if (patch !== undefined) encoded.patch = patch;
    if (patch?.place !== undefined) encoded.place = patch.place;
    if (outbox !== undefined) encoded.outbox = outbox;
    if (violations.length > 0) encoded.violations = violations;
    const wanted = pins?.filter(({ hash }) => !this.#pinned.has(hash)) ?? [];
    if (wanted.length > 0) encoded.pins = wanted;
    return encoded;
  }
}

/** Adds the rows of the events. Returns those of `violations`. */
function encodeEvents({ run, afterSeq, events }: Append, rows: SQLInputValue[]): SQLInputValue[][] {
  const violations: SQLInputValue[][] = [];
  let seq = afterSeq;
  for (const { event, value = null } of events) {
    seq += 1;
    const { type, path, attempt, at, costMicro, body } = encodeEvent(event);
    rows.push(run * SEQ_RANGE + seq, type, path, attempt, at, costMicro, body, value);
    if (!("policies" in event) || event.policies === undefined) continue;
    for (const decision of event.policies)
      violations.push([run, seq, event.path, at, decision.policy, decision.action, writeExact(decision)]);
  }
  return violations;
}

function toRow(run: number, create: NewRun, patch: RunPatch = {}): SQLInputValue[] {
  const { id, workflow, dialect, graph, definition, createdAt } = create;
  const { parentRunId = null, tenantId = null, callbackUrl = null } = create;
  const { status = "queued", parked = false, wakeAt = null, costMicro = 0, openApprovals = 0 } = patch;
  const { startedAt = null, completedAt = null, error, uncertainMicro = 0, storedBytes = 0 } = patch;
  return [
    ...[run, id, workflow, dialect, graph, definition, status, Number(parked), wakeAt, costMicro],
    ...[createdAt, startedAt, completedAt, toText(error), parentRunId, tenantId, callbackUrl, openApprovals],
    ...[toUncertainColumn(uncertainMicro), storedBytes],
  ];
}

export function toText(error: RunPatch["error"]): string | null {
  return error === undefined || error === null ? null : writeExact(error);
}
