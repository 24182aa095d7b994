import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { CompiledDefinition } from "../hosts/compiled-definition.ts";
import { compileText } from "./compile-text.ts";
import { readTextFile } from "./read-text-file.ts";
import { findRegistered } from "./registry.ts";

export interface DefinitionPlaces {
  /** What relative paths are relative to, tried in this order. */
  readonly folders: readonly string[];
  readonly appDir: string;
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
  const whole = locate(reference, places);
  if (whole !== undefined) return readDefinition(whole, reference);
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
async function readDefinition(file: string, shownAs: string): Promise<FoundDefinition> {
  return { definition: await compileText(await readTextFile(file), shownAs), file };
}

async function readNamed(file: string, name: string, places: DefinitionPlaces): Promise<FoundDefinition> {
  const path = locate(file, places);
  if (path === undefined) throw new PawlError("FILE_NOT_FOUND", { message: `File not found: ${file}` });
  const found = await readDefinition(path, file);
  const { graph } = found.definition;
  if (graph.name === name) return found;
  throw new PawlError("WORKFLOW_NOT_FOUND", { message: `${file} has no workflow "${name}"; it has "${graph.name}".` });
}

async function findByName(name: string, { appDir }: DefinitionPlaces): Promise<FoundDefinition> {
  const registered = await findRegistered(appDir, name);
  if (registered === undefined) {
    throw new PawlError("WORKFLOW_NOT_FOUND", {
      message: `No workflow "${name}" in ${appDir}.`,
      remedy: "Give a file, or put the definition into `workflows/`.",
    });
  }
  const { file, report } = registered;
  return { definition: report.definition ?? (await compileText(await readTextFile(file), file)), file };
}
