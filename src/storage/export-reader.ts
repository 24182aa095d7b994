import { createHash, type Hash } from "node:crypto";
import { PawlError } from "../core/errors/pawl-error.ts";
import { writeExact } from "../core/exact-json.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { invalidLine, parseLine, readExportLines } from "./export-lines.ts";
import { EXPORT_VERSION } from "./export-writer.ts";
import { EXPORTED_TABLES, Histories, TableDigest } from "./moved-lines.ts";
import type { MovedRow, MovedTable } from "./sql/moved-tables.ts";
import { SEQ_RANGE } from "./sql/run-row.ts";
import { parseStoragePath } from "./storage-path.ts";

/** What the last line says of the whole. */
interface ExportEnd {
  readonly sha256: string;
  /** Whether who made it could read the secrets that are sealed in it. */
  readonly sealed: "none" | "readable" | "unreadable";
}

export type ExportEntry =
  | { readonly kind: "row"; readonly table: MovedTable; readonly row: MovedRow }
  | { readonly kind: "table end"; readonly table: MovedTable; readonly rows: number }
  | { readonly kind: "content"; readonly of: "value" | "file"; readonly name: string }
  | { readonly kind: "piece"; readonly content: Buffer }
  | { readonly kind: "content end"; readonly bytes: number }
  | ({ readonly kind: "end" } & ExportEnd);

/** What is asked for is given. All of it is checked, but what is skipped by the hash of the whole alone. */
export async function* readExport(
  path: string,
  wanted: { readonly rows: boolean; readonly contents: boolean },
): AsyncGenerator<ExportEntry> {
  const check = new ExportCheck(path);
  for await (const line of readExportLines(path)) {
    const isSkipped = line.startsWith("[") ? !wanted.rows : line.startsWith('"') && !wanted.contents;
    if (isSkipped) check.skip();
    else {
      const entry = check.read(line);
      if (entry !== undefined) yield entry;
    }
  }
}

interface OpenTable {
  readonly table: MovedTable;
  readonly digest: TableDigest;
  rows: number;
}

interface OpenContent {
  readonly of: "value" | "file";
  readonly name: string;
  readonly hash: Hash;
  bytes: number;
}

/** Knows which line may follow which. */
class ExportCheck {
  readonly #path: string;
  #line = 0;
  #next = 0;
  #table: OpenTable | undefined;
  #content: OpenContent | undefined;
  #histories = new Histories();
  #skips = false;
  readonly #runs: number[] = [];
  #runAt = -1;
  #lastId = 0;
  #hasEnded = false;

  constructor(path: string) {
    this.#path = path;
  }

  skip(): void {
    this.#line += 1;
    this.#skips = true;
  }

