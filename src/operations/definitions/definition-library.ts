import { join } from "node:path";
import { writeExact } from "../../core/exact-json.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { isJsonObject } from "../../core/json.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";
import { listDefinitionFiles } from "./definition-files.ts";
import { stampAll } from "./file-stamps.ts";
import { readIfThere } from "./read-text-file.ts";
import { definitionsIn, type RegisteredDefinition, type RegisteredFile, toRegistered } from "./registry.ts";

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
  /** Warnings about the others, of files that were not told of before. */
  readonly warnings: readonly ShownProblem[];
}

interface LibraryPlaces {
  readonly appDir: string;
  readonly maxSteps: number;
  readonly envAllowed?: readonly string[];
  readonly isLenient?: boolean;
  readonly agentsFile?: string;
  /** What the program that embeds this has beside files: an equal list is the same object. */
  readonly programs?: Pick<DefinitionLibrary, "list"> | undefined;
}

interface Entry {
  readonly read: RegisteredFile;
  /** The last version without errors. */
  readonly good: RegisteredFile | undefined;
  /** The stamps of the file and of those that it pins. Equal stamps mean equal texts. */
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
  #whole: { readonly of: readonly unknown[]; readonly list: readonly RegisteredDefinition[] } | undefined;
  #refreshing: Promise<LibraryChange> | undefined;

  constructor(places: LibraryPlaces) {
    this.#places = places;
  }

  /** By file, with those of the program. The same object as long as they are the same. */
  list(): readonly RegisteredDefinition[] {
    const programs = this.#places.programs?.list();
    if (programs === undefined) return this.#list;
    const of = [this.#list, programs];
    if (this.#whole?.of.every((each, index) => each === of[index]) !== true)
      this.#whole = { of, list: [...this.#list, ...programs] };
    return this.#whole.list;
  }

  /** The folders of files that definitions pin beside their own text. */
  pinnedFiles(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ read, stamps }) =>
      // A file of agents may lie outside of the folders that are watched anyway.
      [...stamps.keys()].filter((file) => file !== read.file || read.beside.length > 0),
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
    const files = await listDefinitionFiles(this.#places);
    const looked = await Promise.all(files.map((file) => this.#lookAt(file)));
    const entries = looked.filter((entry) => entry !== undefined);
    const known = this.#entries;
    const hasChanged =
      entries.length !== known.size ||
      entries.some((entry) => !known.has(entry.read.file) || known.get(entry.read.file)?.good !== entry.good);
    this.#entries = new Map(entries.map((entry) => [entry.read.file, entry]));
    this.#list = entries.flatMap(toListed);
    const isNews = ({ read }: Entry) => known.get(read.file)?.read !== read;
    const broken = entries.filter((entry) => !entry.read.isValid && isNews(entry));
    const warned = entries.filter((entry) => entry.read.isValid && isNews(entry));
    return { hasChanged, broken: broken.map(toBroken), warnings: warned.flatMap(({ read }) => read.problems) };
  }

  /** Undefined: the file has gone meanwhile. */
  async #lookAt(file: string): Promise<Entry | undefined> {
    const known = this.#entries.get(file);
    if (known !== undefined && (await isUnchanged(known))) return known;
    // Before the texts are read: who writes meanwhile is seen the next time.
    const before = await stampAll([file, ...(known?.stamps.keys() ?? [])]);
    const text = await readIfThere(file);
    if (text === undefined) return undefined;
    const read = await toRegistered(text, file, this.#places);
    const good = read.isValid ? read : known?.good;
    const pinned = good === undefined ? [] : pinnedBy(good);
    const stamps = new Map(
      [...(await stampAll(pinned)), ...before].filter(([each]) => each === file || pinned.includes(each)),
    );
    if (known !== undefined && isSameVersion(known, text, read)) return { ...known, stamps };
    return { read, good, stamps, text };
  }
}

/** Touched, or looked at for what it lacks: nobody is told of it, and runs share the graph. */
function isSameVersion(known: Entry, text: string, read: RegisteredFile): boolean {
  if (known.text !== text) return false;
  const { read: before } = known;
  if (!before.isValid || !read.isValid)
    return before.isValid === read.isValid && isSameList(before.problems, read.problems);
  return graphsOf(before) === graphsOf(read);
}

function graphsOf({ definitions }: RegisteredFile): string {
  return writeExact(definitions.map(({ graph }) => graph));
}

function isSameList(some: readonly ShownProblem[], others: readonly ShownProblem[]): boolean {
  return some.length === others.length && some.every(({ rendered }, index) => rendered === others[index]?.rendered);
}

/** An invalid text goes by the names and the graphs of the last valid one. */
function toListed({ read, good }: Entry): readonly RegisteredDefinition[] {
  return definitionsIn(read.isValid || good === undefined ? read : { ...good, problems: [] });
}

function toBroken({ read, good }: Entry): BrokenDefinition {
  return { file: read.file, problems: read.problems, hasGoodVersion: good !== undefined };
}

/** A definition may be broken because a file is missing, which has no stamp. So it is looked at every time. */
async function isUnchanged({ read, stamps }: Entry): Promise<boolean> {
  if (!read.isValid) return false;
  const now = await stampAll([...stamps.keys()]);
  return [...stamps].every(([file, stamp]) => now.get(file) === stamp);
}

function pinnedBy({ definitions, beside }: RegisteredFile): readonly string[] {
  return [...beside, ...definitions.flatMap(({ graph }) => filesOf(graph))];
}

function filesOf({ settings }: Graph): readonly string[] {
  const { folder, scripts = null, prompts = null } = settings;
  if (typeof folder !== "string") return [];
  const paths = [scripts, prompts].flatMap((map) => (isJsonObject(map) ? Object.keys(map) : []));
  return paths.map((path) => join(folder, path));
}
