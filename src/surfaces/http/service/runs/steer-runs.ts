import { z } from "zod";
import { cancelRun } from "../../../../operations/runs/cancel-run.ts";
import { resumeRun } from "../../../../operations/runs/resume-run.ts";
import { acceptedRunSchema } from "../../../../operations/runs/run-schemas.ts";
import { sendSignal } from "../../../../operations/runs/send-signal.ts";
import { jsonSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";

const runId = z.object({ id: z.string().min(1) });

/** `POST /runs/{id}/cancel`: a second one ends the run without waiting for what flies. */
export const cancelRunEndpoint = defineEndpoint({
  method: "POST",
  path: "/runs/{id}/cancel",
  id: "cancelRun",
  summary: "Cancel a run",
  tag: "runs",
  scope: "run",
  params: runId,
  body: z.strictObject({ reason: z.string().max(2_000).optional() }),
  answer: acceptedRunSchema,
  status: 202,
  async handle({ app, params, body, c }) {
    const reason = body.reason === undefined ? {} : { reason: body.reason };
    const record = await cancelRun(app, params.id, { by: "api", ...reason });
    c.set("runId", record.id);
    return { data: { run_id: record.id, status: record.status } };
  },
});

/** `POST /runs/{id}/resume`: goes on with a run that was laid down. */
export const resumeRunEndpoint = defineEndpoint({
  method: "POST",
  path: "/runs/{id}/resume",
  id: "resumeRun",
  summary: "Go on with a run that was laid down",
  tag: "runs",
  scope: "run",
  params: runId,
  answer: acceptedRunSchema.extend({
    changes: z.array(z.string()).describe("What has changed of its files: it goes on with what it began with."),
  }),
  status: 202,
  async handle({ app, params, c }) {
    const { record, changes } = await resumeRun(app, params.id);
    c.set("runId", record.id);
    return { data: { run_id: record.id, status: record.status, changes } };
  },
});

/** `POST /runs/{id}/signals`: the event that a run waits for, or will wait for, has happened. */
export const signalRun = defineEndpoint({
  method: "POST",
  path: "/runs/{id}/signals",
  id: "signalRun",
  summary: "Tell a run that an event has happened",
  tag: "runs",
  scope: "run",
  params: runId,
  body: z.strictObject({ name: z.string().min(1).max(1_000), payload: jsonSchema.optional() }),
  answer: z.object({ run_id: z.string(), name: z.string() }),
  status: 202,
  async handle({ app, params, body, c }) {
    const { name, payload = null } = body;
    const { id } = await sendSignal(app, params.id, { name, payload });
    c.set("runId", id);
    return { data: { run_id: id, name } };
  },
});
