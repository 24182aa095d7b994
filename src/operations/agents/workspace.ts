import { existsSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readToml } from "../../config/read-toml.ts";
import type { Definition } from "../../dialects/definition.ts";
import { holdsComponents } from "../../dialects/list-names.ts";
import { readIfThere } from "../definitions/read-text-file.ts";

/** A file of components. `folder`: the project's, from which its relative paths start. */
interface ComponentFile extends Definition {
  /** Absolute. */
  readonly file: string;
  readonly folder: string;
}

/** Where the components of an application lie that keeps them in many files, in the order in which a name is looked for. */
export interface Workspace {
  /** The files that say so. Changes of them count. */
  readonly anchors: readonly string[];
  /** Its own, and those that its workspace shares. */
  readonly own: readonly ComponentFile[];
  /** Those of the other projects of its workspace. */
  readonly others: readonly ComponentFile[];
}

const ANCHOR = ".aurite";
const USUAL = ["config"];
const FILES = "**/*.{json,yaml,yml}";
const MAX_LEVELS = 10;
const NONE: Workspace = { anchors: [], own: [], others: [] };

/**
 * Reads `.aurite` of the application, and that of the workspace that names it as a project. Without one there is nothing.
 * Throws `CONFIG_INVALID`.
 */
export async function findWorkspace(appDir: string): Promise<Workspace> {
  const anchor = await readAnchor(appDir);
  if (anchor === undefined) return NONE;
  const around = anchor.projects.length > 0 ? anchor : await findAround(appDir);
  const mine = await listComponents([anchor, ...(around === undefined || around === anchor ? [] : [around])]);
  const projects = (around?.projects ?? []).filter((folder) => folder !== appDir);
  const others = await Promise.all(projects.map((folder) => readAnchor(folder)));
  const known = [anchor, around, ...others].filter((each) => each !== undefined);
  return {
    anchors: [...new Set(known.map(({ folder }) => join(folder, ANCHOR)))],
    own: mine,
    others: await listComponents(others.filter((each) => each !== undefined)),
  };
}

interface Anchor {
  readonly folder: string;
  /** Absolute, as `projects`. */
  readonly configs: readonly string[];
  readonly projects: readonly string[];
}

/** Undefined: there is none. Throws `CONFIG_INVALID`. */
async function readAnchor(folder: string): Promise<Anchor | undefined> {
  const file = join(folder, ANCHOR);
  if (!existsSync(file)) return undefined;
  const { aurite } = await readToml(file);
  const table = typeof aurite === "object" && aurite !== null ? (aurite as Record<string, unknown>) : {};
  return {
    folder,
    configs: textsIn(table["include_configs"] ?? USUAL).map((path) => resolve(folder, path)),
    projects: textsIn(table["projects"]).map((path) => resolve(folder, path)),
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

async function findAround(appDir: string): Promise<Anchor | undefined> {
  let folder = dirname(appDir);
  for (let level = 0; level < MAX_LEVELS && dirname(folder) !== folder; level += 1, folder = dirname(folder)) {
    const anchor = await readAnchor(folder);
    if (anchor?.projects.includes(appDir) === true) return anchor;
  }
  return undefined;
}

async function listComponents(anchors: readonly Anchor[]): Promise<readonly ComponentFile[]> {
  const lists = anchors.flatMap(({ folder, configs }) => configs.map((config) => listIn(config, folder)));
  return (await Promise.all(lists)).flat();
}

async function listIn(config: string, folder: string): Promise<readonly ComponentFile[]> {
  const files: string[] = [];
  for await (const file of glob(FILES, { cwd: config })) files.push(join(config, file));
  const read = files.sort().map(async (file) => ({ file, folder, text: (await readIfThere(file)) ?? "" }));
  return (await Promise.all(read)).filter(holdsComponents);
}
