import type { z } from "zod";
import { parseExact, writeExact } from "../core/exact-json.ts";
import { isJsonObject } from "../core/json.ts";
import type { HttpPlace } from "../operations/operation.ts";
import type { AnyOperation } from "../operations/operations.ts";
import { ApiError } from "./api-error.ts";
import { explainFailure, explainRefusal, notPawl } from "./explain-answer.ts";
import {
  type Connection,
  type FeedEvent,
  type FollowFeedOptions,
  type FollowOptions,
  follow,
  followFeed,
  followRun,
  type RunStreamEvent,
  readJson,
} from "./follow-run.ts";

/** `parseExact` and `writeExact`: JSON as answers have it, in which a whole number beyond 2^53 is a bigint. */
export {
  ApiError,
  type FeedEvent,
  type FollowFeedOptions,
  type FollowOptions,
  type FollowTerminalOptions,
  parseExact,
  type RunStreamEvent,
  type TerminalEvent,
  writeExact,
};

export interface PawlClientOptions {
  /** Where `pawl serve` listens, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Takes the place of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

export interface PawlClient {
  readonly url: string;
  /** Follows a run to its end, through lost connections. Throws `ApiError`. */
  followRun(runId: string, options?: FollowOptions): AsyncGenerator<RunStreamEvent>;
  /** Follows all runs, without an end, through lost connections. Throws `ApiError`. */
  followFeed(options?: FollowFeedOptions): AsyncGenerator<FeedEvent>;
  /** Follows what a terminal shows until its program has ended, through lost connections. Throws `ApiError`. */
  followTerminal(id: string, options?: FollowTerminalOptions): AsyncGenerator<TerminalEvent>;
  /** Calls a route, such as `GET /runs/{id}`, with the fields of its input, wherever they are sent. Throws `ApiError`. */
  call<At extends Route>(route: At, ...input: InputOf<At>): Promise<OutputOf<At>>;
  /** The same for a route that is known only while the program runs. */
  send(route: string, input: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** A request as it is, for files. Throws `ApiError` where it is not answered with a success. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

/** Streams and texts have other ways in: `followRun`, `request`. */
type Served = Exclude<
  Extract<AnyOperation, { readonly http: HttpPlace }>,
  { readonly http: { readonly answers: `text/${string}` } }
>;
type Routes = { [Each in Served as `${Each["http"]["method"]} ${Each["http"]["path"]}`]: Each };

/** A method and a path, such as `GET /runs/{id}`. */
export type Route = keyof Routes;

/** The fields of a route's input. Nothing where all of them may be left out. */
export type InputOf<At extends Route> =
  Record<never, never> extends z.input<Routes[At]["input"]>
    ? [input?: z.input<Routes[At]["input"]>]
    : [input: z.input<Routes[At]["input"]>];

/** What a route answers, without its envelope. */
export type OutputOf<At extends Route> = z.output<Routes[At]["output"]>;

/** A client of the service. Nothing is sent before it is used. */
export function createPawlClient({ url: written, apiKey, fetch: own }: PawlClientOptions): PawlClient {
  const url = written.replace(/\/+$/, "");
  const headers: Record<string, string> = apiKey === undefined ? {} : { "x-api-key": apiKey };
  const fetch = own ?? globalThis.fetch;
  // A key is for this server, and for no other that it may point to.
  const redirect = "manual";
  return {
    url,
    // The types are those of the operation's schemas, by which the server reads and answers.
    call: async <At extends Route>(route: At, ...given: InputOf<At>) =>
      (await sendTo({ url, headers, fetch }, route, (given as readonly [Fields?])[0] ?? {})) as OutputOf<At>,
    send: (route, input) => sendTo({ url, headers, fetch }, route, input),
    followRun: (runId, options = {}) => followRun({ url, headers, fetch }, runId, options),
    followFeed: (options = {}) => followFeed({ url, headers, fetch }, options),
    followTerminal: (id, options = {}) => followTerminal({ url, headers, fetch }, id, options),
    async request(path, init = {}) {
      const sent = new Headers(init.headers);
      for (const [name, value] of Object.entries(headers)) sent.set(name, value);
      const response = await fetch(url + path, { ...init, redirect, headers: sent }).catch((error: unknown) => {
        throw explainFailure(url, error);
      });
      if (response.ok) return response;
      if (response.status < 400) throw notPawl(url, response.status, response.headers.get("location"));
      throw explainRefusal(url, response.status, await readJson(response));
    },
  };
}

interface Server {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/**
 * Fields that the path names are sent there; those of GET and DELETE in the query; a file as the whole body, and all others
 * as a JSON body.
 */
async function sendTo({ url, headers, fetch }: Server, route: string, input: Fields): Promise<unknown> {
  const [method = "GET", template = ""] = route.split(" ");
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name) ?? "");
    rest.delete(name);
    return name === "path" ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
  });
  const inQuery = method === "GET" || method === "DELETE";
  const query = inQuery && rest.size > 0 ? `?${new URLSearchParams([...rest].flatMap(toPairs))}` : "";
  const { type, body } = inQuery || (rest.size === 0 && method !== "PUT") ? {} : toBody(rest);
  const response = await fetch(`${url}${path}${query}`, {
    method,
    redirect: "manual",
    headers: type === undefined ? headers : { ...headers, "content-type": type },
    ...(body === undefined ? {} : { body }),
  }).catch((error: unknown) => {
    throw explainFailure(url, error);
  });
  const answered = response.headers.get("content-type");
  if (response.ok && answered === BYTES) return new Uint8Array(await response.arrayBuffer());
  if (answered?.startsWith("application/json") !== true)
    throw notPawl(url, response.status, response.headers.get("location"));
  const answer = await readJson(response);
  if (!response.ok) throw explainRefusal(url, response.status, answer);
  if (!isJsonObject(answer) || !("data" in answer)) throw notPawl(url, response.status);
  return answer["data"];
}

const BYTES = "application/octet-stream";

function toBody(fields: ReadonlyMap<string, unknown>) {
  const file = [...fields.values()].find((value) => value instanceof Uint8Array);
  // The copy has a buffer that is not shared, as `fetch` wants it.
  if (file !== undefined) return { type: BYTES, body: new Uint8Array(file) };
  return { type: "application/json", body: writeExact(Object.fromEntries(fields)) };
}

type Fields = Readonly<Record<string, unknown>>;

function toPairs([name, value]: [string, unknown]): [string, string][] {
  return [value].flat().map((each): [string, string] => [name, String(each)]);
}

/** What `GET /terminals/{id}/stream` tells: text for an emulator of terminals, and for nothing else. */
type TerminalEvent =
  /** Everything anew: an empty terminal of this size that takes `data` shows it. */
  | {
      readonly event: "screen";
      readonly data: { readonly columns: number; readonly rows: number; readonly data: string };
    }
  | { readonly event: "output"; readonly data: { readonly data: string } }
  | { readonly event: "ended"; readonly data: { readonly exit_code: number | null } };

type FollowTerminalOptions = Omit<FollowFeedOptions, "after">;

/**
 * What a terminal shows until its program has ended. Behind a lost connection it begins with the screen again. Throws `ApiError`,
 * `TERMINAL_NOT_FOUND` too when it is closed meanwhile. The server waits for who reads slowly: take one event when the one before is shown.
 */
async function* followTerminal(
  server: Connection,
  id: string,
  options: FollowTerminalOptions,
): AsyncGenerator<TerminalEvent> {
  for await (const event of follow<TerminalEvent>(server, `/terminals/${encodeURIComponent(id)}/stream`, options)) {
    yield event;
    if (event.event === "ended") return;
  }
}
