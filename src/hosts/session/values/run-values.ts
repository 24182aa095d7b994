import type { Values } from "../../../core/binding/bind.ts";
import { collectAssignments, collectSeqs, collectStoragePaths } from "../../../core/binding/values-needed.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { Expr, Matches } from "../../../core/expressions/expr.ts";
import type { Viewpoint } from "../../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { SizedCache } from "../../../core/sized-cache.ts";
import { readableVariables } from "../../../core/trust/check-grant.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { Journal, RunNo } from "../../../ports/journal.ts";
import { inTurn, passTurn } from "../../../ports/turns.ts";
import { type SecretLeaf, showLeaves } from "../secrets/secret-leaves.ts";

export interface ValueSources {
  readonly journal: Journal;
  readonly blobs: Pick<Blobs, "get">;
  readonly files: FileStorage;
  /** By the number of an event, or the hash of a blob. */
  readonly cache: SizedCache<number | string, Json>;
  env(name: string): string | undefined;
  readonly matches: Matches;
  /** Like `parseJson`, with a cache. */
  parse?(text: string): Json | undefined;
  /** Told of a value that was read and is about to be parsed. What it throws keeps it from being parsed. */
  loaded?(seq: number, json: string): void;
}

/** To parse more than this is a part of work of its own. */
const LONG_CHARS = 100_000;

/** Values of one query, which keeps all others waiting. */
const READ_AT_ONCE = 200;

/** A stored value that is not JSON text but names a blob. */
export const BLOB_MARK = "~";

const NOTHING: ReadonlySet<number> = new Set();

interface Found {
  readonly values: Map<number, Json>;
  readonly assigned: Map<number, Json>;
  readonly files: Map<string, string>;
}

const NOTHING_FOUND: Found = { values: new Map(), assigned: new Map(), files: new Map() };

/** Values of one run: from memory where they are recent, else from the journal and the blob store. */
export class RunValues {
  readonly #run: RunNo;
  readonly #sources: ValueSources;
  /** For expressions that read nothing. Most steps have such, and load them twice. */
  readonly #none: Values;
  /** Secrets of stored inputs by the event that holds the input, or the reason why they cannot be read. */
  #hidden: Map<number, readonly SecretLeaf[] | PawlError> | undefined;

  constructor(run: RunNo, sources: ValueSources) {
    this.#run = run;
    this.#sources = sources;
    this.#none = this.#toValues(NOTHING_FOUND);
  }

  keep(seq: number, value: Json, bytes: number): void {
    this.#sources.cache.set(this.#keyOf(seq), value, bytes);
  }

  /** Steps of this run read the value with its secrets. An error is thrown when the value is read. */
  reveal(seq: number, hidden: readonly SecretLeaf[] | PawlError): void {
    this.#hidden ??= new Map();
    this.#hidden.set(seq, hidden);
  }

  keepAssigned(seq: number, assigned: JsonObject): void {
    this.#sources.cache.set(this.#assignedKeyOf(seq), assigned, writeExact(assigned).length);
  }

  /** The run's record on disk may differ from the one in memory: cached values may be those of other events. */
  forget(): void {
    const run = this.#run;
    this.#sources.cache.dropWhere((key) => Math.floor(Number.parseInt(String(key), 10) / 2 ** 24) === run);
  }

  /** Loads everything that the expressions read from here, as far as the workflow around may read it. Returns no promise if all of it is in memory. */
  load(from: Viewpoint, exprs: readonly Expr[], handles: ReadonlySet<number> = NOTHING): Values | Promise<Values> {
    if (handles.size === 0 && areLiterals(exprs)) return this.#none;
    const found: Found = { values: new Map(), assigned: new Map(), files: new Map() };
    const seqs = new Set(handles);
    const assignments = new Set<number>();
    const files = new Set<string>();
    for (const expr of exprs) {
      collectSeqs(from, expr, seqs);
      collectAssignments(from, expr, assignments);
      for (const path of collectStoragePaths(expr)) files.add(path);
    }
    const missing = this.#takeFromCache(seqs, found.values, (seq) => this.#keyOf(seq));
    const unassigned = this.#takeFromCache(assignments, found.assigned, (seq) => this.#assignedKeyOf(seq));
    if (missing.length + unassigned.length + files.size === 0) return this.#toValues(found, from);
    return this.#loadMissing(found, { missing, unassigned, files }, from);
  }

