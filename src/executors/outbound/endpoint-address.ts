import { filledText, isJsonObject, type Json } from "../../core/json.ts";
import type { EndpointAddress } from "../../ports/tools/tool-endpoint.ts";

/** Whom a task asks through the endpoint of its run: what the `context` of its input says about the request. */
export function readEndpointAddress(context: Json | undefined): EndpointAddress {
  const { endpoint, appId, requestId, traceId } = isJsonObject(context) ? context : {};
  return {
    endpoint: filledText(endpoint),
    context: { appId: filledText(appId), requestId: filledText(requestId), traceId: filledText(traceId) },
  };
}
