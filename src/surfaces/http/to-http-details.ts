import type { Json, JsonObject } from "../../core/json.ts";
import { targetOf } from "./path-of.ts";
import { decodeUtf8 } from "./read-body.ts";

export interface MatchedRequest {
  readonly body: Uint8Array;
  readonly parameters: Readonly<Record<string, string>>;
  readonly routePattern: string;
}

/** A request as workflows read it. The body is a text; what is no UTF-8 is base64. */
export function toHttpDetails(
  request: Pick<Request, "method" | "url" | "headers">,
  { body, parameters, routePattern }: MatchedRequest,
): JsonObject {
  const path = targetOf(request.url);
  const text = decodeUtf8(body);
  return {
    method: request.method,
    path,
    routePattern,
    pathParameters: parameters,
    queryParameters: queryOf(path),
    headers: Object.fromEntries(request.headers),
    body: text ?? Buffer.from(body).toString("base64"),
    bodyEncoding: text === undefined ? "base64" : "utf8",
  };
}

/** A name that comes more than once has a list. */
function queryOf(path: string): JsonObject {
  const query = new Map<string, Json>();
  const mark = path.indexOf("?");
  for (const [name, value] of new URLSearchParams(mark < 0 ? "" : path.slice(mark))) {
    const known = query.get(name);
    query.set(
      name,
      known === undefined ? value : typeof known === "string" ? [known, value] : [...listOf(known), value],
    );
  }
  return Object.fromEntries(query);
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}
