import type { Context } from "hono";
import { z } from "zod";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject } from "../../../core/json.ts";
import { type Field, fieldsOf, fromText } from "../../../operations/fields.ts";
import type { HttpPlace, Operation, OperationContext } from "../../../operations/operation.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { readJsonBody } from "../read-body.ts";
import type { Endpoint } from "./endpoint.ts";
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from "./idempotency-key.ts";

/** Where the fields of an operation's input are in a request. */
type Place = "path" | "query" | "body";

/** What a route by hand answers with: a stream, or a file. */
export type ServeByHand = (asked: Asked, input: never) => Promise<Response>;

/** The route of an operation. Absent: it is not to be had over HTTP. */
export function toEndpoints(operation: Operation, byHand: Readonly<Record<string, ServeByHand>>): readonly Endpoint[] {
  const { id, summary, topic: tag, scope, input, output, http } = operation;
  if ("no" in http) return [];
  const { method, path, headers, status = 200, otherStatuses = [], alias, answers, takes } = http;
  const named = namesIn(path);
  const params = z.object(only(input, (name) => named.includes(name)));
  const rest = only(input, (name) => !named.includes(name));
  const hasBody = takesBody(operation) && takes === undefined;
  const endpoint: Endpoint = {
    method,
    path,
    id,
    summary,
    tag,
    scope,
    params,
    query: z.strictObject(hasBody || takesBody(operation) ? {} : rest),
    headers: "idempotency_key" in rest ? { ...IDEMPOTENCY_HEADER, ...headers } : headers,
    body: !hasBody ? undefined : named.length === 0 ? input : withMeta(z.strictObject(rest), input),
    content: takes === undefined ? undefined : { mediaType: takes },
    answer: answers === undefined ? output : { mediaType: answers },
    status,
    otherStatuses,
    serve: async (parts, c) => {
      const serve = byHand[id];
      if (serve === undefined) return serveOperation(operation, http, { parts, c });
      return serve({ parts, c }, (await readInput(operation, path, { parts, c })) as never);
    },
  };
  return alias === undefined ? [endpoint] : [endpoint, { ...endpoint, ...alias, summary: `Another name of ${id}` }];
}

function only({ shape }: z.ZodObject, isWanted: (name: string) => boolean): z.ZodRawShape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => isWanted(name)));
}

function withMeta(part: z.ZodObject, whole: z.ZodObject): z.ZodObject {
  const meta = whole.meta();
  return meta === undefined ? part : part.meta(meta);
}

/** Answers a request for an operation. Throws `REQUEST_INVALID` with every place that does not fit, before anything is done. */
async function serveOperation(
  operation: Operation,
  { path, status = 200 }: HttpPlace,
  asked: Asked,
): Promise<Response> {
  const { c } = asked;
  const input = await readInput(operation, path, asked);
  const context = contextOf(asked);
  const output: unknown = await operation.handle(context, input);
  if (isJsonObject(output) && typeof output["run_id"] === "string") c.set("runId", output["run_id"]);
  const body = await toEnvelope(operation, { context, input, output, isNumbered: c.get("listShape") === "numbered" });
  return c.body(JSON.stringify(body), operation.statusOf?.(output) ?? status, { "content-type": "application/json" });
}

function contextOf({ parts, c }: Asked): OperationContext {
  const { submissions } = parts;
  return { app: parts.appFor(c), by: "api", submissions, traceParent: c.req.header("traceparent") };
}

interface Answered {
  readonly context: OperationContext;
  readonly input: Input;
  readonly output: unknown;
  readonly isNumbered: boolean;
}

/** Clients that page by number get the count with a list; only they pay for it. */
async function toEnvelope({ count }: Operation, { context, input, output, isNumbered }: Answered): Promise<object> {
  if (!isNumbered || count === undefined || !isJsonObject(output)) return { data: output, error: null };
  const total = await count(context, input);
  const { limit = total, offset = 0 } = input;
  return { data: output["items"], error: null, meta: { total, limit, offset } };
}

type Input = Readonly<Record<string, unknown>>;

export interface Asked {
  readonly parts: HttpParts;
  readonly c: Context<HttpEnv>;
}

/** The input of an operation as a request gives it, checked. */
async function readInput(operation: Operation, path: string, { parts, c }: Asked): Promise<Input> {
  const rest: Place = takesBody(operation) ? "body" : "query";
  const named = namesIn(path);
  const query = readQuery(c);
  if (rest === "body" && Object.keys(query).length > 0) throw unknownQuery(query);
  const given: Input =
    rest === "query" ? fromTexts(operation, query) : await readFields(operation, named, { parts, c });
  const result = operation.input.safeParse({ ...given, ...c.req.param() });
  if (result.success) return result.data;
  throw invalid(result.error, (field) => (named.includes(field) ? "path" : rest), rest);
}

