import { dirname, join, relative } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import type { LoadOptions } from "../../dialects/definition.ts";
import { listNames } from "../../dialects/list-names.ts";
import type { CompiledDefinition, ShownProblem } from "../../hosts/compiled-definition.ts";
import { listAgentFiles } from "./agents/agent-files.ts";
import { findWorkspace } from "./agents/workspace.ts";
import { checkWholeText, type DefinitionReport } from "./compile/report-on-text.ts";
import { type FilePlaces, foldersOf, listDefinitionFiles, stemOf } from "./definition-files.ts";
import { readTextFile } from "./read-text-file.ts";

/** A definition of the application, found where definitions live. */
export interface RegisteredDefinition {
  /** The name in its text, else the name of its file. */
  readonly name: string;
  readonly file: string;
  readonly report: DefinitionReport;
}

/** A file of definitions: one, or the workflows of a file of agents. */
export interface RegisteredFile {
  readonly file: string;
  /** Empty where it has none that can be used. */
  readonly definitions: readonly CompiledDefinition[];
  readonly isValid: boolean;
  readonly problems: readonly ShownProblem[];
  /** Names that it gives to workflows, where it is not valid. */
  readonly names: readonly string[];
  /** The other files it was compiled with. If they change, it is compiled again. */
  readonly beside: readonly string[];
}

export interface RegistryPlaces extends FilePlaces, Pick<LoadOptions, "maxSteps" | "envAllowed" | "isLenient"> {
  /** A cache of all definitions. Without it they are read and compiled for every question. */
  readonly library?: { list(): readonly RegisteredDefinition[] } | undefined;
}

/** Every definition of the application, by file. Reads and compiles them all where nobody holds them ready. */
export async function listRegistered(places: RegistryPlaces): Promise<readonly RegisteredDefinition[]> {
  if (places.library !== undefined) return places.library.list();
  const files = await listDefinitionFiles(places);
  const read = await Promise.all(files.map(async (file) => toRegistered(await readTextFile(file), file, places)));
  return read.flatMap(definitionsIn);
}

/** Undefined: there is none of this name. Throws `NAME_TAKEN_TWICE` with both places. */
export async function findRegistered(
  registry: RegistryPlaces,
  name: string,
): Promise<RegisteredDefinition | undefined> {
  const { appDir } = registry;
  const all = await listRegistered(registry);
  const named = all.filter((definition) => definition.name === name);
  // A file's own name counts where no text claims the name.
  const found = named.length > 0 ? named : all.filter(({ file }) => stemOf(file) === name);
  if (found.length <= 1) return found[0];
  const places = [...new Set(found.map(({ file }) => relative(appDir, file)))];
  // The file's own name is no name of one of its workflows.
  if (places.length === 1) return undefined;
  throw new PawlError("NAME_TAKEN_TWICE", {
    message: `"${name}" is the name of ${places.join(" and of ")}.`,
    details: { places },
  });
}

export async function toRegistered(text: string, file: string, places: RegistryPlaces): Promise<RegisteredFile> {
  const { appDir, maxSteps, envAllowed = [], isLenient = false } = places;
  const { definitions, parts, isValid, problems } = await checkWholeText(text, {
    source: file,
    folders: foldersOf(file, appDir),
    grant: EVERYTHING,
    envAllowed,
    isLenient,
    around: { ...places, file },
    maxSteps,
  });
  const beside = parts === undefined ? [] : await listBeside(appDir);
  const names = isValid ? [] : listNames({ text, file });
  return { file, definitions, isValid, problems, names, beside };
}

/** With the folders, which change when a file comes. */
async function listBeside(appDir: string): Promise<readonly string[]> {
  const { anchors, own, others } = await findWorkspace(appDir);
  const files = [...(await listAgentFiles(appDir)), ...[...own, ...others].map(({ path }) => path)];
  return [...new Set([join(appDir, ".claude", "agents"), ...files.map((file) => dirname(file)), ...files, ...anchors])];
}

/** Those that cannot be used go by the names that they would have. */
export function definitionsIn(read: RegisteredFile): readonly RegisteredDefinition[] {
  const { file, definitions, isValid, problems, names } = read;
  if (isValid)
    return definitions.map((definition) => ({ name: definition.graph.name, file, report: { definition, problems } }));
  const known = names.length === 0 ? [stemOf(file)] : names;
  return known.map((name) => ({ name, file, report: { problems } }));
}
