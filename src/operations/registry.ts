import { glob } from "node:fs/promises";
import { basename, extname, join, relative } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import { foldersOf } from "./application-folders.ts";
import { checkText, type DefinitionReport } from "./compile-text.ts";
import { readTextFile } from "./read-text-file.ts";

/** A definition of the application, found where definitions live. */
export interface RegisteredDefinition {
  /** What its text says, else the name of its file. */
  readonly name: string;
  readonly file: string;
  readonly report: DefinitionReport;
}

export interface RegistryPlaces {
  readonly appDir: string;
  readonly maxSteps?: number;
  readonly envAllowed?: readonly string[];
  /** Whoever holds them all ready already; else they are read and compiled for every question. */
  readonly library?: { list(): readonly RegisteredDefinition[] } | undefined;
}

const PLACES = ["workflows/**/*.{yaml,yml,json}", ".terminal_control_workflows/**/*.json"];

const LIBRARY_INDEX = join(".terminal_control_workflows", "index.json");

/** Every definition of the application, by file. Reads and compiles them all: ask only where a name has to be found. */
async function listRegistered(places: RegistryPlaces): Promise<readonly RegisteredDefinition[]> {
  const files = await listDefinitionFiles(places.appDir);
  return Promise.all(files.map((file) => readRegistered(file, places)));
}

/** Absolute, sorted. */
export async function listDefinitionFiles(appDir: string): Promise<readonly string[]> {
  const files = new Set<string>();
  for (const place of PLACES) {
    for await (const file of glob(place, { cwd: appDir })) if (file !== LIBRARY_INDEX) files.add(join(appDir, file));
  }
  return [...files].sort();
}

/** Undefined: there is none of this name. Throws `NAME_TAKEN_TWICE` with both places. */
export async function findRegistered(
  registry: RegistryPlaces,
  name: string,
): Promise<RegisteredDefinition | undefined> {
  const { appDir, library } = registry;
  const all = library === undefined ? await listRegistered(registry) : library.list();
  const named = all.filter((definition) => definition.name === name);
  // A file's own name counts where no text claims the name.
  const found = named.length > 0 ? named : all.filter(({ file }) => stemOf(file) === name);
  if (found.length <= 1) return found[0];
  const places = found.map(({ file }) => relative(appDir, file));
  throw new PawlError("NAME_TAKEN_TWICE", {
    message: `"${name}" is the name of ${places.join(" and of ")}.`,
    details: { places },
  });
}

async function readRegistered(file: string, places: RegistryPlaces): Promise<RegisteredDefinition> {
  return toRegistered(await readTextFile(file), file, places);
}

export async function toRegistered(
  text: string,
  file: string,
  { appDir, maxSteps, envAllowed = [] }: RegistryPlaces,
): Promise<RegisteredDefinition> {
  const report = await checkText(text, {
    source: file,
    folders: foldersOf(file, appDir),
    envAllowed,
    ...(maxSteps === undefined ? {} : { maxSteps }),
  });
  return { name: report.definition?.graph.name ?? stemOf(file), file, report };
}

function stemOf(file: string): string {
  return basename(file, extname(file));
}
