import { existsSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { listNames } from "../../dialects/list-names.ts";
import { findWorkspace } from "./agents/workspace.ts";
import { readTextFile } from "./read-text-file.ts";

export interface FilePlaces {
  readonly appDir: string;
  /** Relative to the application. Absent: `agents.json`, where there is one. */
  readonly agentsFile?: string;
}

const PLACES = ["workflows/**/*.{yaml,yml,json}", ".terminal_control_workflows/**/*.json"];

const LIBRARY_INDEX = join(".terminal_control_workflows", "index.json");
const AGENTS_FILE = "agents.json";

/** Absolute, sorted, the agents file last. */
export async function listDefinitionFiles(places: FilePlaces): Promise<readonly string[]> {
  const { appDir } = places;
  const files = new Set<string>();
  for (const place of PLACES) {
    for await (const file of glob(place, { cwd: appDir }))
      if (file !== LIBRARY_INDEX && !TEST_FILE.test(file)) files.add(join(appDir, file));
  }
  for (const { path } of (await findWorkspace(appDir)).own) files.add(path);
  const agents = agentsFileOf(places);
  files.delete(agents);
  return [...[...files].sort(), ...(existsSync(agents) ? [agents] : [])];
}

/** Files with tests of workflows, which are none themselves. Absolute, sorted. */
export async function listTestFiles(appDir: string): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob("**/*.test.{yaml,yml}", {
    cwd: appDir,
    exclude: (name) => SKIPPED.has(basename(name)),
  }))
    files.push(join(appDir, file));
  return files.sort();
}

const TEST_FILE = /\.test\.ya?ml$/;
const SKIPPED = new Set(["node_modules", ".pawl", ".git"]);

/** Absolute, whether it is there or not. */
export function agentsFileOf({ appDir, agentsFile }: FilePlaces): string {
  return resolve(appDir, agentsFile ?? AGENTS_FILE);
}

export interface NamePlaces extends FilePlaces {
  /** A cache of names, if there is one. */
  readonly library?: { list(): readonly { readonly name: string }[] } | undefined;
}

/** Whether a file other than `asking` gives this name to a workflow. Compiles nothing: two files may name each other. */
export async function hasWorkflowNamed(places: NamePlaces, name: string, asking: string | undefined): Promise<boolean> {
  const { library } = places;
  if (library?.list().some((definition) => definition.name === name) === true) return true;
  for (const file of await listDefinitionFiles(places)) {
    if (file === asking) continue;
    const names = listNames({ text: await readTextFile(file), file });
    if (names.includes(name) || (names.length <= 1 && stemOf(file) === name)) return true;
  }
  return false;
}

/** Every name by which a workflow of the application can be called, for remedies. Compiles nothing. */
export async function listWorkflowNames(places: NamePlaces): Promise<readonly string[]> {
  const names = new Set(places.library?.list().map(({ name }) => name));
  for (const file of await listDefinitionFiles(places)) {
    const own = listNames({ text: await readTextFile(file), file });
    for (const name of own.length === 0 ? [stemOf(file)] : own) names.add(name);
  }
  return [...names];
}

export function stemOf(file: string): string {
  return basename(file, extname(file));
}

/**
 * Folders in which scripts and prompts of a definition are looked for: in the application, in the folder that holds the `workflows/`
 * in which the file lies, beside the file.
 */
export function foldersOf(file: string | undefined, appDir: string): readonly string[] {
  if (file === undefined) return [appDir];
  const parts = file.split(sep);
  const workflows = parts.lastIndexOf("workflows", parts.length - 2);
  const around = workflows > 0 ? [parts.slice(0, workflows).join(sep) || sep] : [];
  return [...new Set([appDir, ...around, dirname(file)])];
}
