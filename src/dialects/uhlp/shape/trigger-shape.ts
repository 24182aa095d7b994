import type { Trigger } from "../../../core/graph/graph.ts";
import { parsePathPattern } from "../../../core/graph/path-pattern.ts";
import { anyMap, list } from "../../shape/containers.ts";
import { expected, optional, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, filled, flag, text } from "../../shape/scalars.ts";
import { type Reader, type Text, to } from "../../shape/shape.ts";
import { variants } from "../../shape/variants.ts";
import { toPrintable } from "../../source/printable.ts";
import { toCron } from "../../work/cron.ts";

const path = text({ pattern: "^/", examples: ["/api/v1/orders/{orderId}"] });

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const method = text({
  pattern: `^(${METHODS.map((name) => name.replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`)).join("|")})$`,
  examples: ["GET", "POST", "PUT", "PATCH", "DELETE"],
});

const http = to(
  object({
    pathPattern: expected(
      path,
      "The route; `{name}` and `:name` are parameters, `{name*}` is the rest of the path; found under `httpDetails.pathParameters`.",
    ),
    method: withDefault(method, "POST", "The HTTP method."),
    auth: optional(
      choice(["key", "hmac", "open"]),
      "Who may ask: whoever has a key; whoever signs the request as Standard Webhooks says; anybody.",
      { otherwise: "`key` where the server wants keys" },
    ),
    secret: optional(
      text({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }),
      "The variable of the environment with the secret of `hmac`.",
      { otherwise: "`webhook.secret` of the configuration" },
    ),
    stream: withDefault(
      flag(),
      false,
      "Whether whoever accepts `text/event-stream` is told what agents and models say while they say it, then the answer.",
    ),
  }),
  (read, { source, problems }): Trigger | undefined => {
    const pathPattern = read.pathPattern && readPattern(read.pathPattern, problems);
    if (read.pathPattern === undefined || pathPattern === undefined) return undefined;
    const place = source.position(read.pathPattern.at);
    const { auth, secret } = read;
    if (secret !== undefined && auth !== "hmac") {
      const message = "`secret` belongs to `auth: hmac`, and the route checks no signature.";
      problems.error({ code: "VALUE_INVALID", at: secret.at, message, remedy: "Add `auth: hmac`, or remove it." });
    }
    return {
      kind: "http",
      method: read.method.value.toUpperCase(),
      pathPattern,
      ...(auth === undefined ? {} : { auth }),
      ...(secret === undefined ? {} : { secret: secret.value }),
      ...(read.stream ? { streams: true } : {}),
      place,
    };
  },
);

/** `:name` is `{name}`. */
function readPattern({ value, at }: Text, problems: Reader["problems"]): string | undefined {
  const written = value.replace(/(?<=\/):([^/]*)/g, "{$1}");
  const parsed = parsePathPattern(written);
  if (!("fault" in parsed)) return written;
  const remedy =
    "Write plain text, or whole parameters such as `{orderId}`, each with a name of its own; `{path*}` at the end takes the rest.";
  problems.error({
    code: "VALUE_INVALID",
    at,
    message: `The route cannot be served: ${toPrintable(parsed.fault)}`,
    remedy,
  });
  return undefined;
}

const queue = to(
  object({
    queueName: expected(filled("orders"), "The queue whose messages start runs.", {
      also: ["queue"],
      missing: inConfig("queueName"),
    }),
  }),
  ({ queueName }): Trigger | undefined => queueName && { kind: "queue", queueName: queueName.value },
);

const event = to(
  object({
    triggerEvent: expected(filled("order.created"), "The event that starts runs.", {
      also: ["event"],
      missing: inConfig("triggerEvent"),
    }),
    sourceAppId: optional(filled(), "Only events of this application.", { otherwise: "those of any" }),
  }),
  ({ triggerEvent, sourceAppId }): Trigger | undefined =>
    triggerEvent && {
      kind: "event",
      event: triggerEvent.value,
      ...(sourceAppId === undefined ? {} : { sourceAppId: sourceAppId.value }),
    },
);

function inConfig(key: string) {
  return { message: `The trigger's \`config\` has no \`${key}\`.`, remedy: `Add \`${key}\`.` };
}

/** The trigger of a workflow. Undefined: nothing but a call starts it, or its mistake has been reported. */
export const trigger = to(
  variants("type", {
    common: {
      name: optional(
        text({ pattern: "^[A-Za-z_][\\w-]{0,99}$" }),
        "Tells it from the others: steps read it as `trigger.name`.",
      ),
    },
    kinds: {
      http: object({ config: expected(http, "The route.") }),
      cron: object({
        config: expected(
          toCron({
            spell: (shape) => shape,
            missing: inConfig("schedule"),
            saysInput: "What its runs find as `trigger.payload`.",
            cancels: "cancelPrevious",
          }),
          "The schedule.",
        ),
      }),
      queue: object({ config: expected(queue, "The queue.") }),
      trigger: object({ config: expected(event, "The event.") }),
      internal: object({
        config: optional(
          to(anyMap(), () => undefined),
          "Nothing is read from it.",
        ),
      }),
    },
    says: "`http` a request, `cron` a schedule, `queue` a message, `trigger` an event of an application, `internal` nothing but a call.",
  }),
  ({ config, name }): Trigger | undefined =>
    config && { ...config, ...(name === undefined ? {} : { name: name.value }) },
);

export const triggers = list(trigger, { min: 1, max: 50 });
