import type { JsonObject } from "../../../core/json.ts";
import { sameAs } from "./own-keywords.ts";

const http: JsonObject = {
  required: ["pathPattern"],
  properties: {
    pathPattern: {
      type: "string",
      pattern: "^/",
      description: "The route; `{name}` and `:name` are parameters, found under `httpDetails.pathParameters`.",
      examples: ["/api/v1/orders/{orderId}"],
    },
    method: {
      type: "string",
      pattern:
        "^([Gg][Ee][Tt]|[Pp][Oo][Ss][Tt]|[Pp][Uu][Tt]|[Pp][Aa][Tt][Cc][Hh]|[Dd][Ee][Ll][Ee][Tt][Ee]|[Hh][Ee][Aa][Dd]|[Oo][Pp][Tt][Ii][Oo][Nn][Ss])$",
      default: "POST",
      description: "The HTTP method.",
      examples: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    },
  },
  additionalProperties: false,
};

const cron: JsonObject = {
  properties: {
    schedule: {
      type: "string",
      minLength: 1,
      description: "Five fields: minute, hour, day, month, weekday; or a nickname such as `@daily`.",
      examples: ["0 6 * * 1-5"],
    },
    cron: sameAs("schedule", { type: "string", minLength: 1 }),
    expression: sameAs("schedule", { type: "string", minLength: 1 }),
    timezone: {
      type: "string",
      minLength: 1,
      default: "UTC",
      description: "An IANA name.",
      examples: ["Europe/Berlin"],
    },
  },
  additionalProperties: false,
};

const queue: JsonObject = {
  properties: {
    queueName: {
      type: "string",
      minLength: 1,
      description: "The queue whose messages start runs.",
      examples: ["orders"],
    },
    queue: sameAs("queueName", { type: "string", minLength: 1 }),
  },
  additionalProperties: false,
};

const event: JsonObject = {
  properties: {
    triggerEvent: {
      type: "string",
      minLength: 1,
      description: "The event that starts runs.",
      examples: ["order.created"],
    },
    event: sameAs("triggerEvent", { type: "string", minLength: 1 }),
    sourceAppId: { type: "string", minLength: 1, description: "Only events of this application. Absent: of any." },
  },
  additionalProperties: false,
};

function configOf(type: string, config: JsonObject, required: readonly string[] = ["config"]): JsonObject {
  return {
    if: { properties: { type: { const: type } }, required: ["type"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { config }, required },
  };
}

export const triggerSchema: JsonObject = {
  type: "object",
  description: "What starts the workflow, beside a person and other workflows.",
  required: ["type"],
  properties: {
    type: {
      enum: ["http", "cron", "queue", "trigger", "internal"],
      description:
        "`http` a request, `cron` a schedule, `queue` a message, `trigger` an event of an application, `internal` nothing but a call.",
    },
    config: { type: "object", description: "By type: the route, the schedule, the queue or the event." },
  },
  additionalProperties: false,
  allOf: [
    configOf("http", http),
    configOf("cron", cron),
    configOf("queue", queue),
    configOf("trigger", event),
    configOf("internal", { type: "object" }, []),
  ],
};
