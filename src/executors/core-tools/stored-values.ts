import { hash } from "node:crypto";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";

const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_KEY_CHARS = 1_000;

/** The application that a value belongs to, and its name. */
export interface ValueName {
  readonly appId: string;
  readonly key: string;
}

/**
 * Values by key, durable below one folder of the storage that a call is for: the tenant's whose run it is, else the
 * application's. A key may be any text, so its file is named after
 * its hash, with a beginning that people recognise.
 */
export class StoredValues {
  readonly #own: () => Promise<FileStorage>;
  readonly #folder: string;

  /** `own`: the files of the application, for whoever is no step. */
  constructor(own: () => Promise<FileStorage>, folder: string) {
    this.#own = own;
    this.#folder = folder;
  }

  /** Undefined: there is none. `null` is a value. */
  async get(name: ValueName, files: FileStorage | undefined): Promise<Json | undefined> {
    const content = await (files ?? (await this.#own())).read(this.#pathOf(name));
    if (content === undefined) return undefined;
    const kept = parseJson(Buffer.from(content).toString("utf8"));
    return isJsonObject(kept) ? kept["value"] : undefined;
  }

  async set(name: ValueName, value: Json, files: FileStorage | undefined): Promise<void> {
    const text = JSON.stringify({ app_id: name.appId, key: name.key, value });
    if (Buffer.byteLength(text) > MAX_VALUE_BYTES) {
      throw new PawlError("MCP_ARGUMENTS_INVALID", { message: `A value has at most ${MAX_VALUE_BYTES} bytes.` });
    }
    await (files ?? (await this.#own())).write(this.#pathOf(name), text);
  }

  /** False: there was none. */
  async remove(name: ValueName, files: FileStorage | undefined): Promise<boolean> {
    return (files ?? (await this.#own())).remove(this.#pathOf(name));
  }

  #pathOf({ appId, key }: ValueName): string {
    if (key.length > MAX_KEY_CHARS) {
      throw new PawlError("MCP_ARGUMENTS_INVALID", { message: `A key has at most ${MAX_KEY_CHARS} characters.` });
    }
    const told = key
      .replace(/[^A-Za-z0-9]+/g, "-")
      .slice(0, 40)
      .toLowerCase();
    const id = hash("sha256", JSON.stringify([appId, key])).slice(0, 32);
    return `${this.#folder}/${told}-${id}.json`;
  }
}
