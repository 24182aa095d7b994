import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { LibraryEditor } from "../../ports/terminals/workflow-library.ts";
import { renameDefinition } from "./edit-json-text.ts";
import { LIBRARY_NAME, LibraryFolder } from "./library-folder.ts";
import { toAsciiJson } from "./python-json.ts";

/** Removes and renames workflows in the folder of `TerminalLibrary`, under its lock. The files are the truth; the index lists them. */
export class TerminalLibraryEditor implements LibraryEditor {
  readonly #dir: string;
  readonly #folder: LibraryFolder;

  constructor({ dir }: { readonly dir: string }) {
    this.#dir = dir;
    this.#folder = new LibraryFolder(dir);
  }

  async remove(name: string): Promise<boolean> {
    return this.#folder.locked(async () => {
      if (!(await this.#folder.names()).includes(name)) return false;
      await rm(this.#folder.fileOf(name), { force: true });
      await this.#replaceEntry(name, () => ({}));
      return true;
    });
  }

  async rename(name: string, to: string): Promise<boolean> {
    return this.#folder.locked(async () => {
      const names = await this.#folder.names();
      if (!names.includes(name)) return false;
      refuseName(to, names);
      const text = await renameDefinition(await this.#readSaved(name), to);
      if (text === undefined) throw damaged(this.#folder.fileOf(name));
      // The new file is written first: a crash in between leaves two files, never none.
      await this.#folder.write(`${to}.json`, text);
      await rm(this.#folder.fileOf(name), { force: true });
      await this.#replaceEntry(name, (entry) => ({ [to]: { ...entry, file: `${to}.json` } }));
      return true;
    });
  }

  async #readSaved(name: string): Promise<string> {
    const text = await readFile(this.#folder.fileOf(name), "utf8");
    const saved = parseJson(text);
    if (isJsonObject(saved) && isJsonObject(saved["definition"])) return text;
    throw damaged(this.#folder.fileOf(name));
  }

  /** Replaces an entry of the index in its place. An index that cannot be read is left alone. */
  async #replaceEntry(name: string, toEntries: (entry: JsonObject) => JsonObject): Promise<void> {
    const index = parseJson(await readFile(join(this.#dir, "index.json"), "utf8").catch(() => ""));
    const workflows = isJsonObject(index) ? index["workflows"] : undefined;
    if (!isJsonObject(index) || !isJsonObject(workflows) || !Object.hasOwn(workflows, name)) return;
    const entries = Object.entries(workflows).flatMap((each): [string, Json][] => {
      const [key, entry] = each;
      return key === name ? Object.entries(toEntries(isJsonObject(entry) ? entry : {})) : [each];
    });
    const changed = { ...index, workflows: Object.fromEntries(entries) };
    await this.#folder.write("index.json", toAsciiJson(writeExact(changed, 2)));
  }
}

function refuseName(name: string, taken: readonly string[]): void {
  const isWellFormed = LIBRARY_NAME.test(name) && name !== "index";
  // Some file systems ignore case, so names that differ only in case are equal.
  const isTaken = taken.some((other) => other.toLowerCase() === name.toLowerCase());
  if (isWellFormed && !isTaken) return;
  const message = isWellFormed ? `There is a saved workflow "${name}" already.` : `"${name}" cannot be a name.`;
  throw new PawlError("LIBRARY_NAME_REFUSED", { message });
}

function damaged(file: string): PawlError {
  return new PawlError("LIBRARY_DAMAGED", { message: `${file} holds no saved workflow.` });
}
