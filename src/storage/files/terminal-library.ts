import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { SavedWorkflow, WorkflowLibrary } from "../../ports/terminals/workflow-library.ts";
import { isSystemError } from "./durable-write.ts";
import { replaceObject } from "./edit-json-text.ts";
import { LIBRARY_NAME, LibraryFolder } from "./library-folder.ts";
import { toAsciiJson, toPythonJson } from "./python-json.ts";

/** A file that cannot be used. It stays as it is, and its name stays taken. */
export interface DamagedFile {
  readonly file: string;
  readonly reason: string;
}

const LONGEST_NAME = 64;

/**
 * The folder `.terminal_control_workflows`: `index.json`, and `{name}.json` with a definition and what is known of it. The
 * files are the truth; the index lists them. Both have the Python tool's format, and each is written at once and durably.
 */
export class TerminalLibrary implements WorkflowLibrary {
  readonly #dir: string;
  readonly #folder: LibraryFolder;
  readonly #reportDamage: (damaged: DamagedFile) => void;
  readonly #now: () => number;

  constructor(options: { readonly dir: string; reportDamage?(damaged: DamagedFile): void; now?(): number }) {
    this.#dir = options.dir;
    this.#folder = new LibraryFolder(options.dir);
    this.#reportDamage = (damaged) => options.reportDamage?.(damaged);
    this.#now = () => options.now?.() ?? Date.now();
  }

  async list(): Promise<readonly SavedWorkflow[]> {
    const names = new Set(await this.#folder.names());
    const { workflows } = await this.#readIndex();
    const listed: SavedWorkflow[] = [];
    for (const [name, entry] of Object.entries(workflows)) {
      if (names.delete(name)) listed.push(toSaved(name, isJsonObject(entry) ? entry : {}));
    }
    for (const name of [...names].sort()) {
      const saved = await this.#tryRead(name);
      if (saved !== undefined) listed.push(toSaved(name, { ...saved.metadata, ...describe(saved.definition) }));
    }
    return listed;
  }

  async load(name: string): Promise<JsonObject | undefined> {
    return (await this.#read(name))?.definition;
  }

  async save(definition: JsonObject, { states }: { readonly states: number }): Promise<string | undefined> {
    return this.#folder.locked(async () => {
      const hash = hashOf(definition);
      const names = await this.#folder.names();
      for (const name of names) {
        const saved = await this.#tryRead(name);
        if (saved !== undefined && hashOf(saved.definition) === hash) return undefined;
      }
      const index = await this.#readIndex();
      const wanted = typeof definition["name"] === "string" ? definition["name"] : `workflow_${hash}`;
      const name = freeName(wanted, new Set([...names, ...Object.keys(index.workflows), "index"]));
      const at = toPythonTime(this.#now());
      const metadata = { hash, created: at, success_count: 1, last_execution: at, total_states: states };
      await this.#folder.write(`${name}.json`, toText({ definition: { ...definition, name }, metadata }));
      const entry = { file: `${name}.json`, hash, ...describe(definition), created: at, success_count: 1 };
      await this.#writeEntry(index, name, entry);
      return name;
    });
  }

  async noteSuccess(name: string): Promise<void> {
    await this.#folder.locked(async () => {
      const saved = await this.#tryRead(name);
      if (saved === undefined) return;
      const count = countOf(saved.metadata) + 1;
      const last_execution = toPythonTime(this.#now());
      const metadata = { ...saved.metadata, success_count: count, last_execution };
      // The definition keeps its own spelling: its hash is made from it.
      const text = await replaceObject(saved.text, "metadata", toText(metadata).replaceAll("\n", "\n  "));
      if (text !== undefined) await this.#folder.write(`${name}.json`, text);
      const index = await this.#readIndex();
      const entry = Object.hasOwn(index.workflows, name) ? index.workflows[name] : undefined;
      if (isJsonObject(entry)) await this.#writeEntry(index, name, { ...entry, success_count: count });
    });
  }

