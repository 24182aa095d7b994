import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

const text = z.string().min(1).optional().catch(undefined);

const INPUT = z
  .object({
    /** Empty: the step names none. */
    tool: z.string().catch(""),
    server: text,
    arguments: z.custom<JsonObject>(isJsonObject).catch({}),
    context: z.object({ appId: text, requestId: text, traceId: text, endpoint: text }).catch({}),
  })
  .catch({ tool: "", arguments: {}, context: {} });

/** The bound input of a tool step. */
export type McpInput = Readonly<z.infer<typeof INPUT>>;

export function readMcpInput(input: Json): McpInput {
  return INPUT.parse(input);
}
