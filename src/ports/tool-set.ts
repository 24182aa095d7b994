import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Outcome } from "./executor.ts";
import type { FileStorage } from "./file-storage.ts";

/** Tools of this program, for steps and for other programs. */
export interface ToolSet {
  readonly tools: readonly OfferedTool[];
  /** Whether a call of this name is answered here, if only with an error. */
  has(name: string): boolean;
  /** Checks the arguments against the tool's schema first. Only a defect is thrown. */
  call(name: string, call: ToolCall, signal: AbortSignal): Promise<Outcome>;
}

export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Hints for a careful caller. All four are always given, because the defaults are pessimistic. */
  readonly hints: {
    readonly readOnly: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly openWorld: boolean;
  };
}

/** A tool whose parameters and result are described once: the JSON Schemas come from `input` and `output`. */
export interface DefinedTool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject>
  extends OfferedTool {
  readonly input: Input;
  readonly output: Output;
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  described: Omit<DefinedTool<Input, Output>, "inputSchema" | "outputSchema">,
): DefinedTool<Input, Output> {
  const { input, output } = described;
  return { ...described, inputSchema: toJsonSchema(input), outputSchema: toJsonSchema(output) };
}

/** A schema with one type in each place: some clients take no lists of types. */
function toJsonSchema(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return JSON.parse(JSON.stringify(written), (key, value: Json) => {
    if (key === "propertyNames") return undefined;
    if (!isJsonObject(value) || !Array.isArray(value["type"])) return value;
    const { type, ...rest } = value;
    return { anyOf: value["type"].map((each: Json) => ({ type: each })), ...rest };
  });
}

export interface ToolCall {
  readonly arguments: Json;
  /** The tenant whose values are read and written if the arguments do not say. */
  readonly appId?: string | undefined;
  /** Absent: no step asks, but another program. */
  readonly step?: CallingStep;
  log(event: JsonObject): void;
}

/** For which step a tool is called: its budget holds for tools that cost money. */
export interface CallingStep {
  readonly stepId: string;
  readonly path: string;
  readonly attempt: number;
  /** Integer micro-dollars. */
  readonly maxCostMicro?: number | undefined;
  /** The tenant of the run. Absent: the application itself. */
  readonly tenantId?: string | undefined;
  /** The stored files of whoever's run it is. */
  readonly files: FileStorage;
}