  async #writeEntry(index: Index, name: string, entry: JsonObject): Promise<void> {
    if (index.isDamaged) return;
    const workflows = { ...index.workflows, [name]: entry };
    const created = typeof index.rest["created"] === "string" ? index.rest["created"] : toPythonTime(this.#now());
    await this.#folder.write(
      "index.json",
      toText({ workflows, ...index.rest, created, version: index.rest["version"] ?? "1.0" }),
    );
  }

  async #readIndex(): Promise<Index> {
    const file = join(this.#dir, "index.json");
    const text = await readIfThere(file).catch(() => "");
    if (text === undefined) return { workflows: {}, rest: {}, isDamaged: false };
    const index = parseJson(text);
    if (isJsonObject(index) && isJsonObject(index["workflows"])) {
      const { workflows, ...rest } = index;
      return { workflows, rest, isDamaged: false };
    }
    this.#reportDamage({ file, reason: "It is no index of workflows; it stays as it is, and is not used." });
    return { workflows: {}, rest: {}, isDamaged: true };
  }

  /** Undefined too where the file is damaged, which is reported. */
  async #tryRead(name: string): Promise<SavedFile | undefined> {
    try {
      return await this.#read(name);
    } catch (error) {
      if (!(error instanceof PawlError)) throw error;
      this.#reportDamage({ file: this.#folder.fileOf(name), reason: error.message });
      return undefined;
    }
  }

  async #read(name: string): Promise<SavedFile | undefined> {
    if (!LIBRARY_NAME.test(name) || name === "index") return undefined;
    const file = this.#folder.fileOf(name);
    const text = await readIfThere(file);
    if (text === undefined) return undefined;
    const value = parseJson(text);
    const { definition, metadata = {} } = isJsonObject(value) ? value : {};
    if (isJsonObject(definition) && isJsonObject(metadata)) return { text, definition, metadata };
    throw new PawlError("LIBRARY_DAMAGED", { message: `${file} holds no saved workflow.` });
  }
}

interface Index {
  readonly workflows: JsonObject;
  /** Whatever else stands in it. */
  readonly rest: JsonObject;
  readonly isDamaged: boolean;
}

interface SavedFile {
  readonly text: string;
  readonly definition: JsonObject;
  readonly metadata: JsonObject;
}

/** The first 16 digits of a definition's SHA-256, without its name and description. */
function hashOf(definition: JsonObject): string {
  const { name: _, description: __, ...content } = definition;
  return createHash("sha256").update(toPythonJson(content)).digest("hex").slice(0, 16);
}

/** The name itself, else with the first number that makes it new; never longer than a name may be. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  // Some file systems ignore case, so names that differ only in case are equal.
  const known = new Set([...taken].map((name) => name.toLowerCase()));
  const base = LIBRARY_NAME.test(wanted) ? wanted : "workflow";
  if (!known.has(base.toLowerCase())) return base;
  for (let number = 2; ; number += 1) {
    const ending = `_${number}`;
    const name = `${base.slice(0, LONGEST_NAME - ending.length)}${ending}`;
    if (!known.has(name.toLowerCase())) return name;
  }
}

function describe(definition: JsonObject): { readonly description: string } {
  const { description } = definition;
  return { description: typeof description === "string" ? description : "" };
}

function toSaved(name: string, entry: JsonObject): SavedWorkflow {
  const { description, created } = entry;
  return {
    name,
    description: typeof description === "string" ? description : "",
    created: typeof created === "string" ? created : "",
    successCount: countOf(entry),
  };
}

function countOf({ success_count: count }: JsonObject): number {
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : 0;
}

function toText(value: JsonObject): string {
  return toAsciiJson(writeExact(value, 2));
}

/** `datetime.now(timezone.utc).isoformat()` of Python. */
function toPythonTime(now: number): string {
  return new Date(now).toISOString().replace("Z", "000+00:00");
}

/** Throws `LIBRARY_DAMAGED` where there is something that cannot be read: a folder, links in a circle, a file of somebody else. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    if (cause.code === "ENOENT") return undefined;
    throw new PawlError("LIBRARY_DAMAGED", { message: `${file} cannot be read: ${cause.message}.`, cause });
  }
}
