import { writeExact } from "../../../core/exact-json.ts";
import { currentRequest } from "../../../operations/limits/quotas.ts";
import { passTurn } from "../../../ports/turns.ts";
import type { HttpParts } from "../http-parts.ts";

export interface SentEvent {
  readonly event: string;
  readonly data: unknown;
  /** Absent: it cannot be asked for again. */
  readonly id?: string;
}

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;

/**
 * Server-sent events. Each is made when the client has taken the one before, so that a slow reader is behind and fills no
 * memory. A sign of life every 15 s; when the server stops, the client is told to come back.
 */
export function answerEventStream(
  parts: Pick<HttpParts, "streams" | "onDefect">,
  begin: (stop: AbortSignal) => AsyncGenerator<SentEvent>,
): Response {
  currentRequest()?.take("streams", 1);
  const gone = new AbortController();
  const events = begin(AbortSignal.any([gone.signal, parts.streams.stopping]));
  const encoder = new TextEncoder();
  let pending: Promise<IteratorResult<SentEvent>> | undefined;
  // Not before it is read: a `HEAD` request never does.
  let isOpen = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isOpen) {
          isOpen = true;
          parts.streams.opened();
          return controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
        }
        try {
          // A client that is near takes what is sent at once, and nothing would wait in between.
          await passTurn();
          pending ??= events.next();
          const next = await orHeartbeat(pending);
          // Who left meanwhile takes no more, and `cancel` has seen to it.
          if (gone.signal.aborted) return;
          if (next === "heartbeat") return controller.enqueue(encoder.encode(": heartbeat\n\n"));
          pending = undefined;
          if (next.done !== true) return controller.enqueue(encoder.encode(toText(next.value)));
          if (parts.streams.stopping.aborted) controller.enqueue(encoder.encode(toText(STOPPING)));
        } catch (error) {
          parts.onDefect(error);
          if (gone.signal.aborted) return;
        }
        parts.streams.closed();
        controller.close();
      },
      async cancel() {
        gone.abort();
        if (isOpen) parts.streams.closed();
        await events.return(undefined);
      },
    },
    // Nothing is made ahead of who reads.
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}

const STOPPING: SentEvent = {
  event: "error",
  data: { code: "SERVER_STOPPING", message: "This process stops; ask again with the last id." },
};

async function orHeartbeat<T>(next: Promise<T>): Promise<T | "heartbeat"> {
  const { promise, resolve } = Promise.withResolvers<"heartbeat">();
  const timer = setTimeout(() => resolve("heartbeat"), HEARTBEAT_MS);
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** JSON has no line breaks of its own, so one `data` line holds it. */
function toText({ event, data, id }: SentEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${writeExact(data)}\n\n`;
}
