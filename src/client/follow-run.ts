import { setTimeout } from "node:timers/promises";
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

export interface FollowOptions {
  /** The id of the last event that was seen. Absent: from the beginning. */
  readonly after?: string;
  /** Also what steps tell while they work. */
  readonly progress?: boolean;
  /** Also the events of the journal. */
  readonly events?: boolean;
  /** Is told once for every connection that is lost, before another is made. */
  lost?(error: ApiError): void;
  readonly signal?: AbortSignal;
}

interface Connection {
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
  { url, headers, fetch }: Connection,
  runId: string,
  { after, progress = false, events = false, signal, lost }: FollowOptions,
): AsyncGenerator<RunStreamEvent> {
  const address = `${url}/runs/${encodeURIComponent(runId)}/stream?progress=${progress}&events=${events}`;
  let last = after;
  for (let failures = 0; ; failures += 1) {
    try {
      const since = last === undefined ? {} : { "last-event-id": last };
      const asked = {
        redirect: "manual" as const,
        headers: { ...headers, accept: "text/event-stream", ...since },
        ...(signal ? { signal } : {}),
      };
      for await (const event of readEvents(url, await fetch(address, asked))) {
        failures = 0;
        if ("id" in event) last = event.id;
        yield event;
        if (event.event === "end") return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && !isPassing(error)) throw error;
      const failure = error instanceof ApiError ? error : explainFailure(url, error);
      if (failures >= MAX_FAILURES) throw failure;
      if (failures === 0) lost?.(failure);
    }
    await setTimeout(Math.min(FIRST_DELAY_MS * 2 ** failures, LAST_DELAY_MS), undefined, signal ? { signal } : {});
  }
}

/** A server that is busy, stops or starts again. */
function isPassing({ status = 0 }: ApiError): boolean {
  return status === 429 || status >= 500;
}

async function* readEvents(url: string, response: Response): AsyncGenerator<RunStreamEvent> {
  if (response.status >= 300 && response.status < 400)
    throw notPawl(url, response.status, response.headers.get("location"));
  if (!response.ok) throw explainRefusal(url, response.status, await readJson(response));
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream || response.body === null) throw notPawl(url, response.status);
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event = "message", data, id } of events) {
    // A server that stops says so without an id: the next connection finds out.
    if (event === "error" && id === undefined) continue;
    // The names and shapes are those of the server's own document.
    yield { event, data: parseExact(data), id } as unknown as RunStreamEvent;
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
