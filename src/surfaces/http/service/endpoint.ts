import type { Context } from "hono";
import { z } from "zod";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Application } from "../../../operations/application/application.ts";
import type { KeyScope } from "../../../ports/service/api-keys.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { readJsonBody } from "../read-body.ts";

/** One route of the service: everything that a request, a document and a test need to know of it. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters as `{name}`. */
  readonly path: string;
  /** The operation that it is a translation of; unique, in camel case. */
  readonly id: string;
  readonly summary: string;
  readonly tag: string;
  /** `open`: needs no key. */
  readonly scope: KeyScope | "open";
  /** Where the configuration asks for no key either. */
  readonly isOpen?: (parts: HttpParts) => boolean;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** That it reads, each with what it means; besides those that every endpoint reads. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent: it reads none. `mediaType`: the body is the content itself. */
  readonly body: z.ZodType | undefined;
  readonly content?: { readonly mediaType: string } | undefined;
  /** Of `data` in the envelope; other media types name themselves. */
  readonly answer: z.ZodType | { readonly mediaType: string };
  /** Of a success. */
  readonly status: 200 | 201 | 202;
  /** Further statuses of a success. */
  readonly otherStatuses: readonly (200 | 201 | 202 | 204)[];
  serve(parts: HttpParts, c: Context<HttpEnv>): Promise<Response>;
}

/** A request whose parts fit what the endpoint says of them. */
interface Call<Params, Query, Body> {
  /** As the caller may see it. */
  readonly app: Application;
  readonly parts: HttpParts;
  readonly c: Context<HttpEnv>;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

interface Reply<Data> {
  readonly data: Data;
  /** Absent: the endpoint's own. */
  readonly status?: 200 | 201 | 202;
  readonly headers?: Readonly<Record<string, string>>;
  /** For clients that page by number: only they pay for the count. */
  countAll?(): Promise<PageNumbers>;
}

interface PageNumbers {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

const NOTHING = z.strictObject({});

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> extends Omit<Endpoint, "params" | "query" | "body" | "answer" | "status" | "otherStatuses" | "serve"> {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly answer: Answer | { readonly mediaType: string };
  readonly status?: Endpoint["status"];
  readonly otherStatuses?: Endpoint["otherStatuses"];
  handle(
    call: Call<z.output<Params>, z.output<Query>, z.output<Body>>,
  ): Promise<Reply<Frozen<z.input<Answer>>> | Response>;
}

/** Operations return what nobody may change; the types of schemas allow it. */
type Frozen<T> = Json extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Frozen<T[Key]> }
      : T;

/** Throws `REQUEST_INVALID` with every place that does not fit, before anything is done. */
export function defineEndpoint<
  Params extends z.ZodObject = typeof NOTHING,
  Query extends z.ZodObject = typeof NOTHING,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodNull,
>(definition: Definition<Params, Query, Body, Answer>): Endpoint {
  const { params = NOTHING, query = NOTHING, body, answer, status = 200, otherStatuses = [], handle } = definition;
  const readSent = body === undefined ? undefined : bodyReader(body);
  return {
    ...definition,
    params,
    query,
    body,
    answer,
    status,
    otherStatuses,
    async serve(parts, c) {
      const call = {
        app: parts.appFor(c),
        parts,
        c,
        params: params === NOTHING ? {} : read(params, c.req.param(), "path"),
        query: query === NOTHING && !c.req.url.includes("?") ? {} : read(query, readQuery(c), "query"),
        body: await readSent?.(c, parts),
      };
      // What the schemas have let through has their types.
      const reply = await handle(call as Call<z.output<Params>, z.output<Query>, z.output<Body>>);
      return reply instanceof Response ? reply : envelope(c, reply, status);
    },
  };
}

/** A name that comes twice is a list. */
function readQuery(c: Context<HttpEnv>): Record<string, string | string[]> {
  const given = Object.entries(c.req.queries()).filter(([name]) => name !== "token");
  return Object.fromEntries(given.map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]));
}

/** No body at all is an empty object where all of it is optional, and `null` is no value for what may be left out. */
function bodyReader<Body extends z.ZodType>(body: Body) {
  const whereEmpty = body.safeParse({}).success ? {} : undefined;
  const fields = body instanceof z.ZodObject ? Object.entries<z.ZodType>(body.shape) : [];
  const leftOut = new Set(fields.filter(([, field]) => isOnlyLeftOut(field)).map(([name]) => name));
  return async (c: Context<HttpEnv>, { app }: HttpParts): Promise<z.output<Body>> => {
    const sent = await readJsonBody(c.req.raw, app.config.settings.server.max_body_bytes, whereEmpty);
    if (!isJsonObject(sent)) return read(body, sent, "body");
    const given = Object.entries(sent).filter(([name, value]) => value !== null || !leftOut.has(name));
    return read(body, Object.fromEntries(given), "body");
  };
}

/** Clients in typed languages write `null` for what they do not send. Where `null` is a value of its own it stays one. */
function isOnlyLeftOut(field: z.ZodType): boolean {
  return field.safeParse(undefined).success && !field.safeParse(null).success;
}

function read<Schema extends z.ZodType>(schema: Schema, given: unknown, where: string): z.output<Schema> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const flaws = result.error.issues.map((issue) => ({
    path: [where, ...issue.path.map(String)].join("."),
    message: issue.message,
  }));
  const [first] = flaws;
  throw new PawlError("REQUEST_INVALID", {
    message: `The request is not valid: ${first?.path ?? where}: ${first?.message ?? "it does not fit"}.`,
    details: { violations: flaws },
  });
}

async function envelope<Data>(c: Context<HttpEnv>, reply: Reply<Data>, usual: Endpoint["status"]): Promise<Response> {
  const { data, status = usual, headers = {} } = reply;
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  const body =
    c.get("listShape") === "numbered" && reply.countAll !== undefined
      ? { data: itemsOf(data), error: null, meta: await reply.countAll() }
      : { data, error: null };
  return c.body(JSON.stringify(body), status, { "content-type": "application/json" });
}

function itemsOf(data: unknown): unknown {
  return typeof data === "object" && data !== null && "items" in data ? data.items : data;
}
