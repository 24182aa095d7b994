import { z } from "zod";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { KEY_SCHEMES } from "../../../operations/triggers/describe-routes.ts";
import type { Endpoint } from "./endpoint.ts";

const MEDIA_TYPE = "application/json";

const ERROR_SCHEMA: JsonObject = {
  type: "object",
  required: ["data", "error"],
  properties: {
    data: { type: "null" },
    error: {
      type: "object",
      required: ["code", "message", "remedy", "details", "request_id"],
      properties: {
        code: { type: "string", description: "Stable; the table of errors explains each." },
        message: { type: "string" },
        remedy: { type: "string", description: "What to do next." },
        details: {},
        request_id: { type: "string" },
        run_id: { type: "string" },
      },
    },
  },
};

const RESPONSES: JsonObject = {
  Refused: {
    description: "It could not be done; `error` says why, and what to do next.",
    content: { [MEDIA_TYPE]: { schema: { $ref: "#/components/schemas/Error" } } },
  },
};

const REFUSED: JsonObject = { $ref: "#/components/responses/Refused" };

/** OpenAPI 3.1 of the service's own routes, from what the routes check by. */
export function describeService(endpoints: readonly Endpoint[], version: string): JsonObject {
  const schemas: Record<string, Json> = { Error: ERROR_SCHEMA };
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const methods = paths[endpoint.path] ?? {};
    methods[endpoint.method.toLowerCase()] = describeEndpoint(endpoint, schemas);
    paths[endpoint.path] = methods;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Pawl",
      version,
      description: "Durable agent workflows.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "Where this document comes from." }],
    paths,
    components: {
      schemas,
      responses: RESPONSES,
      securitySchemes: KEY_SCHEMES,
    },
  };
}

function describeEndpoint(endpoint: Endpoint, schemas: Record<string, Json>): JsonObject {
  const { id, summary, tag, scope, params, query, headers = {}, body, content } = endpoint;
  const parameters = [
    ...parametersOf(params, "path", schemas),
    ...parametersOf(query, "query", schemas),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: "header",
      required: false,
      description,
      schema: { type: "string" },
    })),
  ];
  return {
    operationId: id,
    summary,
    tags: [tag],
    security: scope === "open" ? [] : [{ key: [] }, { bearer: [] }],
    ...(scope === "open" ? {} : { "x-scope": scope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === undefined
      ? {}
      : { requestBody: { required: true, content: { [content.mediaType]: { schema: { type: "string" } } } } }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: { [MEDIA_TYPE]: { schema: toSchema(body, "input", schemas) } },
          },
        }),
    responses: {
      ...describeAnswers(endpoint, schemas),
      "4XX": REFUSED,
      "5XX": REFUSED,
    },
  };
}

function describeAnswers({ answer, status, otherStatuses }: Endpoint, schemas: Record<string, Json>): JsonObject {
  const content: JsonObject =
    answer instanceof z.ZodType
      ? { [MEDIA_TYPE]: { schema: envelopeOf(toSchema(answer, "output", schemas)) } }
      : { [answer.mediaType]: { schema: { type: "string" } } };
  return Object.fromEntries(
    [status, ...otherStatuses].map((each) => [
      String(each),
      { description: MEANINGS[each], ...(each === 204 ? {} : { content }) },
    ]),
  );
}

const MEANINGS = {
  200: "Done.",
  201: "Made.",
  202: "Accepted: it goes on by itself.",
  204: "There is nothing more to come.",
} as const;

function envelopeOf(data: Json): JsonObject {
  return { type: "object", required: ["data", "error"], properties: { data, error: { type: "null" } } };
}

function parametersOf(object: z.ZodObject, place: "path" | "query", schemas: Record<string, Json>): JsonObject[] {
  const required = new Set(place === "path" ? Object.keys(object.shape) : []);
  return Object.entries(object.shape).map(([name, field]) => {
    const schema = toSchema(field as z.ZodType, "input", schemas);
    return { name, in: place, required: required.has(name), schema };
  });
}

/** Named schemas are written once, among the components. */
function toSchema(schema: z.ZodType, io: "input" | "output", schemas: Record<string, Json>): Json {
  const { $schema: _, $defs = {}, ...written } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  for (const [name, definition] of Object.entries($defs)) schemas[name] ??= hoist(definition);
  const { id } = written;
  if (id === undefined) return hoist(written);
  schemas[id] ??= hoist(written);
  return { $ref: `#/components/schemas/${id}` };
}

/** Names of definitions inside one schema become names of the document. The text is the generator's, so it is JSON. */
function hoist(schema: object): Json {
  const text = writeExact(schema, (key, value: unknown) =>
    key === "id" && typeof value === "string" ? undefined : value,
  );
  return parseExact(text.replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'));
}
