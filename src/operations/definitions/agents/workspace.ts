import { existsSync } from "node:fs";
import { glob } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { readToml } from "../../../config/read-toml.ts";
import { BoundedMap } from "../../../core/bounded-map.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { Definition } from "../../../dialects/definition.ts";
import { holdsComponents } from "../../../dialects/list-names.ts";
import { stampNow } from "../file-stamps.ts";
import { readIfThere } from "../read-text-file.ts";

/** A file of components. Its text is shown with a path relative to the application. */
interface ComponentFile {
  /** Absolute. */
  readonly path: string;
  /** The same object as long as the file is the same: what was made of it can be kept with it. */
  readonly definition: Definition;
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
  const mine = [anchor, ...(around === undefined || around === anchor ? [] : [around])];
  const projects = (around?.projects ?? []).filter((folder) => folder !== appDir);
  const others = await Promise.all(projects.map((folder) => readAnchor(folder)));
  const all = [anchor, around, ...others].filter((each) => each !== undefined);
  return {
    anchors: [...new Set(all.map(({ folder }) => join(folder, ANCHOR)))],
    own: await listComponents(mine, appDir),
    others: await listComponents(
      others.filter((each) => each !== undefined),
      appDir,
    ),
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

async function listComponents(anchors: readonly Anchor[], appDir: string): Promise<readonly ComponentFile[]> {
  const lists = anchors.flatMap(({ folder, configs }) => configs.map((config) => listIn(config, { folder, appDir })));
  return (await Promise.all(lists)).flat();
}

interface Whose {
  /** The project's, from which relative paths start. */
  readonly folder: string;
  readonly appDir: string;
}

async function listIn(config: string, whose: Whose): Promise<readonly ComponentFile[]> {
  const files: string[] = [];
  for await (const file of glob(FILES, { cwd: config })) files.push(join(config, file));
  return (await Promise.all(files.sort().map((path) => readComponents(path, whose)))).flatMap((found) => found ?? []);
}

interface Known {
  readonly stamp: string;
  readonly found: Promise<ComponentFile | undefined>;
}

const MAX_KNOWN = 2_000;
/** Every file of a workspace is asked for with each of the others. */
const known = new BoundedMap<string, Known>(MAX_KNOWN);

/** Undefined: it holds no components, or is gone. */
function readComponents(path: string, whose: Whose): Promise<ComponentFile | undefined> {
  const key = writeExact([path, whose]);
  // Before the text: who writes in between is noticed the next time.
  const stamp = stampNow(path);
  const before = known.get(key);
  if (before !== undefined && before.stamp === stamp) return before.found;
  const found = read(key, path, whose);
  if (stamp !== undefined) known.set(key, { stamp, found });
  return found;
}

async function read(key: string, path: string, { folder, appDir }: Whose): Promise<ComponentFile | undefined> {
  const text = await readIfThere(path);
  // It may be readable the next time, and have the same stamp.
  if (text === undefined) known.delete(key);
  const definition = { text: text ?? "", file: relative(appDir, path), folder };
  return holdsComponents(definition) ? { path, definition } : undefined;
}
