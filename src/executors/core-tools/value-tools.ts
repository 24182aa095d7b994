import { hash } from "node:crypto";
import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { anything, appId, appIdOf, type CoreTool, defineCoreTool, succeeded } from "./core-tool.ts";

interface ValueTools {
  readonly values: StoredValues;
  /** The names of the three tools. */
  readonly set: string;
  readonly get: string;
  readonly remove: string;
  /** The kind of value, for titles. */
  readonly what: string;
}

const key = { key: z.string().min(1).describe("Any text.") };
const named = z.strictObject({ ...appId, ...key });

/** Values that outlast a run: `core.state.*RuntimeValue` and `community.database.simple_kv.*`. */
export function valueTools({ values, set, get, remove, what }: ValueTools): readonly CoreTool[] {
  return [
    defineCoreTool(
      {
        name: set,
        title: `Store a ${what}`,
        description: `Stores a ${what} under a key, in place of the one that is there. Values of different app ids are kept apart.`,
        input: named.extend({ value: anything.describe("Any JSON value, up to 1 MiB.") }),
        output: z.strictObject({ ...key, success: z.boolean().describe("Always true.") }),
        hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
      },
      async (input, call) => {
        await values.set({ appId: appIdOf(input, call), key: input.key }, input.value, call.step?.files);
        return succeeded({ key: input.key, success: true });
      },
    ),
    defineCoreTool(
      {
        name: get,
        title: `Read a ${what}`,
        description: `Reads the ${what} that is stored under a key.`,
        input: named,
        output: z.strictObject({
          ...key,
          value: anything.describe("Null where there is none."),
          exists: z.boolean().describe("Whether there is one."),
        }),
        hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      },
      async (input, call) => {
        const value = await values.get({ appId: appIdOf(input, call), key: input.key }, call.step?.files);
        return succeeded({ key: input.key, value: value ?? null, exists: value !== undefined });
      },
    ),
    defineCoreTool(
      {
        name: remove,
        title: `Delete a ${what}`,
        description: `Deletes the ${what} that is stored under a key.`,
        input: named,
        output: z.strictObject({ ...key, deleted: z.boolean().describe("False: there was none.") }),
        hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
      },
      async (input, call) => {
        const deleted = await values.remove({ appId: appIdOf(input, call), key: input.key }, call.step?.files);
        return succeeded({ key: input.key, deleted });
      },
    ),
  ];
}

const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_KEY_CHARS = 1_000;

/** The application that a value belongs to, and its name. */
interface ValueName {
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
