import { z } from "zod";
import { EVENT_ID } from "../../events/event-feed.ts";
import { byItsSurfaces, defineOperation } from "../../operation.ts";
import { idField } from "../../schemas.ts";

const headers = { "Last-Event-ID": "The id of the last event seen." };

export const streamRun = defineOperation({
  id: "streamRun",
  summary: "Follow a run as server-sent events",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    id: idField("The run's id, or the beginning of it.", "runs ls"),
    after: z
      .string()
      .max(40)
      .optional()
      .describe(
        "The id of the last event seen, or the number of an event of its journal (`last_seq` of its steps); the header " +
          "`Last-Event-ID` goes first.",
      ),
    progress: z
      .boolean()
      .default(false)
      .describe("Also what steps tell while they work: `progress`, and `live` for the text of agents as it comes."),
    events: z.boolean().default(false).describe("Also the events of its journal, as `event` with `seq` and `event`."),
  }),
  output: z.unknown(),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS"],
  http: { method: "GET", path: "/runs/{id}/stream", headers, answers: "text/event-stream", otherStatuses: [204] },
  cli: { byHand: ["runs watch"] },
  mcp: { no: "`run_workflow` waits where that is asked for, and tells how far the run is." },
  handle: byItsSurfaces,
});

export const streamEvents = defineOperation({
  id: "streamEvents",
  summary: "Follow all runs as server-sent events",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    after: z
      .string()
      .regex(EVENT_ID, "must be an id of this stream")
      .optional()
      .describe("The id of the last event seen; the header `Last-Event-ID` goes first."),
  }),
  output: z.unknown(),
  http: { method: "GET", path: "/events", headers, answers: "text/event-stream" },
  cli: { no: "`runs watch` follows one run; programs read the stream itself." },
  mcp: { no: "A model asks for what it wants to know." },
  handle: byItsSurfaces,
});
