import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { APP_ID, anything, type CoreTool, flag, objectOf, succeeded, text, textOf } from "./core-tool.ts";

const LEVELS = ["debug", "info", "warn", "error"];

/** `core.framework.*`. `configuration` is all that can be read: put nothing secret into it. */
export function frameworkTools(configuration: JsonObject): readonly CoreTool[] {
  return [configTool(configuration), logTool()];
}

function configTool(configuration: JsonObject): CoreTool {
  return {
    name: "core.framework.getConfigValue",
    title: "Read a configuration value",
    description:
      "Reads a value that the application's configuration gives to workflows, or one of a few harmless settings.",
    inputSchema: objectOf(
      { ...APP_ID, key: text("For example `uhlp.max_steps`, or a key of `server.context.configuration`.") },
      ["key"],
    ),
    outputSchema: objectOf(
      { key: text("As asked."), value: anything("Null where there is none."), exists: flag("Whether there is one.") },
      ["key", "value", "exists"],
    ),
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
    async run(args) {
      const key = textOf(args, "key");
      const value = lookUp(configuration, key);
      return succeeded({ key, value: value ?? null, exists: value !== undefined });
    },
  };
}

/** A whole key first (`uhlp.max_steps`), then a path through maps. */
function lookUp(values: JsonObject, key: string): Json | undefined {
  if (Object.hasOwn(values, key)) return values[key];
  const dot = key.indexOf(".");
  if (dot === -1) return undefined;
  const [head, rest] = [key.slice(0, dot), key.slice(dot + 1)];
  const inner = Object.hasOwn(values, head) ? values[head] : undefined;
  return isJsonObject(inner) ? lookUp(inner, rest) : undefined;
}

function logTool(): CoreTool {
  return {
    name: "core.framework.logFrameworkMessage",
    title: "Write to the log",
    description: "Writes a message to the log of the step or of the server.",
    inputSchema: objectOf(
      {
        ...APP_ID,
        level: { type: "string", enum: LEVELS, description: "Default: info." },
        message: text("What there is to say."),
        data: anything("More of it."),
      },
      ["message"],
    ),
    outputSchema: objectOf({ logged: flag("Always true.") }, ["logged"]),
    hints: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
    async run(args, call) {
      const { level = "info", message = "", data } = args;
      call.log({ type: "log", level, message, ...(data === undefined ? {} : { data }) });
      return succeeded({ logged: true });
    },
  };
}