  read(line: string): ExportEntry | undefined {
    this.#line += 1;
    const parsed = parseLine(line);
    if (parsed === undefined || this.#hasEnded) throw this.#invalid("it is no line of an export");
    if (this.#line === 1) return this.#readHead(parsed);
    if (Array.isArray(parsed)) return this.#readRow(parsed, line);
    if (typeof parsed === "string") return this.#readPiece(parsed);
    if (!isJsonObject(parsed)) throw this.#invalid("it is no line of an export");
    if ("table" in parsed) return this.#beginTable(parsed);
    if ("history" in parsed) return this.#checkHistory(line);
    if ("value" in parsed || "file" in parsed) return this.#beginContent(parsed);
    if (this.#table !== undefined) return this.#endTable(parsed, line, this.#table);
    if (this.#content !== undefined) return this.#endContent(parsed, this.#content);
    return this.#readEnd(parsed);
  }

  #readHead(head: Json): undefined {
    const version = isJsonObject(head) && head["pawl"] === "export" ? head["version"] : undefined;
    if (typeof version !== "number") throw this.#invalid("it is no export of Pawl");
    if (version === EXPORT_VERSION) return;
    throw new PawlError("EXPORT_NEWER", {
      message: `${this.#path} line 1: the export has version ${version}, and this Pawl knows ${EXPORT_VERSION}.`,
    });
  }

  #beginTable({ table: name, columns }: { readonly [name: string]: Json }): undefined {
    const table = EXPORTED_TABLES[this.#next];
    const names = table?.columns.map((column) => column.name);
    if (this.#table !== undefined || table === undefined || name !== table.name)
      throw this.#invalid(`the table \`${String(name)}\` does not come here`);
    if (writeExact(columns) !== writeExact(names)) throw this.#invalid(`\`${table.name}\` has other columns`);
    this.#next += 1;
    this.#skips = false;
    this.#table = { table, digest: new TableDigest(), rows: 0 };
  }

  #readRow(row: readonly Json[], line: string): ExportEntry {
    const open = this.#table;
    if (open === undefined) throw this.#invalid("a row belongs to a table");
    const { columns, name } = open.table;
    const isFit = (value: Json, index: number) =>
      value === null || (columns[index]?.isNumber === true ? Number.isSafeInteger(value) : typeof value === "string");
    if (row.length !== columns.length || !row.every(isFit)) throw this.#invalid(`it is no row of \`${name}\``);
    const id = Number(row[0]);
    if (name === "runs") this.#noteRun(id);
    if (name === "events") this.#checkEvent(id, line);
    open.digest.add(line);
    open.rows += 1;
    return { kind: "row", table: open.table, row: row as MovedRow };
  }

  #noteRun(no: number): void {
    if (no <= (this.#runs.at(-1) ?? 0)) throw this.#invalid("runs are in the order of their numbers");
    this.#runs.push(no);
  }

  /** Numbers of a run are dense from 1. */
  #checkEvent(id: number, line: string): void {
    const isNext = id === this.#lastId + 1 && id % SEQ_RANGE !== 0;
    if (!isNext) {
      do this.#runAt += 1;
      while ((this.#runs[this.#runAt] ?? Number.POSITIVE_INFINITY) < Math.floor(id / SEQ_RANGE));
      const run = this.#runs[this.#runAt];
      if (run === undefined || id !== run * SEQ_RANGE + 1)
        throw this.#invalid("an event is missing before it, or its run is");
    }
    this.#lastId = id;
    if (this.#histories.add(id, line) !== undefined) throw this.#invalid("the hash of a history is missing before it");
  }

  #checkHistory(line: string): undefined {
    // It stands before the first event of the next run, which has not been read.
    if (!this.#skips && this.#histories.end() !== line)
      throw this.#invalid("the events of the run do not have this hash");
  }

  #endTable(end: { readonly [name: string]: Json }, line: string, open: OpenTable): ExportEntry {
    const { table, digest, rows } = open;
    if (!this.#skips && digest.toLine(table.name) !== line)
      throw this.#invalid(`the rows of \`${table.name}\` do not have this hash`);
    if (this.#histories.end() !== undefined) throw this.#invalid("the hash of a history is missing before it");
    this.#table = undefined;
    return { kind: "table end", table, rows: this.#skips ? Number(end["rows"]) : rows };
  }

  #beginContent(begin: { readonly [name: string]: Json }): ExportEntry {
    const of = "file" in begin ? "file" : "value";
    const name = begin[of];
    if (this.#table !== undefined || this.#content !== undefined || this.#next < EXPORTED_TABLES.length)
      throw this.#invalid(`a ${of} does not come here`);
    if (typeof name !== "string" || (of === "value" && !/^[0-9a-f]{64}$/.test(name)))
      throw this.#invalid(`it names no ${of}`);
    if (of === "file") this.#checkPath(name);
    this.#skips = false;
    this.#content = { of, name, hash: createHash("sha256"), bytes: 0 };
    return { kind: "content", of, name };
  }

  /** Nothing is written elsewhere than in the storage, whatever an export says. */
  #checkPath(path: string): void {
    try {
      parseStoragePath(path);
    } catch (error) {
      throw this.#invalid(error instanceof Error ? error.message : String(error));
    }
  }

  #readPiece(text: string): ExportEntry {
    if (this.#content === undefined) throw this.#invalid("a piece belongs to a value or a file");
    const content = Buffer.from(text, "base64");
    this.#content.hash.update(content);
    this.#content.bytes += content.byteLength;
    return { kind: "piece", content };
  }

  #endContent(end: { readonly [name: string]: Json }, { of, name, hash, bytes }: OpenContent): ExportEntry {
    const sha256 = hash.digest("hex");
    const isWhole = end["bytes"] === bytes && end["sha256"] === sha256 && (of === "file" || sha256 === name);
    if (!this.#skips && (end["end"] !== "content" || !isWhole))
      throw this.#invalid(`the ${of} does not have this hash`);
    this.#content = undefined;
    return { kind: "content end", bytes: Number(end["bytes"]) };
  }

  #readEnd({ end, sealed, sha256 }: { readonly [name: string]: Json }): ExportEntry {
    const isEnd = end === "export" && this.#next === EXPORTED_TABLES.length && typeof sha256 === "string";
    if (!isEnd || (sealed !== "none" && sealed !== "readable" && sealed !== "unreadable"))
      throw this.#invalid("it is no line of an export, or comes too early");
    this.#hasEnded = true;
    return { kind: "end", sealed, sha256 };
  }

  #invalid(why: string): PawlError {
    return invalidLine(this.#path, this.#line, why);
  }
}
