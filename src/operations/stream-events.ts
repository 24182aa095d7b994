import { PawlError } from "../core/errors/pawl-error.ts";
import type { JsonObject } from "../core/json.ts";
import type { Application } from "./application.ts";
import type { EventFeed } from "./event-feed.ts";

export interface StreamedEvent {
  readonly event: string;
  readonly id: string;
  readonly data: JsonObject;
}

const PAGE = 100;

/** An id of this stream: which process told it, and its number there. */
export const EVENT_ID = /^([0-9a-z]{1,20})-(\d{1,15})$/;

/**
 * What happens in all runs that the caller may see: from now on, or behind the event with the id `after`. Within one process
 * that is exact. What is not kept any more, since the reader was too slow or too long away or the process is another one, is
 * told by a `reset`: then the reader looks at the runs again and goes on from here. Throws `REQUEST_INVALID` for what is no id.
 */
export function streamEvents(
  app: Pick<Application, "tenantId">,
  feed: EventFeed,
  after: string | undefined,
  stop: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const ring = feed.ringOf(app.tenantId);
  const toId = (n: number) => `${feed.epoch}-${n}`;
  const begun = after === undefined ? undefined : parse(after);
  const isKnown = begun !== undefined && begun.epoch === feed.epoch && begun.n <= ring.last;
  async function* follow(): AsyncGenerator<StreamedEvent> {
    let position = isKnown ? begun.n : ring.last;
    if (begun === undefined) yield { event: "ready", id: toId(position), data: {} };
    else if (!isKnown) yield toReset(toId(position), null);
    while (!stop.aborted) {
      const { entries, next, missed } = ring.read(position, PAGE);
      if (missed > 0) yield toReset(toId(next - entries.length), missed);
      for (const [index, { event, data }] of entries.entries()) {
        if (stop.aborted) return;
        yield { event, id: toId(next - entries.length + index + 1), data };
      }
      position = next;
      await ring.next(position, stop);
    }
  }
  return follow();
}

function parse(after: string): { readonly epoch: string; readonly n: number } {
  const [, epoch, n] = EVENT_ID.exec(after) ?? [];
  if (epoch !== undefined && n !== undefined) return { epoch, n: Number(n) };
  throw new PawlError("REQUEST_INVALID", { message: "The id is none of this stream." });
}

function toReset(id: string, missed: number | null): StreamedEvent {
  return { event: "reset", id, data: { missed, remedy: "Read GET /runs again, and go on from here." } };
}
