import { z } from "zod";
import { anything, appId, appIdOf, type CoreTool, defineCoreTool, succeeded } from "./core-tool.ts";
import type { StoredValues } from "./stored-values.ts";

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