/** Whether the fields that are not in the path are sent in a body. */
function takesBody({ http, input }: Operation): boolean {
  if ("no" in http || http.method === "GET" || http.method === "DELETE") return false;
  return Object.keys(input.shape).length > namesIn(http.path).length;
}

/** Names of the parameters of a path. */
function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** A name that comes twice is a list. */
function readQuery(c: Context<HttpEnv>): Record<string, string | string[]> {
  if (!c.req.url.includes("?")) return {};
  const given = Object.entries(c.req.queries()).filter(([name]) => name !== "token");
  return Object.fromEntries(given.map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]));
}

function fromTexts({ input }: Operation, query: Readonly<Record<string, string | string[]>>): Input {
  const kinds = new Map(fieldsOf(input).map(({ name, kind }): [string, Field["kind"]] => [name, kind]));
  return Object.fromEntries(
    Object.entries(query).map(([name, given]) => {
      const kind = kinds.get(name) ?? "text";
      return [name, typeof given === "string" ? fromText(kind, given) : given.flatMap((each) => fromText(kind, each))];
    }),
  );
}

/** An empty body is an empty object where all of it is optional, and `null` is no value for a field that may be left out. */
async function readFields(operation: Operation, named: readonly string[], { parts, c }: Asked): Promise<Input> {
  const { app } = parts;
  const { hasRequired, onlyLeftOut } = bodyOf(operation, named);
  const whereEmpty = hasRequired ? undefined : {};
  const sent = await readJsonBody(c.req.raw, app.config.settings.server.max_body_bytes, whereEmpty);
  if (!isJsonObject(sent)) throw notAnObject();
  const inPath = named.find((name) => Object.hasOwn(sent, name));
  if (inPath !== undefined) throw unknownField(inPath);
  const given = Object.entries(sent).filter(([name, value]) => value !== null || !onlyLeftOut.has(name));
  if (!("idempotency_key" in operation.input.shape)) return Object.fromEntries(given);
  const { idempotency_key: key, ...fields } = Object.fromEntries(given);
  // A key that is no text is refused with the rest of the input.
  if (key !== undefined && typeof key !== "string") return Object.fromEntries(given);
  const one = readIdempotencyKey(c, key);
  return one === undefined ? fields : { ...fields, idempotency_key: one };
}

interface Body {
  readonly hasRequired: boolean;
  /** Fields for which `null` is no value of its own. Clients in typed languages write it for what they do not send. */
  readonly onlyLeftOut: ReadonlySet<string>;
}

const bodies = new WeakMap<Operation, Body>();

function bodyOf(operation: Operation, named: readonly string[]): Body {
  const known = bodies.get(operation);
  if (known !== undefined) return known;
  const fields = Object.entries<z.ZodType>(operation.input.shape).filter(([name]) => !named.includes(name));
  const isOptional = (field: z.ZodType) => field.safeParse(undefined).success;
  const path = Object.fromEntries(named.map((name) => [name, "x"]));
  const body = {
    // Rules over several fields count too: one of two names must be there.
    hasRequired: !operation.input.safeParse(path).success,
    onlyLeftOut: new Set(
      fields.flatMap(([name, field]) => (isOptional(field) && !field.safeParse(null).success ? [name] : [])),
    ),
  };
  bodies.set(operation, body);
  return body;
}

function invalid(error: z.ZodError, placeOf: (field: string) => Place, rest: Place): PawlError {
  return refused(
    error.issues.map(({ path: [field, ...inner], message }) => ({
      path: (field === undefined ? [rest] : [placeOf(String(field)), field, ...inner]).map(String).join("."),
      message,
    })),
  );
}

const unknownQuery = (query: object) =>
  refused(Object.keys(query).map((name) => ({ path: "query", message: `Unrecognized key: "${name}"` })));
const unknownField = (name: string) => refused([{ path: "body", message: `Unrecognized key: "${name}"` }]);
const notAnObject = () => refused([{ path: "body", message: "Invalid input: expected object" }]);

function refused(violations: readonly { readonly path: string; readonly message: string }[]): PawlError {
  const [first] = violations;
  return new PawlError("REQUEST_INVALID", {
    message: `The request is not valid: ${first?.path ?? "body"}: ${first?.message ?? "it does not fit"}.`,
    details: { violations: [...violations] },
  });
}
