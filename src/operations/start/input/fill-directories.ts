import { realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Ports } from "../../application/ports.ts";
import {
  type FileSource,
  folderSource,
  MOST_FILES,
  readDirectory,
  storageSource,
  type Wanted,
} from "./read-directory.ts";

type FillingApplication = Pick<Ports, "appDir" | "config" | "files">;

const STORAGE = "storage:";

/**
 * Puts the files of a folder in the place of its name, in inputs that `input_schema` marks with `directory`. The run
 * keeps what was read, so that a rerun sees the same. `standsIn`: the folder that a person at this machine stands in, who
 * may name any; a client names stored files, or folders that the configuration lists. Throws `INPUT_INVALID`.
 */
export async function fillDirectories(
  app: FillingApplication,
  given: JsonObject,
  { graph, standsIn }: { readonly graph: Graph; readonly standsIn?: string },
): Promise<JsonObject> {
  const properties = graph.input.schema?.["properties"];
  if (!isJsonObject(properties)) return given;
  const filled: [string, Json][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const wanted = readWanted(property);
    const named = Object.hasOwn(given, name) ? given[name] : undefined;
    if (wanted === undefined || typeof named !== "string") continue;
    const source = await findSource(app, { name, named, standsIn });
    const items = await readDirectory(source, wanted);
    if (items.length === 0) throw invalid(name, `there is no text file in ${source.shown}`);
    filled.push([name, items]);
  }
  return filled.length === 0 ? given : { ...given, ...Object.fromEntries(filled) };
}

/** Undefined: the input is no directory. */
function readWanted(property: Json): Wanted | undefined {
  const rules = isJsonObject(property) ? property["directory"] : undefined;
  if (rules === true) return { include: [], recursive: true, maxFiles: MOST_FILES };
  if (!isJsonObject(rules)) return undefined;
  const { include, recursive, max_files: maxFiles } = rules;
  const patterns = Array.isArray(include) ? include : include === undefined ? [] : [include];
  return {
    include: patterns.map(String),
    recursive: recursive !== false,
    maxFiles: typeof maxFiles === "number" ? Math.min(maxFiles, MOST_FILES) : MOST_FILES,
  };
}

interface Named {
  readonly name: string;
  readonly named: string;
  readonly standsIn: string | undefined;
}

async function findSource(app: FillingApplication, { name, named, standsIn }: Named): Promise<FileSource> {
  if (named.startsWith(STORAGE)) return storageSource(await app.files(), named.slice(STORAGE.length));
  if (named.includes("\0")) throw invalid(name, "a path holds no NUL");
  const folder = await toFolder(resolve(standsIn ?? app.appDir, named));
  // Whether it is there or not is nobody's business who may not read it.
  if (standsIn === undefined && (folder === undefined || !(await isListed(app, folder))))
    throw new PawlError("INPUT_INVALID", {
      message: `\`${name}\`: ${writeExact(named.slice(0, 100))} is no folder that a client may name.`,
      remedy:
        "Send the texts themselves, store them and write `storage:PREFIX`, or list the folder under `inputs.folders` in the configuration.",
    });
  if (folder === undefined) throw invalid(name, `there is no folder ${named}`);
  return folderSource(folder, named);
}

async function toFolder(path: string): Promise<string | undefined> {
  // With the slash: a file is no folder.
  return realpath(`${path}${sep}`).catch(() => undefined);
}

async function isListed({ appDir, config }: FillingApplication, folder: string): Promise<boolean> {
  const listed = await Promise.all(config.settings.inputs.folders.map((each) => toFolder(resolve(appDir, each))));
  return listed.some((each) => each !== undefined && (folder === each || folder.startsWith(`${each}${sep}`)));
}

function invalid(name: string, why: string): PawlError {
  return new PawlError("INPUT_INVALID", { message: `\`${name}\`: ${why}.`, remedy: "Name a folder with text files." });
}
