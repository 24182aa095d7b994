import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { EndpointAddress } from "../../ports/tools/tool-endpoint.ts";
import { readEndpointAddress } from "../outbound/endpoint-address.ts";

const text = z.string().min(1).optional().catch(undefined);

const INPUT = z
  .object({
    /** Empty: the step names none. */
    tool: z.string().catch(""),
    server: text,
    arguments: z.custom<JsonObject>(isJsonObject).catch({}),
  })
  .catch({ tool: "", arguments: {} });

export type McpInput = Readonly<z.infer<typeof INPUT>> & { readonly address: EndpointAddress };

export function readMcpInput(input: Json): McpInput {
  return { ...INPUT.parse(input), address: readEndpointAddress(isJsonObject(input) ? input["context"] : undefined) };
}