  /** Loads recorded values by the numbers of their events. */
  async read(seqs: ReadonlySet<number>): Promise<Values> {
    const found: Found = { values: new Map(), assigned: new Map(), files: new Map() };
    const missing = this.#takeFromCache(seqs, found.values, (seq) => this.#keyOf(seq));
    return this.#loadMissing(found, { missing, unassigned: [], files: new Set() });
  }

  #takeFromCache(
    seqs: ReadonlySet<number>,
    found: Map<number, Json>,
    keyOf: (seq: number) => string | number,
  ): number[] {
    const missing: number[] = [];
    for (const seq of seqs) {
      const value = this.#sources.cache.get(keyOf(seq));
      if (value === undefined) missing.push(seq);
      else found.set(seq, value);
    }
    return missing;
  }

  async #loadMissing(
    found: Found,
    wanted: {
      readonly missing: readonly number[];
      readonly unassigned: readonly number[];
      readonly files: ReadonlySet<string>;
    },
    from?: Viewpoint,
  ): Promise<Values> {
    const { journal, files } = this.#sources;
    for (let from = 0; from < wanted.missing.length; from += READ_AT_ONCE) {
      const stored = await journal.readValues(this.#run, wanted.missing.slice(from, from + READ_AT_ONCE));
      for (const [seq, text] of stored) {
        const { value, bytes } = await this.#parse(seq, text);
        this.keep(seq, value, bytes);
        found.values.set(seq, value);
      }
      await passTurn();
    }
    for (const seq of wanted.unassigned) {
      const [row] = await journal.readEvents(this.#run, { afterSeq: seq - 1, limit: 1 });
      const assigned = row !== undefined && "assigned" in row.event ? row.event.assigned : undefined;
      if (assigned !== undefined) found.assigned.set(seq, assigned);
    }
    for (const path of wanted.files) {
      const content = await files.read(path);
      if (content !== undefined) found.files.set(path, new TextDecoder().decode(content));
    }
    return this.#toValues(found, from);
  }

  async #parse(seq: number, text: string): Promise<{ value: Json; bytes: number }> {
    const json = text.startsWith(BLOB_MARK)
      ? new TextDecoder().decode(await this.#sources.blobs.get(text.slice(BLOB_MARK.length)))
      : text;
    this.#sources.loaded?.(seq, json);
    const parse = (): Json => parseExact(json);
    return { value: json.length > LONG_CHARS ? await inTurn(parse) : parse(), bytes: json.length };
  }

  #toValues(found: Found, from?: Viewpoint): Values {
    const { env, matches, parse } = this.#sources;
    return {
      value: (seq) => this.#shown(seq, found.values.get(seq)),
      assigned: (seq) => found.assigned.get(seq) as JsonObject | undefined,
      file: (path) => found.files.get(path),
      env: (name) => (mayRead(from, name) ? env(name) : undefined),
      matches,
      parse,
    };
  }

  #shown(seq: number, value: Json | undefined): Json | undefined {
    const hidden = this.#hidden?.get(seq);
    if (hidden === undefined || value === undefined) return value;
    if (hidden instanceof PawlError) throw hidden;
    return showLeaves(value, hidden);
  }

  #keyOf(seq: number): number {
    return this.#run * 2 ** 24 + seq;
  }

  #assignedKeyOf(seq: number): string {
    return `${this.#keyOf(seq)}=`;
  }
}

function mayRead(from: Viewpoint | undefined, name: string): boolean {
  return from !== undefined && readableVariables(from.scope.frame.graph.graph).includes(name);
}

function areLiterals(exprs: readonly Expr[]): boolean {
  for (const expr of exprs) if (expr.op !== "literal") return false;
  return true;
}
