import { existsSync } from "node:fs";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import { countRows, findSealed, type MovedCounts } from "./export-data.ts";
import { readExportLines } from "./export-lines.ts";
import { type ExportEntry, readExport } from "./export-reader.ts";
import { toLines } from "./moved-lines.ts";
import {
  MOVED_ORDER,
  MOVED_TABLES,
  type MovedData,
  type MovedPart,
  type MovedRow,
  type MovedTable,
  quote,
} from "./sql/moved-tables.ts";
import { ThereFile } from "./there-file.ts";

export interface ImportTarget {
  /** For messages. */
  readonly place: string;
  /** All that `work` writes, or nothing. */
  write<T>(work: (data: MovedData) => Promise<T>): Promise<T>;
  readonly blobs: Blobs;
  readonly files: FileStorage;
  /** Whether the key of this process opens a sealed text. */
  opens(sealed: string): boolean;
}

const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 4 * 1024 * 1024;
const PARTS_AT_ONCE = 256;
/** Of a file, before it is written. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;
/** No value is as large: a step may not return it. */
const MAX_VALUE_BYTES = 512 * 1024 * 1024;

/**
 * Reads an export into an empty place: first all of it is checked, then values and files are written, then what refers to them, in
 * one transaction, in which everything is read back and compared with the file. Throws `EXPORT_INVALID`, `EXPORT_NEWER`, `EXPORT_KEY`,
 * `DATA_EXISTS`, and `EXPORT_UNEQUAL` where what was written is not what was read.
 */
export async function importData(path: string, target: ImportTarget): Promise<MovedCounts> {
  if (!existsSync(path)) throw new PawlError("EXPORT_INVALID", { message: `There is no file ${path}.` });
  const { counts, parts, sha256 } = await check(path, target);
  await target.write((data) => refuseData(data, target.place));
  if (counts.values + counts.files > 0) await writeContents(path, sha256, target);
  await target.write(async (data) => {
    await refuseData(data, target.place);
    await writeRows(path, { sha256, parts, data });
    await data.finish();
    await compare(path, data);
  });
  return counts;
}

async function check(path: string, { files, opens }: ImportTarget) {
  const rows: Record<string, number> = {};
  const counts = { values: 0, files: 0 };
  let sealedText: string | undefined;
  let there: ThereFile | undefined;
  for await (const entry of readExport(path, { rows: true, contents: true })) {
    if (entry.kind === "row") for (const value of entry.row) sealedText = findSealed(String(value)) ?? sealedText;
    if (entry.kind === "table end") rows[entry.table.name] = entry.rows;
    if (entry.kind === "content") counts[entry.of === "file" ? "files" : "values"] += 1;
    if (entry.kind === "content") there = entry.of === "file" ? await ThereFile.find(files, entry.name) : undefined;
    if (entry.kind === "piece") await there?.compare(entry.content);
    if (entry.kind === "content end") there?.end(entry.bytes);
    if (entry.kind !== "end") continue;
    if (entry.sealed === "readable" && sealedText !== undefined && !opens(sealedText)) throw otherKey(path);
    return { counts: { ...countRows(rows), ...counts }, parts: rows[MOVED_ORDER.name] ?? 0, sha256: entry.sha256 };
  }
  throw new PawlError("EXPORT_INVALID", { message: `${path} is empty.` });
}

async function refuseData(data: MovedData, place: string): Promise<void> {
  for (const { name, place: where } of MOVED_TABLES) {
    const found = await data.sql(where).get(`SELECT 1 AS found FROM ${quote(name)} LIMIT 1`);
    if (found === undefined) continue;
    throw new PawlError("DATA_EXISTS", {
      message: `${place} is not empty: it has rows in \`${name}\`. Nothing was written.`,
      remedy: "Import into an empty database, or an empty folder that `--data DIR` names.",
    });
  }
}

async function* entriesOf(path: string, sha256: string, wanted: Parameters<typeof readExport>[1]) {
  for await (const entry of readExport(path, wanted)) {
    if (entry.kind === "end" && entry.sha256 !== sha256)
      throw new PawlError("EXPORT_INVALID", { message: `${path} was changed while it was read.` });
    yield entry;
  }
}

async function writeContents(path: string, sha256: string, { blobs, files }: ImportTarget): Promise<void> {
  let open: Extract<ExportEntry, { kind: "content" }> | undefined;
  let waiting: Buffer[] = [];
  let bytes = 0;
  let written = 0;
  const flush = async (name: string) => {
    const content = Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    if (written === 0) await files.write(name, content);
    else if (content.byteLength > 0) await files.extend(name, { from: written, content });
    written += content.byteLength;
  };
  for await (const entry of entriesOf(path, sha256, { rows: false, contents: true })) {
    if (entry.kind === "content") [open, waiting, bytes, written] = [entry, [], 0, 0];
    if (entry.kind === "piece") {
      waiting.push(entry.content);
      bytes += entry.content.byteLength;
      if (open?.of === "file" && bytes >= BYTES_AT_ONCE) await flush(open.name);
      if (bytes > MAX_VALUE_BYTES) throw new PawlError("EXPORT_INVALID", { message: `${path}: a value is too large.` });
    }
    if (entry.kind !== "content end" || open === undefined) continue;
    if (open.of === "value") await blobs.put(Buffer.concat(waiting));
    else if (written === 0 || bytes > 0) await flush(open.name);
    open = undefined;
  }
}

interface Writing {
  readonly sha256: string;
  /** How many parts the order of all runs has. */
  readonly parts: number;
  readonly data: MovedData;
}

async function writeRows(path: string, { sha256, parts, data }: Writing): Promise<void> {
  let rows: MovedRow[] = [];
  let characters = 0;
  let left = parts;
  const flush = async (table: MovedTable) => {
    const some = rows;
    rows = [];
    characters = 0;
    if (some.length === 0) return;
    if (table !== MOVED_ORDER) return data.insert(table, some);
    left -= some.length;
    return data.insertOrder(some.map(toPart), left);
  };
  for await (const entry of entriesOf(path, sha256, { rows: true, contents: false })) {
    if (entry.kind === "row") {
      rows.push(entry.row);
      for (const value of entry.row) characters += typeof value === "string" ? value.length : 8;
      const most = entry.table === MOVED_ORDER ? PARTS_AT_ONCE : ROWS_AT_ONCE;
      if (rows.length >= most || characters >= CHARACTERS_AT_ONCE) await flush(entry.table);
    }
    if (entry.kind === "table end") await flush(entry.table);
  }
}

function toPart([run, afterSeq, count]: MovedRow): MovedPart {
  return { run: Number(run), afterSeq: Number(afterSeq), count: Number(count) };
}

/** Reads back what was written: each row, the hash of each history and of each table have to be those of the file. */
async function compare(path: string, data: MovedData): Promise<void> {
  const expected = readExportLines(path);
  await expected.next();
  let no = 1;
  let history = "";
  for await (const line of toLines(data)) {
    no += 1;
    const { value } = await expected.next();
    if (line.startsWith('{"history"')) history = line;
    if (line === value) continue;
    throw new PawlError("EXPORT_UNEQUAL", {
      message: `${path} line ${no}: what was written is read back as something else, after ${history || "no history"}. Nothing was imported.`,
    });
  }
  await expected.return(undefined);
}

function otherKey(path: string): PawlError {
  return new PawlError("EXPORT_KEY", { message: `${path} holds secrets that were sealed with another key.` });
}
