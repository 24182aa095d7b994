import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { PawlError } from "../core/errors/pawl-error.ts";
import { parseExact } from "../core/exact-json.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { toFileFailure } from "./files/durable-write.ts";

/** A line that is longer is nobody's export, and must not fill the memory. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

/** The lines of an export up to the last one, whose hash they have. Throws `EXPORT_INVALID` with file and line, `JOURNAL_IO`. */
export async function* readExportLines(path: string): AsyncGenerator<string> {
  const hash = createHash("sha256");
  let no = 0;
  let last: Buffer | undefined;
  for await (const line of splitLines(path, () => no + 1)) {
    if (last !== undefined) hash.update(last).update("\n");
    last = line;
    no += 1;
    yield line.toString("utf8");
  }
  const end = last === undefined ? undefined : parseLine(last.toString("utf8"));
  if (!isJsonObject(end) || end["end"] !== "export") throw invalidLine(path, no, "it ends before its last line");
  if (end["sha256"] !== hash.digest("hex"))
    throw invalidLine(path, no, "its lines do not have the hash that its end names");
}

async function* splitLines(path: string, next: () => number): AsyncGenerator<Buffer> {
  const file = createReadStream(path);
  const gunzip = createGunzip();
  file.on("error", (error) => gunzip.destroy(error));
  let pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of file.pipe(gunzip) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        yield Buffer.concat([...pieces, chunk.subarray(from, at)]);
        pieces = [];
        bytes = 0;
        from = at + 1;
      }
      pieces.push(chunk.subarray(from));
      bytes += chunk.byteLength - from;
      if (bytes > MAX_LINE_BYTES) throw invalidLine(path, next(), `it is longer than ${MAX_LINE_BYTES} bytes`);
    }
    if (bytes > 0) throw invalidLine(path, next(), "it has no end: the file was cut off");
    if (gunzip.bytesWritten < file.bytesRead) throw invalidLine(path, next(), "something else follows the export");
  } catch (error) {
    const isOfZlib = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
    if (isOfZlib) throw invalidLine(path, next(), `it cannot be unpacked (${error.message})`);
    throw toFileFailure(error, path);
  } finally {
    file.destroy();
  }
}

/** Undefined: it is no JSON. */
export function parseLine(line: string): Json | undefined {
  try {
    return parseExact(line);
  } catch {
    return undefined;
  }
}

export function invalidLine(path: string, line: number, why: string): PawlError {
  return new PawlError("EXPORT_INVALID", { message: `${path} line ${line}: ${why}.` });
}
