import { APP_ID, anything, appIdOf, type CoreTool, flag, objectOf, succeeded, textOf } from "./core-tool.ts";
import type { StoredValues } from "./stored-values.ts";

interface ValueTools {
  readonly values: StoredValues;
  /** The names of the three tools. */
  readonly set: string;
  readonly get: string;
  readonly remove: string;
  /** What is stored, in a title. */
  readonly what: string;
}

const KEY = { key: { type: "string", minLength: 1, description: "Any text." } };

/** Values that outlast a run: `core.state.*RuntimeValue` and `community.database.simple_kv.*`. */
export function valueTools(tools: ValueTools): readonly CoreTool[] {
  return [setTool(tools), getTool(tools), removeTool(tools)];
}

function setTool({ values, set, what }: ValueTools): CoreTool {
  return {
    name: set,
    title: `Store a ${what}`,
    description: `Stores a ${what} under a key, in place of the one that is there. Values of different app ids are kept apart.`,
    inputSchema: objectOf({ ...APP_ID, ...KEY, value: anything("Any JSON value, up to 1 MiB.") }, ["key", "value"]),
    outputSchema: objectOf({ ...KEY, success: flag("Always true.") }, ["key", "success"]),
    hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    async run(args, call) {
      const key = textOf(args, "key");
      await values.set({ appId: appIdOf(args, call), key }, args["value"] ?? null, call.step?.files);
      return succeeded({ key, success: true });
    },
  };
}

function getTool({ values, get, what }: ValueTools): CoreTool {
  return {
    name: get,
    title: `Read a ${what}`,
    description: `Reads the ${what} that is stored under a key.`,
    inputSchema: objectOf({ ...APP_ID, ...KEY }, ["key"]),
    outputSchema: objectOf(
      { ...KEY, value: anything("Null where there is none."), exists: flag("Whether there is one.") },
      ["key", "value", "exists"],
    ),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    async run(args, call) {
      const key = textOf(args, "key");
      const value = await values.get({ appId: appIdOf(args, call), key }, call.step?.files);
      return succeeded({ key, value: value ?? null, exists: value !== undefined });
    },
  };
}

function removeTool({ values, remove, what }: ValueTools): CoreTool {
  return {
    name: remove,
    title: `Delete a ${what}`,
    description: `Deletes the ${what} that is stored under a key.`,
    inputSchema: objectOf({ ...APP_ID, ...KEY }, ["key"]),
    outputSchema: objectOf({ ...KEY, deleted: flag("False: there was none.") }, ["key", "deleted"]),
    hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
    async run(args, call) {
      const key = textOf(args, "key");
      const deleted = await values.remove({ appId: appIdOf(args, call), key }, call.step?.files);
      return succeeded({ key, deleted });
    },
  };
}
