import { createHash } from "node:crypto";
import { PawlError } from "../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../core/exact-json.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import { ArchiveWriter, EXPORT_VERSION, PIECE_BYTES } from "./export-writer.ts";
import { toLines } from "./moved-lines.ts";
import type { MovedData } from "./sql/moved-tables.ts";

/** How many things were moved. */
export interface MovedCounts {
  readonly runs: number;
  readonly events: number;
  /** Schedules, keys, deliveries and all else that is no run. */
  readonly records: number;
  readonly values: number;
  readonly files: number;
}

export interface ExportSource {
  readonly kind: "sqlite" | "postgresql";
  /** Calls back with the data as it is at one moment. */
  read<T>(work: (data: MovedData) => Promise<T>): Promise<T>;
  readonly blobs: Blobs;
  readonly files: FileStorage;
  /** Whether the key of this process opens a sealed text. */
  opens(sealed: string): boolean;
}

/** Writes everything into one file. Throws `BACKUP_EXISTS`, `BLOB_MISSING`, `BLOB_DAMAGED`, `JOURNAL_IO`, `JOURNAL_FULL`. */
export async function exportData(
  target: string,
  source: ExportSource,
): Promise<MovedCounts & { readonly bytes: number }> {
  let writer = await ArchiveWriter.create(target);
  let isUsed = false;
  try {
    const found = await source.read(async (data) => {
      // A transaction that was in the way of another one is done again.
      if (isUsed) {
        await writer.abandon();
        writer = await ArchiveWriter.create(target);
      }
      isUsed = true;
      await writer.write(writeExact({ pawl: "export", version: EXPORT_VERSION, from: source.kind }));
      return writeRecords(writer, data);
    });
    const { values, sealed, ...counts } = found;
    // What refers to a value was written after it.
    for (const sha256 of values) await writeValue(writer, source.blobs, sha256);
    const files = await source.files.list("");
    for (const { path } of files) await writeFile(writer, source.files, path);
    const moved = { ...counts, values: values.size, files: files.length };
    const end = sealed === undefined ? "none" : source.opens(sealed) ? "readable" : "unreadable";
    return { ...moved, bytes: await writer.finish({ end: "export", sealed: end, ...moved }) };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

async function writeRecords(writer: ArchiveWriter, data: MovedData) {
  const values = new Set<string>();
  let sealed: string | undefined;
  const rows: Record<string, number> = {};
  for await (const line of toLines(data)) {
    await writer.write(line);
    const [, value] = VALUE.exec(line) ?? [];
    if (value !== undefined) values.add(value);
    sealed = findSealed(line) ?? sealed;
    if (line.startsWith('{"end"')) {
      const { end, rows: count } = parseExact(line) as { readonly end: string; readonly rows: number };
      rows[end] = count;
    }
  }
  return { ...countRows(rows), values, sealed };
}

/** The column of an event or delivery that stands for a value which lies elsewhere. */
const VALUE = /^\[.*"~([0-9a-f]{64})"/;

const SEALED = /pawl:sealed:1:[\w-]+/;

/** A text of the line that only the key of secrets opens. */
export function findSealed(line: string): string | undefined {
  return line.includes("pawl:sealed:1:") ? SEALED.exec(line)?.[0] : undefined;
}

export function countRows({ runs = 0, events = 0, order: _, ...others }: Readonly<Record<string, number>>) {
  return { runs, events, records: Object.values(others).reduce((sum, count) => sum + count, 0) };
}

async function writeValue(writer: ArchiveWriter, blobs: Blobs, sha256: string): Promise<void> {
  const content = await blobs.get(sha256);
  await writer.write(writeExact({ value: sha256 }));
  for (let from = 0; from < content.byteLength; from += PIECE_BYTES)
    await writePiece(writer, content.subarray(from, from + PIECE_BYTES));
  await writer.write(writeExact({ end: "content", bytes: content.byteLength, sha256 }));
}

/** A piece at a time: a file may be larger than the memory. */
async function writeFile(writer: ArchiveWriter, files: FileStorage, path: string): Promise<void> {
  await writer.write(writeExact({ file: path }));
  const hash = createHash("sha256");
  let bytes = 0;
  for (;;) {
    const piece = await files.readRange(path, { from: bytes, to: bytes + PIECE_BYTES });
    hash.update(piece);
    bytes += piece.byteLength;
    if (piece.byteLength > 0) await writePiece(writer, piece);
    if (piece.byteLength < PIECE_BYTES) break;
  }
  if (bytes === 0 && (await files.sizeOf(path)) === undefined) throw changed(path);
  await writer.write(writeExact({ end: "content", bytes, sha256: hash.digest("hex") }));
}

async function writePiece(writer: ArchiveWriter, piece: Uint8Array): Promise<void> {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  await writer.write(writeExact(bytes.toString("base64")));
}

function changed(path: string): PawlError {
  return new PawlError("STORAGE_CHANGED", { message: `"${path}" was removed while it was exported.` });
}
