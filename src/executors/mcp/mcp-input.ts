import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/** The bound input of a tool step. */
export interface McpInput {
  readonly tool: string;
  readonly server: string | undefined;
  readonly arguments: JsonObject;
  readonly appId: string | undefined;
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
  readonly endpoint: string | undefined;
}

export function readMcpInput(input: Json): McpInput {
  const { tool, server, arguments: args, context } = isJsonObject(input) ? input : {};
  const { appId, requestId, traceId, endpoint } = isJsonObject(context) ? context : {};
  return {
    tool: textOf(tool) ?? "",
    server: textOf(server),
    arguments: isJsonObject(args) ? args : {},
    appId: textOf(appId),
    requestId: textOf(requestId),
    traceId: textOf(traceId),
    endpoint: textOf(endpoint),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
