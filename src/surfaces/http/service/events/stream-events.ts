import { z } from "zod";
import { EVENT_ID } from "../../../../operations/events/event-feed.ts";
import { streamEvents } from "../../../../operations/events/stream-events.ts";
import { defineEndpoint } from "../endpoint.ts";
import { answerEventStream } from "../event-stream.ts";

/** `GET /events`: what happens in all runs that the caller may see. `Last-Event-ID` goes on where a follower was. */
export const streamEventsEndpoint = defineEndpoint({
  method: "GET",
  path: "/events",
  id: "streamEvents",
  summary: "Follow all runs as server-sent events",
  tag: "runs",
  scope: "read",
  query: z.strictObject({
    after: z
      .string()
      .regex(EVENT_ID, "must be an id of this stream")
      .optional()
      .describe("The id of the last event seen; the header `Last-Event-ID` goes first."),
  }),
  headers: { "Last-Event-ID": "The id of the last event seen." },
  answer: { mediaType: "text/event-stream" },
  async handle({ app, parts, query, c }) {
    const after = c.req.header("last-event-id") ?? query.after;
    return answerEventStream(parts, (stop) => streamEvents(app, parts.feed, after, stop));
  },
});
