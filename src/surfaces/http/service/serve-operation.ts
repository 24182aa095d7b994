import { basename } from "node:path/posix";
import type { Context } from "hono";
import { z } from "zod";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject } from "../../../core/json.ts";
import { type Field, fieldsOf, fromText } from "../../../operations/fields.ts";
import { toJsonInTurns } from "../../../operations/json-in-turns.ts";
import { holdInMemory } from "../../../operations/limits/quotas.ts";
import type { HttpPlace, Operation, OperationContext } from "../../../operations/operation.ts";
import type { ListedOperation } from "../../../operations/operations.ts";
import { passTurn } from "../../../ports/turns.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { idempotencyKeyOf } from "../path-of.ts";
import { readBody, readJsonBody } from "../read-body.ts";
import type { Endpoint } from "./endpoint.ts";

/** A route whose answer is no JSON envelope of an output. */
export interface ServedByHand {
  serve(asked: Asked, input: never): Promise<Response>;
  /** Whether the configuration lets callers in without a key. */
  isOpen?(parts: HttpParts): boolean;
}

export interface Asked {
  readonly parts: HttpParts;
  readonly c: Context<HttpEnv>;
}

/** The place of the fields that are not in the path. */
type Rest = "query" | "body";

type Input = Readonly<Record<string, unknown>>;

/** A route, prepared before the first request. */
interface Route {
  readonly operation: Operation;
  readonly http: HttpPlace;
  /** Parameters of the path. */
  readonly named: readonly string[];
  readonly rest: Rest;
  /** Fields that are not in the path. */
  readonly fields: readonly Field[];
  /** The field that is the whole body. */
  readonly content: string | undefined;
  /** Whether a body must be there. */
  readonly hasRequired: boolean;
  /** Fields for which `null` is no value of its own. Clients in typed languages write it for what they do not send. */
  readonly onlyLeftOut: ReadonlySet<string>;
}

/** The routes of an operation. None: it is not to be had over HTTP. */
export function toEndpoints(operation: ListedOperation, byHand: ServedByHand | undefined): readonly Endpoint[] {
  const { id, summary, topic: tag, scope, input, output, http } = operation;
  if ("no" in http) return [];
  const { method, path, headers, status = 200, otherStatuses = [], alias, answers, takes } = http;
  const route = toRoute(operation, http);
  const { named, rest } = route;
  const others = only(input, (name) => !named.includes(name));
  const endpoint: Endpoint = {
    method,
    path,
    id,
    summary,
    tag,
    scope,
    params: z.object(only(input, (name) => named.includes(name))),
    query: z.strictObject(rest === "body" ? {} : others),
    headers: "idempotency_key" in others ? { ...IDEMPOTENCY_HEADER, ...headers } : headers,
    body:
      rest === "query" || takes !== undefined
        ? undefined
        : withMeta(named.length === 0 ? input : z.strictObject(others), input),
    content: takes === undefined ? undefined : { mediaType: takes },
    answer: answers === undefined ? output : { mediaType: answers },
    status,
    otherStatuses,
    isOpen: byHand?.isOpen,
    serve: async (parts, c) => {
      const given = await readInput(route, { parts, c });
      return byHand === undefined
        ? serveOperation(route, { parts, c }, given)
        : byHand.serve({ parts, c }, given as never);
    },
  };
  return alias === undefined ? [endpoint] : [endpoint, { ...endpoint, ...alias, summary: `Another name of ${id}` }];
}

function toRoute(operation: Operation, http: HttpPlace): Route {
  const { input } = operation;
  const named = [...http.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const fields = fieldsOf(input).filter(({ name }) => !named.includes(name));
  const hasBody = http.method !== "GET" && http.method !== "DELETE" && fields.length > 0;
  const inPath = Object.fromEntries(named.map((name) => [name, "x"]));
  return {
    operation,
    http,
    named,
    rest: hasBody ? "body" : "query",
    fields,
    content: http.takes === undefined ? undefined : fields.find(({ kind }) => kind === "bytes")?.name,
    // Rules over several fields count too: one of two names must be there.
    hasRequired: !input.safeParse(inPath).success,
    onlyLeftOut: new Set(fields.map(({ name }) => name).filter((name) => isOnlyLeftOut(input.shape[name]))),
  };
}

function isOnlyLeftOut(field: z.ZodType): boolean {
  return field.safeParse(undefined).success && !field.safeParse(null).success;
}

function only({ shape }: z.ZodObject, isWanted: (name: string) => boolean): z.ZodRawShape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => isWanted(name)));
}

function withMeta(part: z.ZodObject, whole: z.ZodObject): z.ZodObject {
  const meta = whole.meta();
  return part === whole || meta === undefined ? part : part.meta(meta);
}

