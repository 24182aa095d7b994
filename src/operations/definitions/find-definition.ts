import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import { suggest } from "../../dialects/did-you-mean.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { TextOrigin } from "./compile/report-on-text.ts";
import { compileText } from "./compile-text.ts";
import { foldersOf, listWorkflowNames } from "./definition-files.ts";
import { findNamed, type NamedPlaces } from "./find-named.ts";
import { grantOfSaved } from "./grant-of-saved.ts";
import { isProgramFile, looksLikeFile } from "./looks-like-file.ts";
import { fileNotFound, fileWanted, readTextFile } from "./read-text-file.ts";
import type { RegistryPlaces } from "./registry.ts";

export interface DefinitionPlaces extends RegistryPlaces {
  /** The folders that relative paths are relative to, tried in this order. */
  readonly folders: readonly string[];
  readonly findSaved?: NamedPlaces["findSaved"];
  /** Whatever the reference looks like, it is a name. */
  readonly onlyNames?: boolean;
  /** The reference comes from data: a file must lie in one of the folders, and be one that definitions are kept in. */
  readonly isComputed?: boolean;
}

export interface FoundDefinition {
  readonly definition: CompiledDefinition;
  /** Absolute. */
  readonly file: string;
}

/** The definition behind a reference: a file, or one saved through the service, which has no file. */
export interface ReferredDefinition extends Omit<FoundDefinition, "file"> {
  readonly file?: string;
}

/**
 * A definition by file, by `FILE#NAME` or by registered name. Whatever looks like a file is one: where it is missing, that
 * is said, and nothing else is tried. Throws `FILE_NOT_FOUND`, `WORKFLOW_NOT_FOUND`, `NAME_TAKEN_TWICE`,
 * `PART_NOT_CHOSEN`, `DEFINITION_INVALID`.
 */
export async function findDefinition(reference: string, places: DefinitionPlaces): Promise<ReferredDefinition> {
  if (places.onlyNames === true) return findByName(reference, places);
  const whole = locate(reference, places);
  if (whole !== undefined) return readDefinition(whole, { shownAs: reference }, places);
  const named = splitName(reference, places);
  if (named !== undefined) return readDefinition(named.path, { shownAs: named.file, name: named.name }, places);
  if (looksLikeFile(reference)) throw notFound(reference, places);
  return findByName(reference, places);
}

function locate(reference: string, { folders, isComputed = false }: DefinitionPlaces): string | undefined {
  if (!looksLikeFile(reference) || reference.includes("\0")) return undefined;
  const found = folders.map((folder) => ({ folder, file: resolve(folder, reference) }));
  return found.find(({ folder, file }) => existsSync(file) && (!isComputed || mayDataName(file, folder)))?.file;
}

/** Problems of a definition are shown with its lines, so data must not choose the file. */
function mayDataName(file: string, folder: string): boolean {
  const path = relative(realpathSync(folder), realpathSync(file));
  const parts = path.split(sep);
  const isHidden = parts.some((part) => part.startsWith(".") || part === "node_modules");
  return !isAbsolute(path) && !isHidden && /\.(ya?ml|json)$/i.test(path) && !/^pawl\.ya?ml$/i.test(path);
}

/** Names may hold `#` as well: what counts is the first one behind a file. Throws `FILE_NOT_FOUND`. */
function splitName(reference: string, places: DefinitionPlaces) {
  let missing: string | undefined;
  for (let hash = reference.indexOf("#"); hash > 0; hash = reference.indexOf("#", hash + 1)) {
    const file = reference.slice(0, hash);
    const path = locate(file, places);
    if (path !== undefined) return { path, file, name: reference.slice(hash + 1) };
    if (missing === undefined && looksLikeFile(file)) missing = file;
  }
  if (missing !== undefined) throw notFound(missing, places);
  return undefined;
}

/** Data is told of no other files. */
function notFound(file: string, { isComputed = false }: DefinitionPlaces): PawlError {
  return isComputed ? new PawlError("FILE_NOT_FOUND", { message: `File not found: ${file}` }) : fileNotFound(file);
}

interface WantedText {
  /** Problems show the path as the user wrote it. */
  readonly shownAs: string;
  readonly name?: string;
}

async function readDefinition(
  file: string,
  { shownAs, name }: WantedText,
  places: DefinitionPlaces,
): Promise<FoundDefinition> {
  if (isProgramFile(file)) {
    const { findInProgram } = await import("./program-file.ts");
    return { definition: await findInProgram(file, name), file };
  }
  const select = name === undefined ? {} : { select: { name } };
  const origin = { ...originOf(file, shownAs, places), ...select };
  const definition = await compileText(await readTextFile(file), origin);
  const { graph } = definition;
  if (name === undefined || graph.name === name) return { definition, file };
  throw new PawlError("WORKFLOW_NOT_FOUND", {
    message: `${shownAs} has no workflow "${name}"; it has "${graph.name}".`,
  });
}

function originOf(file: string, source: string, places: DefinitionPlaces): TextOrigin {
  const { appDir, maxSteps, envAllowed = [], isLenient = false } = places;
  const around = { ...places, file };
  return { source, grant: EVERYTHING, folders: foldersOf(file, appDir), envAllowed, isLenient, around, maxSteps };
}

async function findByName(name: string, places: DefinitionPlaces): Promise<ReferredDefinition> {
  const { appDir } = places;
  const named = await findNamed(places, name);
  if (named === undefined) {
    const [folder] = places.onlyNames === true || places.isComputed === true ? [] : places.folders;
    const path = folder === undefined ? undefined : resolve(folder, name);
    if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw fileWanted(name);
    const likely = suggest(name, await listWorkflowNames(places));
    throw new PawlError("WORKFLOW_NOT_FOUND", {
      message: `No workflow "${name}" in ${appDir}.`,
      remedy: likely
        ? `${likely} List what there is with \`pawl workflows ls\`.`
        : places.onlyNames === true
          ? "Put the definition into `workflows/`, and call it by its name: a text that was sent cannot name files."
          : "Give a file, or put the definition into `workflows/`. List what there is with `pawl workflows ls`.",
    });
  }
  if (named.in === "storage") {
    const { maxSteps, envAllowed, isLenient = false } = places;
    const loading = { maxSteps, envAllowed, isLenient, grant: grantOfSaved(named.stored) };
    return { definition: await compileText(named.stored.text, { source: name, folders: [], ...loading }) };
  }
  const { file, report } = named.registered;
  return {
    definition: report.definition ?? (await compileNamed(name, file, places)),
    file,
  };
}

/** Something is wrong with it: the error says what. */
async function compileNamed(name: string, file: string, places: DefinitionPlaces): Promise<CompiledDefinition> {
  return compileText(await readTextFile(file), { ...originOf(file, file, places), select: { name } });
}
