import type { z } from "zod";
import { streamEvents as followEvents } from "../../../../operations/events/stream-events.ts";
import type { streamEvents } from "../../../../operations/runs/follow/follow-runs.ts";
import { answerEventStream } from "../event-stream.ts";
import type { Asked } from "../serve-operation.ts";

/** Tells what happens in all runs that the caller may see. `Last-Event-ID` goes on where a follower was. */
export async function serveEventStream(
  { parts, c }: Asked,
  { after: sent }: z.output<typeof streamEvents.input>,
): Promise<Response> {
  const after = c.req.header("last-event-id") ?? sent;
  return answerEventStream(parts, (stop) => followEvents(parts.appFor(c), parts.feed, after, stop));
}
