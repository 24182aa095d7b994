import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Outcome, Succeeded } from "../../ports/executor.ts";
import { type DefinedTool, defineTool } from "../../ports/tools/defined-tool.ts";
import type { OfferedTool, ToolCall } from "../../ports/tools/tool-set.ts";
import { toRefused } from "../output/failure.ts";

/** A tool with what it does. It checks its arguments, and may throw a `PawlError`. */
export interface CoreTool extends OfferedTool {
  run(args: Json, call: ToolCall, signal: AbortSignal): Promise<Outcome>;
}

export function defineCoreTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  described: Omit<DefinedTool<Input, Output>, "inputSchema" | "outputSchema">,
  perform: (input: z.output<Input>, call: ToolCall, signal: AbortSignal) => Promise<Outcome>,
): CoreTool {
  const { input, output: _, ...offered } = defineTool(described);
  return {
    ...offered,
    async run(args, call, signal) {
      const read = input.safeParse(args);
      if (read.success) return perform(read.data, call, signal);
      const flaws = read.error.issues.map(
        ({ path, message }) => `${path.map((part) => `/${String(part)} `).join("")}${message}`,
      );
      const message = `The arguments do not fit \`${described.name}\`: ${flaws.join("; ")}.`;
      return toRefused("MCP_ARGUMENTS_INVALID", message);
    },
  };
}

export function succeeded(output: JsonObject): Succeeded {
  return { status: "succeeded", output, costMicro: 0 };
}

export const object = z.custom<JsonObject>(isJsonObject, "must be an object").meta({ type: "object" });

/** Any JSON value; one that is left out does not fit. */
export const anything = z.custom<Json>((value) => value !== undefined);

/** There is one application here, so files are the same for all callers; values are kept apart. */
export const appId = { app_id: z.string().optional().describe("The application that asks.") };

export function appIdOf({ app_id: named }: { readonly app_id?: string | undefined }, call: ToolCall): string {
  return named ?? call.appId ?? "";
}
