import type { Context } from "hono";
import { z } from "zod";
import type { JsonObject } from "../../../../core/json.ts";
import type { Application } from "../../../../operations/application/application.ts";
import { prepareFork } from "../../../../operations/repeat/fork-run.ts";
import type { PreparedRepetition, RepetitionRequest } from "../../../../operations/repeat/prepare-repetition.ts";
import { prepareRerun } from "../../../../operations/repeat/rerun-run.ts";
import { describeLineage } from "../../../../operations/runs/describe-lineage.ts";
import { acceptedRunSchema } from "../../../../operations/runs/run-schemas.ts";
import { jsonObjectSchema } from "../../../../operations/schemas.ts";
import { describeSubmitted, type Submitted } from "../../../../operations/start/submit-run.ts";
import type { HttpEnv } from "../../http-parts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from "../idempotency-key.ts";

const runId = z.object({ id: z.string().min(1) });

const repetitionBody = {
  from_step: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe("A step's id or the path of an instance; absent: the first that failed, of a completed run all of it."),
  definition: z
    .enum(["pinned", "current"])
    .optional()
    .describe("What the run began with (the default), or its file as it is now."),
  idempotency_key: z.string().min(1).max(255).optional().describe("The same as the header `Idempotency-Key`."),
};

const startedSchema = acceptedRunSchema.extend({
  from_path: z.string().describe("Empty: the whole run."),
  changes: z
    .array(z.string())
    .describe("What has changed of its files since the old run began, and what is used. Told to who asks first."),
});

const rerunEndpoint = (name: "rerun" | "replay") =>
  defineEndpoint({
    method: "POST",
    path: `/runs/{id}/${name}`,
    id: name === "rerun" ? "rerunRun" : "replayRun",
    summary: name === "rerun" ? "Do a run again from a step" : "Another name of rerun",
    tag: "runs",
    scope: "run",
    params: runId,
    headers: IDEMPOTENCY_HEADER,
    body: z.strictObject(repetitionBody),
    answer: startedSchema,
    status: 202,
    async handle({ app, parts, params, body, c }) {
      const asked = toRequest(params.id, body);
      const submitted = await parts.submissions.start(app, {
        asked: { rerun: asked },
        prepare: (runId) => prepareRerun(app, { ...asked, runId }),
        idempotencyKey: readIdempotencyKey(c, body.idempotency_key),
        traceParent: c.req.header("traceparent"),
      });
      return { data: await describeStarted(app, c, submitted) };
    },
  });

/** `POST /runs/{id}/rerun`: recorded outputs are taken over, only the step and what depends on it run again. */
export const rerunRunEndpoint = rerunEndpoint("rerun");

export const replayRunEndpoint = rerunEndpoint("replay");

const changesSchema = z
  .looseObject({
    input: jsonObjectSchema.optional().describe("Values in place of the old run's, name by name."),
    max_cost_usd: z.number().optional().describe("Of the run."),
    limits: z
      .looseObject({})
      .optional()
      .describe("Of the run: `max_cost_usd`, `max_tokens`, `max_steps`, `max_seconds`, `on_exceeded`."),
    timeout: z.number().optional().describe("Of the run, in seconds."),
    steps: z
      .record(z.string(), z.looseObject({}))
      .optional()
      .describe("By step: `model`, `prompt`, `max_turns`, `max_cost_usd`, `timeout` (seconds)."),
    model: z.string().optional().describe("Of the step that is forked from; so are `prompt` and `max_turns`."),
    prompt: z.string().optional(),
    max_turns: z.number().optional(),
  })
  .meta({ id: "Changes", description: "What a fork does differently." });

/** `POST /runs/{id}/fork`: a rerun with something changed. */
export const forkRunEndpoint = defineEndpoint({
  method: "POST",
  path: "/runs/{id}/fork",
  id: "forkRun",
  summary: "Do a run again from a step, with something changed",
  tag: "runs",
  scope: "run",
  params: runId,
  headers: IDEMPOTENCY_HEADER,
  body: z.strictObject({ ...repetitionBody, changes: changesSchema }),
  answer: startedSchema,
  status: 202,
  async handle({ app, parts, params, body, c }) {
    // What was parsed from JSON is JSON.
    const asked = { ...toRequest(params.id, body), changes: body.changes as JsonObject };
    const submitted = await parts.submissions.start(app, {
      asked: { fork: asked },
      prepare: (runId) => prepareFork(app, { ...asked, runId }),
      idempotencyKey: readIdempotencyKey(c, body.idempotency_key),
      traceParent: c.req.header("traceparent"),
    });
    return { data: await describeStarted(app, c, submitted) };
  },
});

interface RepetitionBody {
  readonly from_step?: string | undefined;
  readonly definition?: "pinned" | "current" | undefined;
}

function toRequest(run: string, { from_step: fromStep, definition }: RepetitionBody): RepetitionRequest {
  return { run, fromStep, definition };
}

async function describeStarted(app: Application, c: Context<HttpEnv>, submitted: Submitted<PreparedRepetition>) {
  const started = describeSubmitted(submitted);
  c.set("runId", started.run_id);
  if (submitted.is === "new") {
    const { fromPath, notices } = submitted.prepared;
    return { ...started, from_path: fromPath, changes: notices };
  }
  const { rerun_of: rerun, forked_from: fork } = await describeLineage((await app.records()).journal, submitted.record);
  return { ...started, from_path: (rerun ?? fork)?.from_path ?? "", changes: [] };
}
