import type { RouteAuth } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Route } from "./route-table.ts";
import type { RouteTarget } from "./trigger-table.ts";

const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** The two ways in which a request bears a key. */
export const KEY_SCHEMES: JsonObject = {
  key: { type: "apiKey", in: "header", name: "X-API-Key" },
  bearer: { type: "http", scheme: "bearer" },
};

const HMAC_SCHEME: JsonObject = {
  type: "apiKey",
  in: "header",
  name: "webhook-signature",
  description:
    "As Standard Webhooks says: `v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` with the route's " +
    "secret. A request is at most five minutes old, and starts one run however often it is sent.",
};

const SIGNED_HEADERS = ["webhook-id", "webhook-timestamp"].map((name) => ({
  name,
  in: "header",
  required: true,
  schema: { type: "string" },
}));

const SECURITY: Readonly<Record<RouteAuth, JsonObject[]>> = {
  key: [{ key: [] }, { bearer: [] }],
  hmac: [{ hmac: [] }],
  open: [],
};

/** The routes of an application as OpenAPI 3.1, from what its definitions say. */
export function describeRoutes(routes: readonly Route<RouteTarget>[], title: string): JsonObject {
  const paths = new Map<string, { [method: string]: JsonObject }>();
  for (const route of routes) {
    const path = route.pattern.written.replace("*}", "}");
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: describeOperation(route) });
  }
  return {
    openapi: "3.1.0",
    info: { title, version: "1" },
    paths: Object.fromEntries(paths),
    components: { schemas: { Error: ERROR_SCHEMA }, securitySchemes: { ...KEY_SCHEMES, hmac: HMAC_SCHEME } },
  };
}

function describeOperation({ method, pattern, target }: Route<RouteTarget>): JsonObject {
  const { name, description, input } = target.definition.graph;
  const { auth = "key" } = target.trigger;
  const inPath = pattern.segments.flatMap((segment) =>
    "parameter" in segment ? [{ name: segment.parameter, in: "path", required: true, schema: { type: "string" } }] : [],
  );
  const parameters = [...inPath, ...(auth === "hmac" ? SIGNED_HEADERS : [])];
  const hasBody = !BODILESS.has(method);
  const body = {
    required: input.schema !== undefined,
    content: { "application/json": { schema: input.schema ?? {} } },
  };
  return {
    operationId: `${method.toLowerCase()}_${name}`,
    ...(description === undefined ? {} : { summary: description }),
    // A server without keys lets everybody in who would need one.
    security: SECURITY[auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(hasBody ? { requestBody: body } : {}),
    responses: {
      "200": { description: "What the workflow answers, with the status that it chooses." },
      "202": { description: "The workflow waits for a person or an event; `run_id` names its run." },
      ...(input.schema === undefined ? {} : { "400": errorResponse("The body does not fit.") }),
      ...(auth === "open" ? {} : { "401": errorResponse(REFUSED[auth]) }),
      "500": errorResponse("The workflow has failed."),
    },
  };
}

const REFUSED = { key: "There is no key that may ask.", hmac: "The request is not signed as it should be." };

function errorResponse(description: string): JsonObject {
  return { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}

const ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["error"],
  properties: {
    data: { type: "null" },
    error: {
      type: "object",
      required: ["code", "message", "remedy", "details", "request_id"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        remedy: { type: "string" },
        details: {},
        request_id: { type: "string" },
        run_id: { type: "string" },
      },
    },
  },
};
