import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { compareWithSource } from "../repeat/compare-with-source.ts";
import { idField, jsonSchema } from "../schemas.ts";
import { cancelUnfinished, findUnfinished } from "./cancel-unfinished.ts";
import { acceptedRunSchema } from "./run-schemas.ts";

const id = idField("The run's id, or the beginning of it.");

export const cancelRun = defineOperation({
  id: "cancelRun",
  summary: "Cancel a run",
  topic: "runs",
  scope: "run",
  effect: { does: "destroys", again: true },
  input: z.strictObject({ id, reason: z.string().max(2_000).optional().describe("Recorded with the end.") }),
  output: acceptedRunSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "RUN_FINISHED"],
  http: { method: "POST", path: "/runs/{id}/cancel", status: 202 },
  cli: { byHand: ["runs cancel"] },
  mcp: {
    tool: "cancel_run",
    title: "Cancel a run",
    description: "Ends a run before its end: nothing but its clean-up steps is started any more.",
    names: { id: "run_id" },
  },
  async handle({ app, by }, { id, reason }) {
    const { id: runId, status } = await cancelUnfinished(app, id, { by, reason });
    return { run_id: runId, status };
  },
});

export const resumeRun = defineOperation({
  id: "resumeRun",
  summary: "Go on with a run that was laid down",
  topic: "runs",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({ id }),
  output: acceptedRunSchema.extend({
    changes: z.array(z.string()).describe("What has changed of its files: it goes on with what it began with."),
  }),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "RUN_FINISHED"],
  http: { method: "POST", path: "/runs/{id}/resume", status: 202 },
  cli: { byHand: ["runs resume"] },
  mcp: {
    tool: "resume_run",
    title: "Resume a run",
    description: "Goes on with a run that was laid down. `changes` says what of its files has changed since it began.",
    names: { id: "run_id" },
  },
  async handle({ app }, input) {
    const found = await findUnfinished(app, input.id);
    const changes = await compareWithSource(app, found);
    const { id: runId, status } = await (await app.host()).resumeRun(found.id);
    return { run_id: runId, status, changes };
  },
});

export const signalRun = defineOperation({
  id: "signalRun",
  summary: "Tell a run that an event has happened",
  topic: "runs",
  scope: "run",
  effect: "writes",
  input: z.strictObject({
    id,
    name: z.string().min(1).max(1_000).describe("The event's: a step waits for it, or will wait for it."),
    payload: jsonSchema.optional().describe("What the waiting step gets as its output."),
  }),
  output: z.object({ run_id: z.string(), name: z.string() }),
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "RUN_FINISHED", "SIGNALS_FULL"],
  http: { method: "POST", path: "/runs/{id}/signals", status: 202 },
  cli: { byHand: ["runs signal"] },
  mcp: {
    tool: "send_signal",
    title: "Signal a run",
    description: "Tells a run that the event that it waits for, or will wait for, has happened.",
    names: { id: "run_id" },
  },
  async handle({ app }, { id, name, payload = null }) {
    const record = await findUnfinished(app, id);
    await (await app.host()).sendSignal(record.id, name, payload);
    return { run_id: record.id, name };
  },
});
