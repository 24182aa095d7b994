import { readFile, realpath } from "node:fs/promises";
import { join, posix } from "node:path";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { toRefused } from "../output/failure.ts";

export interface LocatedScript {
  /** The name that the step gives. */
  readonly name: string;
  /** The text that runs. */
  readonly text: string;
  /** The application's folder; absent where the definition came without one. */
  readonly folder?: string;
  /** The path of the file in that folder, if it holds the same text. */
  readonly path?: string;
  /** Other pinned scripts, by name, for a definition without a folder. */
  readonly others: Readonly<Record<string, string>>;
}

/** Finds a step's script: the text that was pinned when the run began, else the file. Both must lie inside the folder. */
export async function locateScript(script: string, settings: JsonObject): Promise<LocatedScript | Failed> {
  const name = toInnerPath(script);
  if (name === undefined) return toOutside(script);
  const others = readPinned(settings["scripts"]);
  const pinned = others[name] ?? others[script];
  const folder = await realFolder(settings["folder"]);
  const path = folder === undefined ? undefined : await realpath(join(folder, name)).catch(() => undefined);
  if (folder !== undefined && path !== undefined && !path.startsWith(`${folder}/`)) return toOutside(script);

  const onDisk = path === undefined ? undefined : await readFile(path, "utf8").catch(() => undefined);
  const text = pinned ?? onDisk;
  if (text === undefined) return toMissing(script, folder);
  return { name, text, others, folder, ...(path === undefined || onDisk !== text ? {} : { path }) };
}

/** Untrusted: a relative path that does not climb, without the parts that mean nothing; else `undefined`. */
function toInnerPath(path: string): string | undefined {
  if (path === "" || path.includes("\0") || path.includes("\\") || path.startsWith("/")) return undefined;
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 || parts.includes("..") ? undefined : posix.join(...parts);
}

function readPinned(scripts: JsonObject[string] | undefined): Record<string, string> {
  if (!isJsonObject(scripts)) return {};
  return Object.fromEntries(
    Object.entries(scripts).flatMap(([path, text]) => {
      const name = toInnerPath(path);
      return name === undefined || typeof text !== "string" ? [] : [[name, text]];
    }),
  );
}

/** The root of the file system is no application. */
async function realFolder(folder: JsonObject[string] | undefined): Promise<string | undefined> {
  if (typeof folder !== "string") return undefined;
  const real = await realpath(folder).catch(() => undefined);
  return real === "/" ? undefined : real;
}

function toOutside(script: string): Failed {
  const message = `The script ${writeExact(script)} does not lie inside the application's folder.`;
  return toRefused("SCRIPT_OUTSIDE", message);
}

function toMissing(script: string, folder: string | undefined): Failed {
  const place = folder === undefined ? "with the definition" : `in ${folder}`;
  const message = `There is no script ${writeExact(script)} ${place}.`;
  return toRefused("SCRIPT_MISSING", message);
}
