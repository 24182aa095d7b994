import { hash } from "node:crypto";
import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { grantOf } from "../../core/trust/grant.ts";
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
  readonly answers: typeof RUNTIME_VALUE | typeof SIMPLE_KV;
}

const key = { key: z.string().min(1).describe("Any text.") };
const named = z.strictObject({ ...appId, ...key });
const value = anything.describe("Null where there is none.");
const success = z.boolean().describe("Always true.");

/** The answers of `core.state.*RuntimeValue`, which are closed. */
export const RUNTIME_VALUE = {
  set: { shape: z.strictObject({ success }), of: () => ({ success: true }) },
  get: {
    shape: z.strictObject({ value, found: z.boolean().describe("Whether there is one.") }),
    of: (_: string, kept: Json | undefined) => ({ value: kept ?? null, found: kept !== undefined }),
  },
  remove: { shape: z.strictObject({ success }), of: () => ({ success: true }) },
};

/** The answers of `community.database.simple_kv.*`. */
export const SIMPLE_KV = {
  set: { shape: z.strictObject({ ...key, success }), of: (name: string) => ({ key: name, success: true }) },
  get: {
    shape: z.strictObject({ ...key, value, exists: z.boolean().describe("Whether there is one.") }),
    of: (name: string, kept: Json | undefined) => ({ key: name, value: kept ?? null, exists: kept !== undefined }),
  },
  remove: {
    shape: z.strictObject({ ...key, deleted: z.boolean().describe("False: there was none.") }),
    of: (name: string, deleted: boolean) => ({ key: name, deleted }),
  },
};

/** Values that outlast a run: `core.state.*RuntimeValue` and `community.database.simple_kv.*`. */
export function valueTools({ values, set, get, remove, what, answers }: ValueTools): readonly CoreTool[] {
  return [
    defineCoreTool(
      {
        name: set,
        title: `Store a ${what}`,
        description: `Stores a ${what} under a key, in place of the one that is there. Values of different app ids are kept apart.`,
        input: named.extend({
          value: anything.describe("Any JSON value, up to 1 MiB."),
          ttl_seconds: z
            .int()
            .min(1)
            .max(MAX_TTL_SECONDS)
            .nullish()
            .describe("It is gone after so long. Default: it stays."),
        }),
        output: answers.set.shape,
        hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
      },
      async (input, call) => {
        // Where a value lies is Pawl's choice, so that any folder that was granted will do.
        if (call.step !== undefined) refuseUngranted(grantOf(call.step.settings), "storage");
        const { value: kept, ttl_seconds: ttlSeconds } = input;
        await values.set(
          { appId: appIdOf(input, call), key: input.key },
          { value: kept, ttlSeconds },
          call.step?.files,
        );
        return succeeded(answers.set.of(input.key));
      },
    ),
    defineCoreTool(
      {
        name: get,
        title: `Read a ${what}`,
        description: `Reads the ${what} that is stored under a key.`,
        input: named,
        output: answers.get.shape,
        hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      },
      async (input, call) => {
        const kept = await values.get({ appId: appIdOf(input, call), key: input.key }, call.step?.files);
        return succeeded(answers.get.of(input.key, kept));
      },
    ),
    defineCoreTool(
      {
        name: remove,
        title: `Delete a ${what}`,
        description: `Deletes the ${what} that is stored under a key.`,
        input: named,
        output: answers.remove.shape,
        hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
      },
      async (input, call) => {
        const deleted = await values.remove({ appId: appIdOf(input, call), key: input.key }, call.step?.files);
        return succeeded(answers.remove.of(input.key, deleted));
      },
    ),
  ];
}

/** Ten years. */
const MAX_TTL_SECONDS = 315_360_000;
const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_KEY_CHARS = 1_000;

interface ValueName {
  readonly appId: string;
  readonly key: string;
}

/** Values by key, durable in the storage of the call's tenant or of the application. A file is named after the hash of its key. */
export class StoredValues {
  readonly #own: () => Promise<FileStorage>;
  readonly #folder: string;
  readonly #now: () => number;

  /** `own`: the files of the application, for a caller that is no step. `now`: milliseconds. */
  constructor(own: () => Promise<FileStorage>, folder: string, now: () => number) {
    this.#own = own;
    this.#folder = folder;
    this.#now = now;
  }

  /** Undefined: there is none, or its time is over. `null` is a value. */
  async get(name: ValueName, files: FileStorage | undefined): Promise<Json | undefined> {
    const content = await (files ?? (await this.#own())).read(this.#pathOf(name));
    if (content === undefined) return undefined;
    const kept = parseJson(Buffer.from(content).toString("utf8"));
    if (!isJsonObject(kept)) return undefined;
    const { expires_at: expiresAt, value } = kept;
    return typeof expiresAt === "number" && expiresAt <= this.#now() ? undefined : value;
  }

  async set(
    name: ValueName,
    { value, ttlSeconds }: { readonly value: Json; readonly ttlSeconds?: number | null | undefined },
    files: FileStorage | undefined,
  ): Promise<void> {
    const until = ttlSeconds == null ? {} : { expires_at: this.#now() + ttlSeconds * 1_000 };
    const text = writeExact({ app_id: name.appId, key: name.key, value, ...until });
    if (Buffer.byteLength(text) > MAX_VALUE_BYTES)
      throw new PawlError("MCP_ARGUMENTS_INVALID", { message: `A value has at most ${MAX_VALUE_BYTES} bytes.` });
    await (files ?? (await this.#own())).write(this.#pathOf(name), text);
  }

  /** False: there was none. */
  async remove(name: ValueName, files: FileStorage | undefined): Promise<boolean> {
    return (files ?? (await this.#own())).remove(this.#pathOf(name));
  }

  #pathOf({ appId, key }: ValueName): string {
    if (key.length > MAX_KEY_CHARS)
      throw new PawlError("MCP_ARGUMENTS_INVALID", { message: `A key has at most ${MAX_KEY_CHARS} characters.` });
    const told = key
      .replace(/[^A-Za-z0-9]+/g, "-")
      .slice(0, 40)
      .toLowerCase();
    const id = hash("sha256", writeExact([appId, key])).slice(0, 32);
    return `${this.#folder}/${told}-${id}.json`;
  }
}
