import { z } from "zod";
import { findRun } from "../../../../operations/runs/find-run.ts";
import { streamRun } from "../../../../operations/runs/stream-run.ts";
import { endIdOf, type StreamedChange } from "../../../../operations/runs/streamed-change.ts";
import { defineEndpoint } from "../endpoint.ts";
import { answerEventStream } from "../event-stream.ts";

/** `GET /runs/{id}/stream`: what happens in a run, until it has ended. `Last-Event-ID` goes on where a follower was. */
export const streamRunEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs/{id}/stream",
  id: "streamRun",
  summary: "Follow a run as server-sent events",
  tag: "runs",
  scope: "read",
  params: z.object({ id: z.string().min(1) }),
  query: z.strictObject({
    after: z
      .string()
      .max(40)
      .optional()
      .describe("The id of the last event seen; the header `Last-Event-ID` goes first."),
    progress: z
      .stringbool()
      .default(false)
      .describe("Also what steps tell while they work: `progress`, and `live` for the text of agents as it comes."),
    events: z
      .stringbool()
      .default(false)
      .describe("Also the events of its journal, as `event` with `seq` and `event`."),
  }),
  headers: { "Last-Event-ID": "The id of the last event seen." },
  answer: { mediaType: "text/event-stream" },
  otherStatuses: [204],
  async handle({ app, parts, params, query, c }) {
    // An unknown run is an answer of its own, not a stream that ends.
    const run = await findRun(app, params.id);
    const { id } = run;
    c.set("runId", id);
    const after = c.req.header("last-event-id") ?? query.after;
    // Browsers ask again whenever a stream ends, until they are told that there is no more of it.
    if (run.completedAt !== undefined && after === endIdOf(run)) return new Response(null, { status: 204 });
    return answerEventStream(parts, (stop) => {
      const options = { followed: parts.followed, withProgress: query.progress, withEvents: query.events, after };
      return toSent(streamRun(app, id, options, stop));
    });
  },
});

async function* toSent(changes: AsyncGenerator<StreamedChange>) {
  for await (const change of changes) {
    const { event, data } = change;
    yield { event, data, ...("id" in change ? { id: change.id } : {}) };
  }
}
