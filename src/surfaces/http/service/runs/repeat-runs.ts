import { z } from "zod";
import type { JsonObject } from "../../../../core/json.ts";
import { prepareFork } from "../../../../operations/fork-run.ts";
import type { PreparedRepetition } from "../../../../operations/prepare-repetition.ts";
import { prepareRerun } from "../../../../operations/rerun-run.ts";
import { defineEndpoint } from "../endpoint.ts";
import { jsonObjectSchema } from "../schemas/common.ts";
import { acceptedRunSchema } from "../schemas/run.ts";

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
};

const startedSchema = acceptedRunSchema.extend({
  from_path: z.string().describe("Empty: the whole run."),
  changes: z.array(z.string()).describe("What has changed of its files since the old run began, and what is used."),
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
    body: z.strictObject(repetitionBody),
    answer: startedSchema,
    status: 202,
    async handle({ app, parts, params, body, c }) {
      const { from_step: fromStep, definition } = body;
      const prepared = await prepareRerun(app, {
        run: params.id,
        ...(fromStep === undefined ? {} : { fromStep }),
        ...(definition === undefined ? {} : { definition }),
      });
      await parts.runner.start(prepared.start);
      c.set("runId", prepared.start.runId);
      return { data: toStarted(prepared) };
    },
  });

/** `POST /runs/{id}/rerun`: recorded outputs are taken over, only the step and what depends on it run again. */
export const rerunRunEndpoint = rerunEndpoint("rerun");

export const replayRunEndpoint = rerunEndpoint("replay");

const changesSchema = z
  .looseObject({
    input: jsonObjectSchema.optional().describe("Values in place of the old run's, name by name."),
    max_cost_usd: z.number().optional().describe("Of the run."),
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
  body: z.strictObject({ ...repetitionBody, changes: changesSchema }),
  answer: startedSchema,
  status: 202,
  async handle({ app, parts, params, body, c }) {
    const { from_step: fromStep, definition, changes } = body;
    const prepared = await prepareFork(app, {
      run: params.id,
      // What was parsed from JSON is JSON.
      changes: changes as JsonObject,
      ...(fromStep === undefined ? {} : { fromStep }),
      ...(definition === undefined ? {} : { definition }),
    });
    await parts.runner.start(prepared.start);
    c.set("runId", prepared.start.runId);
    return { data: toStarted(prepared) };
  },
});

function toStarted({ start, fromPath, notices }: PreparedRepetition) {
  return { run_id: start.runId, status: "queued" as const, from_path: fromPath, changes: notices };
}
