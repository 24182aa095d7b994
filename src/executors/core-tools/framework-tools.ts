import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { anything, appId, type CoreTool, defineCoreTool, succeeded } from "./core-tool.ts";

/** `core.framework.*`. `configuration` is all that can be read: put nothing secret into it. */
export function frameworkTools(configuration: JsonObject): readonly CoreTool[] {
  return [
    defineCoreTool(
      {
        name: "core.framework.getConfigValue",
        title: "Read a configuration value",
        description:
          "Reads a value that the application's configuration gives to workflows, or one of a few harmless settings.",
        input: z.strictObject({
          ...appId,
          key: z.string().describe("For example `uhlp.max_steps`, or a key of `server.context.configuration`."),
        }),
        output: z.strictObject({
          key: z.string().describe("As asked."),
          value: anything.describe("Null where there is none."),
          exists: z.boolean().describe("Whether there is one."),
        }),
        hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      },
      async ({ key }) => {
        const value = lookUp(configuration, key);
        return succeeded({ key, value: value ?? null, exists: value !== undefined });
      },
    ),
    defineCoreTool(
      {
        name: "core.framework.logFrameworkMessage",
        title: "Write to the log",
        description: "Writes a message to the log of the step or of the server.",
        input: z.strictObject({
          ...appId,
          level: z.enum(["debug", "info", "warn", "error"]).optional().describe("Default: info."),
          message: z.string().describe("What there is to say."),
          data: anything.optional().describe("More of it."),
        }),
        output: z.strictObject({ logged: z.boolean().describe("Always true.") }),
        hints: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
      },
      async ({ level = "info", message, data }, call) => {
        call.log({ type: "log", level, message, ...(data === undefined ? {} : { data }) });
        return succeeded({ logged: true });
      },
    ),
  ];
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
