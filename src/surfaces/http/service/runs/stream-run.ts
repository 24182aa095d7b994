import type { z } from "zod";
import { findRun } from "../../../../operations/runs/find-run.ts";
import type { streamRun } from "../../../../operations/runs/follow/follow-runs.ts";
import { streamRun as followRun } from "../../../../operations/runs/follow/stream-run.ts";
import { endIdOf, type StreamedChange } from "../../../../operations/runs/follow/streamed-change.ts";
import { answerEventStream } from "../event-stream.ts";
import type { Asked } from "../serve-operation.ts";

/** Tells what happens in a run until it has ended. `Last-Event-ID` goes on where a follower was. */
export async function serveRunStream(
  { parts, c }: Asked,
  { id: given, after: sent, progress, events }: z.output<typeof streamRun.input>,
): Promise<Response> {
  // An unknown run is an answer of its own, not a stream that ends.
  const app = parts.appFor(c);
  const run = await findRun(app, given);
  const { id } = run;
  c.set("runId", id);
  const after = c.req.header("last-event-id") ?? sent;
  // Browsers ask again whenever a stream ends, until they are told that there is no more of it.
  if (run.completedAt !== undefined && after === endIdOf(run)) return new Response(null, { status: 204 });
  return answerEventStream(parts, (stop) => {
    const options = { followed: parts.followed, withProgress: progress, withEvents: events, after };
    return toSent(followRun(app, id, options, stop));
  });
}

async function* toSent(changes: AsyncGenerator<StreamedChange>) {
  for await (const change of changes) {
    const { event, data } = change;
    yield { event, data, ...("id" in change ? { id: change.id } : {}) };
  }
}
