import { isJsonObject, type Json } from "../../core/json.ts";
import type { EndpointAddress } from "../../ports/tools/tool-endpoint.ts";

/** Whom a task asks through the endpoint of its run: what the `context` of its input says about the request. */
export function readEndpointAddress(context: Json | undefined): EndpointAddress {
  const { endpoint, appId, requestId, traceId } = isJsonObject(context) ? context : {};
  return {
    endpoint: textOf(endpoint),
    context: { appId: textOf(appId), requestId: textOf(requestId), traceId: textOf(traceId) },
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
