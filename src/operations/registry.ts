import { glob } from "node:fs/promises";
import { basename, extname, join, relative } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import { checkText, type DefinitionReport } from "./compile-text.ts";
import { readTextFile } from "./read-text-file.ts";

/** A definition of the application, found where definitions live. */
export interface RegisteredDefinition {
  /** What its text says, else the name of its file. */
  readonly name: string;
  readonly file: string;
  readonly report: DefinitionReport;
}

const PLACES = ["workflows/**/*.{yaml,yml,json}", ".terminal_control_workflows/**/*.json"];

/** Every definition of the application, by file. Reads and compiles them all: ask only where a name has to be found. */
async function listRegistered(appDir: string): Promise<readonly RegisteredDefinition[]> {
  const files = new Set<string>();
  for (const place of PLACES) {
    for await (const file of glob(place, { cwd: appDir })) files.add(join(appDir, file));
  }
  return Promise.all([...files].sort().map(readRegistered));
}

/** Undefined: there is none of this name. Throws `NAME_TAKEN_TWICE` with both places. */
export async function findRegistered(appDir: string, name: string): Promise<RegisteredDefinition | undefined> {
  const all = await listRegistered(appDir);
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

async function readRegistered(file: string): Promise<RegisteredDefinition> {
  const report = await checkText(await readTextFile(file), file);
  return { name: report.definition?.graph.name ?? stemOf(file), file, report };
}

function stemOf(file: string): string {
  return basename(file, extname(file));
}