async function serveOperation({ operation, http }: Route, { parts, c }: Asked, input: Input): Promise<Response> {
  const { submissions, quotas } = parts;
  const context: OperationContext = {
    app: parts.appFor(c),
    by: "api",
    submissions,
    quotas,
    traceParent: c.req.header("traceparent"),
  };
  const output: unknown = await operation.handle(context, input);
  if (output instanceof Uint8Array) {
    holdInMemory(output.byteLength);
    return sendFile(String(input["path"]), output);
  }
  if (isJsonObject(output) && typeof output["run_id"] === "string") c.set("runId", output["run_id"]);
  const isNumbered = c.get("listShape") === "numbered";
  const body = isNumbered ? await toNumbered(operation, { context, input, output }) : { data: output, error: null };
  const status = operation.statusOf?.(output) ?? http.status ?? 200;
  const text = await toJsonInTurns(body);
  // Values are counted where they are read; what else there is, here.
  holdInMemory(text.length);
  // To send it is a part of its own.
  if (text.length > LONG_ANSWER) await passTurn();
  return c.body(text, status, { "content-type": "application/json" });
}

const LONG_ANSWER = 1_000_000;

interface Answered {
  readonly context: OperationContext;
  readonly input: Input;
  readonly output: unknown;
}

/** Clients that page by number get the count with a list; only they pay for it. */
async function toNumbered({ count }: Operation, { context, input, output }: Answered): Promise<object> {
  if (count === undefined || !isJsonObject(output)) return { data: output, error: null };
  const total = await count(context, input);
  const { limit = total, offset = 0 } = input;
  return { data: output["items"], error: null, meta: { total, limit, offset } };
}

/** Throws `REQUEST_INVALID` with every place that does not fit, before anything is done. */
async function readInput(route: Route, { parts, c }: Asked): Promise<Input> {
  const { operation, named, rest } = route;
  const query = readQuery(c);
  const unknown = Object.keys(query).filter((name) => rest === "body" || named.includes(name));
  if (unknown.length > 0) throw refused(unknown.map((name) => unknownKey("query", name)));
  const given = rest === "query" ? fromTexts(route, query) : await readFields(route, { parts, c });
  const result = operation.input.safeParse({ ...given, ...c.req.param() });
  if (result.success) return result.data;
  throw refused(
    result.error.issues.map(({ path: [field, ...inner], message }) => {
      const place = field === undefined ? [rest] : [named.includes(String(field)) ? "path" : rest, field, ...inner];
      return { path: place.map(String).join("."), message };
    }),
  );
}

/** A name that comes twice is a list. */
function readQuery(c: Context<HttpEnv>): Record<string, string | string[]> {
  if (!c.req.url.includes("?")) return {};
  const given = Object.entries(c.req.queries()).filter(([name]) => name !== "token");
  return Object.fromEntries(given.map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]));
}

function fromTexts({ fields }: Route, query: Readonly<Record<string, string | string[]>>): Input {
  return Object.fromEntries(
    Object.entries(query).map(([name, given]) => {
      const kind = fields.find((field) => field.name === name)?.kind ?? "text";
      return [name, typeof given === "string" ? fromText(kind, given) : given.flatMap((each) => fromText(kind, each))];
    }),
  );
}

/** An empty body is an empty object where all of it is optional. */
async function readFields(route: Route, { parts, c }: Asked): Promise<Input> {
  const { operation, named, content, hasRequired, onlyLeftOut } = route;
  const { max_body_bytes: maxBytes } = parts.app.config.settings.server;
  if (content !== undefined) return { [content]: await readBody(c.req.raw, maxBytes) };
  const sent = await readJsonBody(c.req.raw, maxBytes, hasRequired ? undefined : {});
  if (!isJsonObject(sent)) throw refused([{ path: "body", message: "Invalid input: expected object" }]);
  const inPath = named.find((name) => Object.hasOwn(sent, name));
  if (inPath !== undefined) throw refused([unknownKey("body", inPath)]);
  const given = Object.fromEntries(
    Object.entries(sent).filter(([name, value]) => value !== null || !onlyLeftOut.has(name)),
  );
  const { idempotency_key: key, ...fields } = given;
  // A key that is no text is refused with the rest of the input.
  if (!("idempotency_key" in operation.input.shape) || (key !== undefined && typeof key !== "string")) return given;
  const one = idempotencyKeyOf(c, key);
  return one === undefined ? fields : { ...fields, idempotency_key: one };
}

type Flaw = Readonly<Record<"path" | "message", string>>;

function unknownKey(path: Rest, name: string): Flaw {
  return { path, message: `Unrecognized key: "${name}"` };
}

function refused(violations: readonly Flaw[]): PawlError {
  const [first] = violations;
  return new PawlError("REQUEST_INVALID", {
    message: `The request is not valid: ${first?.path ?? "body"}: ${first?.message ?? "it does not fit"}.`,
    details: { violations: [...violations] },
  });
}

/** The header of endpoints that may cost money. A client that has lost the answer asks again with the same key. */
const IDEMPOTENCY_HEADER = {
  "Idempotency-Key": "The same key with the same request has the same run for 24 hours.",
} as const;

/**
 * A stored file as a download. Whatever is in it, no browser shows it as a page of ours: files come from agents, models and
 * other people.
 */
function sendFile(path: string, content: Uint8Array): Response {
  const name = basename(path);
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  return new Response(new Uint8Array(content), {
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(content.byteLength),
      "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

/** The encoding of RFC 8187. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
