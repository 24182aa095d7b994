import { z } from "zod";
import type { Graph } from "../../../../core/graph/graph.ts";
import type { Event } from "../../../../core/history/events.ts";
import { pageRunEvents } from "../../../../operations/runs/read-run-events.ts";
import { readRunGraph } from "../../../../operations/runs/read-run-graph.ts";
import { listOf } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";

const runId = z.object({ id: z.string().min(1) });

// The document says no more of these: they are the inside of a run, which another version may write otherwise.
const anyEvent = z.looseObject({ type: z.string(), at: z.number() }) as unknown as z.ZodType<Event, Event>;
const anyGraph = z.looseObject({ format: z.number(), name: z.string() }) as unknown as z.ZodType<Graph, Graph>;

const eventSchema = z.object({ seq: z.number().int(), event: anyEvent }).meta({ id: "RunEvent" });

/** `GET /runs/{id}/events`: the journal as it is, for who looks inside. */
export const readRunEventsEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs/{id}/events",
  id: "readRunEvents",
  summary: "A run's journal, oldest first",
  tag: "runs",
  scope: "read",
  params: runId,
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(1_000).default(200),
    cursor: z
      .string()
      .regex(/^\d{1,12}$/)
      .optional()
      .describe("`next_cursor` of the page before."),
  }),
  answer: listOf(eventSchema),
  async handle({ app, params, query }) {
    const { items, nextCursor } = await pageRunEvents(app, params.id, {
      limit: query.limit,
      afterSeq: Number(query.cursor ?? 0),
    });
    return { data: { items, next_cursor: nextCursor } };
  },
});

/** `GET /runs/{id}/graph`: what the run goes by, whatever has become of its definition. */
export const readRunGraphEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs/{id}/graph",
  id: "readRunGraph",
  summary: "The graph that a run goes by",
  tag: "runs",
  scope: "read",
  params: runId,
  query: z.strictObject({
    called: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe("The hash in a `callResolved` event of the run: the graph that it has called."),
  }),
  answer: anyGraph,
  async handle({ app, params, query }) {
    return { data: await readRunGraph(app, params.id, query.called) };
  },
});
