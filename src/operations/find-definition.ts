import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { CompiledDefinition } from "../hosts/compiled-definition.ts";
import { foldersOf } from "./application-folders.ts";
import { compileText, type TextOrigin } from "./compile-text.ts";
import { readTextFile } from "./read-text-file.ts";
import { findRegistered, type RegistryPlaces } from "./registry.ts";

export interface DefinitionPlaces {
  /** What relative paths are relative to, tried in this order. */
  readonly folders: readonly string[];
  readonly appDir: string;
  readonly maxSteps?: number;
  readonly envAllowed?: readonly string[];
  readonly library?: RegistryPlaces["library"];
  /** Whatever the reference looks like, it is a name. */
  readonly onlyNames?: boolean;
}

export interface FoundDefinition {
  readonly definition: CompiledDefinition;
  /** Absolute. */
  readonly file: string;
}

/**
 * A definition by file, by `FILE#NAME` or by registered name. Whatever looks like a file is one: where it is missing, that
 * is said, and nothing else is tried. Throws `FILE_NOT_FOUND`, `WORKFLOW_NOT_FOUND`, `NAME_TAKEN_TWICE`, `DEFINITION_INVALID`.
 */
export async function findDefinition(reference: string, places: DefinitionPlaces): Promise<FoundDefinition> {
  if (places.onlyNames === true) return findByName(reference, places);
  const whole = locate(reference, places);
  if (whole !== undefined) return readDefinition(whole, reference, places);
  const hash = reference.lastIndexOf("#");
  if (hash > 0) return readNamed(reference.slice(0, hash), reference.slice(hash + 1), places);
  if (looksLikeFile(reference)) throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${reference}` });
  return findByName(reference, places);
}

function locate(reference: string, { folders }: DefinitionPlaces): string | undefined {
  if (!looksLikeFile(reference)) return undefined;
  return folders.map((folder) => resolve(folder, reference)).find((file) => existsSync(file));
}

function looksLikeFile(reference: string): boolean {
  return /[\\/]/.test(reference) || /\.(ya?ml|json)$/i.test(reference);
}

/** Problems show the path as the user wrote it. */
async function readDefinition(file: string, shownAs: string, places: DefinitionPlaces): Promise<FoundDefinition> {
  return { definition: await compileText(await readTextFile(file), originOf(file, shownAs, places)), file };
}

function originOf(file: string, source: string, { appDir, maxSteps, envAllowed = [] }: DefinitionPlaces): TextOrigin {
  return { source, folders: foldersOf(file, appDir), envAllowed, ...(maxSteps === undefined ? {} : { maxSteps }) };
}

async function readNamed(file: string, name: string, places: DefinitionPlaces): Promise<FoundDefinition> {
  const path = locate(file, places);
  if (path === undefined) throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${file}` });
  const found = await readDefinition(path, file, places);
  const { graph } = found.definition;
  if (graph.name === name) return found;
  throw new PawlError("WORKFLOW_NOT_FOUND", { message: `${file} has no workflow "${name}"; it has "${graph.name}".` });
}

async function findByName(name: string, places: DefinitionPlaces): Promise<FoundDefinition> {
  const { appDir } = places;
  const registered = await findRegistered(places, name);
  if (registered === undefined) {
    throw new PawlError("WORKFLOW_NOT_FOUND", {
      message: `No workflow "${name}" in ${appDir}.`,
      remedy: "Give a file, or put the definition into `workflows/`.",
    });
  }
  const { file, report } = registered;
  return {
    definition: report.definition ?? (await compileText(await readTextFile(file), originOf(file, file, places))),
    file,
  };
}
