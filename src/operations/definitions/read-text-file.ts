import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { orElse } from "../../core/or-else.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import { isProgramFile } from "./looks-like-file.ts";

/** The text of a file that a user named. Throws `FILE_NOT_FOUND`, `SERVER_BUSY`. */
export async function readTextFile(path: string): Promise<string> {
  return Buffer.from(await readBinaryFile(path)).toString("utf8");
}

/** What is pinned of a definition's file as it is now: its text, or the graph of a program's workflow. */
export async function readDefinitionText(path: string, workflow: string): Promise<string> {
  if (!isProgramFile(path)) return readTextFile(path);
  const { findInProgram } = await import("./program-file.ts");
  return (await findInProgram(path, workflow)).text;
}

/** Undefined: it has gone meanwhile, or cannot be read. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (isPawlError(error)) return undefined;
    throw error;
  }
}

/** The content of a file that a user named. Throws `FILE_NOT_FOUND`, `SERVER_BUSY`. */
export async function readBinaryFile(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    refuseOutOfFiles(cause, path);
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") throw fileNotFound(path, cause);
    if (code === "EISDIR") throw fileWanted(path, cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PawlError("FILE_NOT_FOUND", { message: `${path} cannot be read: ${reason}.`, cause });
  }
}

/** With the file that was likely meant. `path` is absolute, or as it was written. */
export function fileNotFound(path: string, cause?: unknown): PawlError {
  const meant = didYouMean(basename(path), namesIn(dirname(path)));
  const remedy = meant === undefined ? {} : { remedy: `Did you mean \`${join(dirname(path), meant)}\`?` };
  return new PawlError("FILE_NOT_FOUND", { message: `File not found: ${path}`, ...remedy, cause });
}

/** A folder stands where a file is needed. */
export function fileWanted(path: string, cause?: unknown): PawlError {
  const files = namesIn(path).filter((name) => /\.(ya?ml|json)$/i.test(name));
  const listed = files.slice(0, MAX_LISTED).map((name) => `\`${join(path, name)}\``);
  const remedy = listed.length === 0 ? "Name a file." : `Name one of its files: ${listed.join(", ")}.`;
  return new PawlError("FILE_NOT_FOUND", { message: `${path} is a folder, and a file is needed.`, remedy, cause });
}

const MAX_LISTED = 5;

function namesIn(folder: string): readonly string[] {
  return orElse(() => readdirSync(folder).filter((name) => !name.startsWith(".")), []);
}

/** Nothing is wrong with the file: the process has too much open at the moment. Throws `SERVER_BUSY`. */
export function refuseOutOfFiles(error: unknown, path: string): void {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EMFILE" && code !== "ENFILE") return;
  throw new PawlError("SERVER_BUSY", {
    message: `${path} cannot be read: as many files and connections are open as the system allows.`,
    remedy: "Try again in a moment, or allow more of them (`ulimit -n`).",
    cause: error,
  });
}
