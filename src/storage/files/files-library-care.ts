import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { LibraryCare } from "../../ports/library-care.ts";
import { isSystemError, writeDurably } from "./durable-write.ts";
import { type HeldLock, withLockFile } from "./lock-file.ts";
import { toAsciiJson } from "./python-json.ts";
import { renameDefinition } from "./rename-definition.ts";

const NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** Removes and renames workflows in the folder of `TerminalLibrary`, under its lock. The files are the truth; the index lists them. */
export class FilesLibraryCare implements LibraryCare {
  readonly #dir: string;

  constructor({ dir }: { readonly dir: string }) {
    this.#dir = dir;
  }

  async remove(name: string): Promise<boolean> {
    return this.#locked(async (lock) => {
      if (!(await this.#names()).includes(name)) return false;
      await refuseLost(lock);
      await rm(this.#fileOf(name), { force: true });
      await this.#replaceEntry(name, () => ({}));
      return true;
    });
  }

  async rename(name: string, to: string): Promise<boolean> {
    return this.#locked(async (lock) => {
      const names = await this.#names();
      if (!names.includes(name)) return false;
      refuseName(to, names);
      const text = renameDefinition(await this.#readSaved(name), to);
      if (text === undefined) throw damaged(this.#fileOf(name));
      await refuseLost(lock);
      // The new file first: a crash in between leaves two, never none.
      await this.#write(`${to}.json`, text);
      await rm(this.#fileOf(name), { force: true });
      await this.#replaceEntry(name, (entry) => ({ [to]: { ...entry, file: `${to}.json` } }));
      return true;
    });
  }

  async #locked<T>(act: (lock: HeldLock) => Promise<T>): Promise<T> {
    const inner = join(this.#dir, ".pawl");
    try {
      await mkdir(inner, { recursive: true });
      return await withLockFile(join(inner, "lock"), act);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw new PawlError("LIBRARY_UNWRITABLE", { message: `${this.#dir}: ${error.message}.`, cause: error });
    }
  }

  async #names(): Promise<readonly string[]> {
    const files = (await readdir(this.#dir)).filter((file) => file.endsWith(".json") && file !== "index.json");
    return files.map((file) => file.slice(0, -".json".length)).filter((name) => NAME.test(name));
  }

  async #readSaved(name: string): Promise<string> {
    const text = await readFile(this.#fileOf(name), "utf8");
    const saved = parse(text);
    if (isJsonObject(saved) && isJsonObject(saved["definition"])) return text;
    throw damaged(this.#fileOf(name));
  }

  /** What comes in its place stands where it stood. An index that cannot be read is left alone. */
  async #replaceEntry(name: string, toEntries: (entry: JsonObject) => JsonObject): Promise<void> {
    const index = parse(await readFile(join(this.#dir, "index.json"), "utf8").catch(() => ""));
    const workflows = isJsonObject(index) ? index["workflows"] : undefined;
    if (!isJsonObject(index) || !isJsonObject(workflows) || !Object.hasOwn(workflows, name)) return;
    const entries = Object.entries(workflows).flatMap((each): [string, Json][] => {
      const [key, entry] = each;
      return key === name ? Object.entries(toEntries(isJsonObject(entry) ? entry : {})) : [each];
    });
    const changed = { ...index, workflows: Object.fromEntries(entries) };
    await this.#write("index.json", toAsciiJson(JSON.stringify(changed, null, 2)));
  }

  async #write(file: string, text: string): Promise<void> {
    await writeDurably(join(this.#dir, file), text, join(this.#dir, ".pawl", "incoming"));
  }

  #fileOf(name: string): string {
    return join(this.#dir, `${name}.json`);
  }
}

async function refuseLost(lock: HeldLock): Promise<void> {
  if (await lock.isHeld()) return;
  throw new PawlError("LIBRARY_LOCKED", { message: "The lock was taken over by another process." });
}

function refuseName(name: string, taken: readonly string[]): void {
  const isWellFormed = NAME.test(name) && name !== "index";
  // Where capitals make no difference to the file system, they make none here.
  const isTaken = taken.some((other) => other.toLowerCase() === name.toLowerCase());
  if (isWellFormed && !isTaken) return;
  const message = isWellFormed ? `There is a saved workflow "${name}" already.` : `"${name}" cannot be a name.`;
  throw new PawlError("LIBRARY_NAME_REFUSED", { message });
}

function damaged(file: string): PawlError {
  return new PawlError("LIBRARY_DAMAGED", { message: `${file} holds no saved workflow.` });
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
