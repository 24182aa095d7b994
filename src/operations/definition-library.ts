import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isPawlError } from "../core/errors/pawl-error.ts";
import type { Graph } from "../core/graph/graph.ts";
import { isJsonObject } from "../core/json.ts";
import type { CompiledDefinition } from "../hosts/compiled-definition.ts";
import { readTextFile } from "./read-text-file.ts";
import { listDefinitionFiles, type RegisteredDefinition, toRegistered } from "./registry.ts";
import type { ShownProblem } from "./shown-problem.ts";

/** A definition that cannot be used as it is now written. */
interface BrokenDefinition {
  readonly file: string;
  readonly problems: readonly ShownProblem[];
  /** An earlier version stays in use. */
  readonly hasGoodVersion: boolean;
}

export interface LibraryChange {
  readonly hasChanged: boolean;
  /** Those that were not reported before, as they are written now. */
  readonly broken: readonly BrokenDefinition[];
}

interface LibraryPlaces {
  readonly appDir: string;
  readonly maxSteps: number;
  readonly envAllowed?: readonly string[];
}

interface Entry {
  readonly registered: RegisteredDefinition;
  /** The last version without errors. */
  readonly good: CompiledDefinition | undefined;
  /** Of the file and of what it pins: equal stamps, equal texts. */
  readonly stamps: ReadonlyMap<string, string>;
  readonly text: string;
}

/**
 * The application's definitions, compiled and held ready. A definition that is broken while it is edited stays what it was;
 * one that has not changed is not compiled again.
 */
export class DefinitionLibrary {
  readonly #places: LibraryPlaces;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #list: readonly RegisteredDefinition[] = [];
  #refreshing: Promise<LibraryChange> | undefined;

  constructor(places: LibraryPlaces) {
    this.#places = places;
  }

  /** By file. */
  list(): readonly RegisteredDefinition[] {
    return this.#list;
  }

  /** Where files lie that definitions pin beside their own text. */
  pinnedFiles(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ registered, stamps }) =>
      [...stamps.keys()].filter((file) => file !== registered.file),
    );
  }

  /** Looks at every file; one look at a time. */
  async refresh(): Promise<LibraryChange> {
    while (this.#refreshing !== undefined) await this.#refreshing.catch(() => undefined);
    this.#refreshing = this.#lookAtAll().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #lookAtAll(): Promise<LibraryChange> {
    const files = await listDefinitionFiles(this.#places.appDir);
    const looked = await Promise.all(files.map((file) => this.#lookAt(file)));
    const entries = looked.filter((entry) => entry !== undefined);
    const known = this.#entries;
    const inUse = (entry: Entry | undefined) => entry?.registered.report.definition ?? entry?.good;
    const hasChanged =
      entries.length !== known.size ||
      entries.some(
        (entry) => !known.has(entry.registered.file) || inUse(known.get(entry.registered.file)) !== inUse(entry),
      );
    this.#entries = new Map(entries.map((entry) => [entry.registered.file, entry]));
    this.#list = entries.map(toListed);
    const broken = entries.filter(
      ({ registered }) =>
        registered.report.definition === undefined && known.get(registered.file)?.registered !== registered,
    );
    return { hasChanged, broken: broken.map(toBroken) };
  }

  /** Undefined: the file has gone meanwhile. */
  async #lookAt(file: string): Promise<Entry | undefined> {
    const known = this.#entries.get(file);
    if (known !== undefined && (await isUnchanged(known))) return known;
    // Before the texts are read: who writes meanwhile is seen the next time.
    const before = await stampAll([file, ...(known?.stamps.keys() ?? [])]);
    const text = await readIfThere(file);
    if (text === undefined) return undefined;
    const registered = await toRegistered(text, file, this.#places);
    const good = registered.report.definition ?? known?.good;
    const pinned = pinnedBy(good?.graph);
    const stamps = new Map(
      [...(await stampAll(pinned)), ...before].filter(([each]) => each === file || pinned.includes(each)),
    );
    if (known !== undefined && isSameVersion(known, text, registered)) return { ...known, stamps };
    return { registered, good, stamps, text };
  }
}

/** Touched, or looked at for what it lacks: nobody is told of it, and runs share the graph. */
function isSameVersion(known: Entry, text: string, { report }: RegisteredDefinition): boolean {
  if (known.text !== text) return false;
  const before = known.registered.report;
  if (before.definition === undefined || report.definition === undefined) {
    return before.definition === report.definition && isSameList(before.problems, report.problems);
  }
  return JSON.stringify(before.definition.graph) === JSON.stringify(report.definition.graph);
}

function isSameList(some: readonly ShownProblem[], others: readonly ShownProblem[]): boolean {
  return some.length === others.length && some.every(({ rendered }, index) => rendered === others[index]?.rendered);
}

/** An invalid text goes by the name and the graph of the last valid one. */
function toListed({ registered, good }: Entry): RegisteredDefinition {
  if (registered.report.definition !== undefined || good === undefined) return registered;
  return { name: good.graph.name, file: registered.file, report: { definition: good, problems: [] } };
}

function toBroken({ registered, good }: Entry): BrokenDefinition {
  return { file: registered.file, problems: registered.report.problems, hasGoodVersion: good !== undefined };
}

/** What is broken may be so because a file is missing that has no stamp: it is looked at every time. */
async function isUnchanged({ registered, stamps }: Entry): Promise<boolean> {
  if (registered.report.definition === undefined) return false;
  const now = await stampAll([...stamps.keys()]);
  return [...stamps].every(([file, stamp]) => now.get(file) === stamp);
}

async function stampAll(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(files.map(async (file) => [file, await stampOf(file)] as const)));
}

async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino } = await stat(file, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch {
    return "none";
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readTextFile(file);
  } catch (error) {
    if (isPawlError(error)) return undefined;
    throw error;
  }
}

function pinnedBy(graph: Graph | undefined): readonly string[] {
  const { folder, scripts = null, prompts = null } = graph?.settings ?? {};
  if (typeof folder !== "string") return [];
  const paths = [scripts, prompts].flatMap((map) => (isJsonObject(map) ? Object.keys(map) : []));
  return paths.map((path) => join(folder, path));
}
