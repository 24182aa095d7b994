import type { JsonObject } from "../../core/json.ts";
import type { Route } from "./route-table.ts";
import type { TriggerTarget } from "./trigger-table.ts";

const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/** The routes of an application as OpenAPI 3.1, from what its definitions say. */
export function describeRoutes(routes: readonly Route<TriggerTarget>[], title: string): JsonObject {
  const paths = new Map<string, { [method: string]: JsonObject }>();
  for (const route of routes) {
    const path = route.pattern.written;
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: describeOperation(route) });
  }
  return {
    openapi: "3.1.0",
    info: { title, version: "1" },
    paths: Object.fromEntries(paths),
    components: { schemas: { Error: ERROR_SCHEMA } },
  };
}

function describeOperation({ method, pattern, target }: Route<TriggerTarget>): JsonObject {
  const { name, description, input } = target.definition.graph;
  const parameters = pattern.segments.flatMap((segment) =>
    "parameter" in segment ? [{ name: segment.parameter, in: "path", required: true, schema: { type: "string" } }] : [],
  );
  const hasBody = !BODILESS.has(method);
  const body = {
    required: input.schema !== undefined,
    content: { "application/json": { schema: input.schema ?? {} } },
  };
  return {
    operationId: `${method.toLowerCase()}_${name}`,
    ...(description === undefined ? {} : { summary: description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(hasBody ? { requestBody: body } : {}),
    responses: {
      "200": { description: "What the workflow answers, with the status that it chooses." },
      "202": { description: "The workflow waits for a person or an event; `run_id` names its run." },
      ...(input.schema === undefined ? {} : { "400": errorResponse("The body does not fit.") }),
      "500": errorResponse("The workflow has failed."),
    },
  };
}

function errorResponse(description: string): JsonObject {
  return { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}

const ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        details: {},
        request_id: { type: "string" },
        run_id: { type: "string" },
      },
    },
  },
};
