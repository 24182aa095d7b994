import { EventSourceParserStream } from "eventsource-parser/stream";
import { parseExact } from "../core/exact-json.ts";
import type { Json } from "../core/json.ts";
import type { StreamedChange } from "../operations/runs/follow/streamed-change.ts";
import { ApiError } from "./api-error.ts";
import { explainFailure, explainRefusal, notPawl } from "./explain-answer.ts";

/** What `GET /runs/{id}/stream` tells. What has an id can be asked for again; `status` says how it is now. */
export type RunStreamEvent =
  | Exclude<StreamedChange, { readonly event: "event" }>
  /** Of the journal, where that is asked for: its shape is that of the server's version. */
  | { readonly event: "event"; readonly id: string; readonly data: RecordedEvent };

interface RecordedEvent {
  readonly seq: number;
  /** With more fields, by its type. */
  readonly event: { readonly type: string; readonly at: number };
}

/** What `GET /events` tells of all runs: names as webhooks have them, such as `run.finished`. */
export interface FeedEvent {
  readonly event: string;
  readonly id: string;
  /** With more fields, by its name. */
  readonly data: { readonly run_id: string; readonly workflow_name: string; readonly at: string };
}

export interface FollowFeedOptions {
  /** The id of the last event that was seen. Absent: from now on. */
  readonly after?: string | undefined;
  /** Is told once for every connection that is lost, before another is made. */
  lost?(error: ApiError): void;
  /** Is told of every connection that is made. */
  connected?(): void;
  readonly signal?: AbortSignal | undefined;
}

export interface FollowOptions extends FollowFeedOptions {
  /** The id of the last event that was seen. Absent: from the beginning. */
  readonly after?: string | undefined;
  /** Also what steps tell while they work. */
  readonly progress?: boolean | undefined;
  /** Also the events of the journal. */
  readonly events?: boolean | undefined;
}

export interface Connection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 5_000;
const MAX_FAILURES = 12;

/**
 * What happens in a run until it has ended, without a gap and without a repetition: a connection that is lost is made again
 * from the last event. Throws `ApiError`, also when a server stays away for about a minute.
 */
export async function* followRun(
  server: Connection,
  runId: string,
  { progress = false, events = false, ...options }: FollowOptions,
): AsyncGenerator<RunStreamEvent> {
  const path = `/runs/${encodeURIComponent(runId)}/stream?progress=${progress}&events=${events}`;
  for await (const event of follow<RunStreamEvent>(server, path, options)) {
    yield event;
    if (event.event === "end") return;
  }
}

/** What happens in all runs that the key may see, as `followRun` does it: without an end. */
export function followFeed(server: Connection, options: FollowFeedOptions): AsyncGenerator<FeedEvent> {
  return follow<FeedEvent>(server, "/events", options);
}

/** Reads events for ever: a connection that is lost is made again from the last event that has an id. An answer without content ends it. */
export async function* follow<Followed extends object>(
  { url, headers, fetch }: Connection,
  path: string,
  { after, signal, lost, connected }: FollowFeedOptions,
): AsyncGenerator<Followed> {
  let last = after;
  for (let failures = 0; ; failures += 1) {
    try {
      const since = last === undefined ? {} : { "last-event-id": last };
      const asked = {
        redirect: "manual" as const,
        headers: { ...headers, accept: "text/event-stream", ...since },
        ...(signal ? { signal } : {}),
      };
      const answer = await fetch(url + path, asked);
      // It has ended, and everything was told.
      if (answer.status === 204) return;
      if (answer.ok) connected?.();
      for await (const event of readEvents<Followed>(url, answer)) {
        failures = 0;
        if ("id" in event && typeof event.id === "string") last = event.id;
        yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && !isPassing(error)) throw error;
      const failure = error instanceof ApiError ? error : explainFailure(url, error);
      if (failures >= MAX_FAILURES) throw failure;
      if (failures === 0) lost?.(failure);
    }
    await pause(Math.min(FIRST_DELAY_MS * 2 ** failures, LAST_DELAY_MS), signal);
  }
}

/** Throws the reason of the signal. It needs no Node, as browsers follow runs too. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A server that is busy, stops or starts again. */
function isPassing({ status = 0 }: ApiError): boolean {
  return status === 429 || status >= 500;
}

async function* readEvents<Followed>(url: string, response: Response): AsyncGenerator<Followed> {
  if (response.status >= 300 && response.status < 400)
    throw notPawl(url, response.status, response.headers.get("location"));
  if (!response.ok) throw explainRefusal(url, response.status, await readJson(response));
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream || response.body === null) throw notPawl(url, response.status);
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  try {
    // Not every browser iterates over a stream.
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const { event = "message", data, id } = read.value;
      // A server that stops says so without an id: the next connection finds out.
      if (event === "error" && id === undefined) continue;
      // The names and shapes are those of the server's own document.
      yield { event, data: parseExact(data), id } as unknown as Followed;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Undefined where it is none. Integers beyond 2^53 are bigints. */
export async function readJson(response: Response): Promise<Json | undefined> {
  try {
    return parseExact(await response.text());
  } catch {
    return undefined;
  }
}
