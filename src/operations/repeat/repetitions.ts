import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { DefinitionPorts } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { describeLineage } from "../runs/describe/describe-lineage.ts";
import { acceptedRunSchema } from "../runs/run-schemas.ts";
import { idempotencyKey, idField, jsonObjectSchema } from "../schemas.ts";
import { describeSubmitted, type RunRequest } from "../start/submit-run.ts";
import type { PreparedRepetition, RepetitionRequest } from "./prepare-repetition.ts";
import { tellRepetition } from "./tell-repetition.ts";

const repetition = {
  id: idField("The run's id, or the beginning of it. It has ended.", "runs ls"),
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
  idempotency_key: idempotencyKey,
};

const startedSchema = acceptedRunSchema.extend({
  from_path: z.string().describe("Empty: the whole run."),
  changes: z
    .array(z.string())
    .describe("What has changed of its files since the old run began, and what is used. Told to who asks first."),
});

const errors = ["RUN_NOT_FOUND", "RUN_NOT_ENDED", "STEP_NOT_FOUND", "INPUT_INVALID", "DEFINITION_INVALID"] as const;

const CURRENT = {
  flags: "--current",
  summary: "with the definition as its file is now, instead of the one that the run began with",
  at: ["definition"],
  value: "current",
};

/** A step and what depends on it run again, and so does what had not succeeded; everything else is taken over. */
export const rerunRun = defineOperation({
  id: "rerunRun",
  summary: "Do a run again from a step",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject(repetition),
  output: startedSchema,
  errors,
  http: {
    method: "POST",
    path: "/runs/{id}/rerun",
    status: 202,
    alias: { id: "replayRun", path: "/runs/{id}/replay" },
  },
  cli: {
    verb: "runs rerun",
    alias: "replay",
    summary: "do a run again from a step; the rest is taken over",
    args: ["id"],
    options: { from_step: "--from <step>", definition: false, idempotency_key: false },
    parts: [CURRENT],
    follows: "always",
    show: tellRepetition,
  },
  mcp: {
    tool: "rerun_run",
    title: "Do a run again",
    description:
      "Starts a new run that takes over what an ended one has achieved, and does a step and what depends on it again.",
    names: { id: "run_id" },
    without: ["definition"],
  },
  handle(
    context: OperationContext<DefinitionPorts>,
    { id: run, from_step: fromStep, definition, idempotency_key: key },
  ) {
    const asked = { run, fromStep, definition };
    return start(context, key, {
      asked: { rerun: asked },
      // These load every dialect. Most commands about runs repeat none.
      prepare: async (runId) =>
        (await import("./prepare-repetition.ts")).prepareRepetition(context.app, { ...asked, runId }),
    });
  },
});

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

export const forkRun = defineOperation({
  id: "forkRun",
  summary: "Do a run again from a step, with something changed",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({ ...repetition, changes: changesSchema }),
  output: startedSchema,
  errors: [...errors, "CHANGE_INVALID"],
  http: { method: "POST", path: "/runs/{id}/fork", status: 202 },
  cli: { byHand: ["runs fork"] },
  mcp: {
    tool: "fork_run",
    isRare: true,
    title: "Do a run again with something changed",
    description:
      "As `rerun_run`, with changes: `input` (name by name), `max_cost_usd`, `timeout` of the run, and `steps` by id with " +
      '`model`, `prompt`, `max_turns`, `max_cost_usd`, `timeout`: {"steps": {"score": {"model": "haiku"}}}.',
    names: { id: "run_id" },
    without: ["definition"],
  },
  handle(
    context: OperationContext<DefinitionPorts>,
    { id: run, from_step: fromStep, definition, idempotency_key: key, ...given },
  ) {
    // The changes were parsed from JSON.
    const asked = { run, fromStep, definition, changes: given.changes as JsonObject };
    return start(context, key, {
      asked: { fork: asked },
      prepare: async (runId) => prepareFork(context.app, { ...asked, runId }),
    });
  },
});

/** A rerun that does something differently: see `readForkChanges`. Where no step is named and one is changed, from there. */
async function prepareFork(
  app: DefinitionPorts,
  { changes, ...request }: RepetitionRequest & { readonly changes: JsonObject },
): Promise<PreparedRepetition> {
  if (Object.keys(changes).length === 0)
    throw new PawlError("CHANGE_INVALID", {
      message: "A fork changes something, and `changes` is empty.",
      remedy: "Say what is to be different, or use a rerun.",
    });
  const { steps } = changes;
  const changed = isJsonObject(steps) ? Object.keys(steps) : [];
  const [only] = changed;
  const from = request.fromStep ?? (changed.length === 1 ? only : undefined);
  const { prepareRepetition } = await import("./prepare-repetition.ts");
  return prepareRepetition(app, { ...request, fromStep: from }, changes);
}

async function start(
  { app, submissions, traceParent }: OperationContext<DefinitionPorts>,
  idempotencyKey: string | undefined,
  request: Pick<RunRequest<PreparedRepetition>, "asked" | "prepare">,
) {
  const submitted = await submissions.start(app, { ...request, idempotencyKey, traceParent });
  const started = describeSubmitted(submitted);
  if (submitted.is === "new") {
    const { fromPath, notices } = submitted.prepared;
    return { ...started, from_path: fromPath, changes: notices };
  }
  const { rerun_of: rerun, forked_from: fork } = await describeLineage((await app.records()).journal, submitted.record);
  return { ...started, from_path: (rerun ?? fork)?.from_path ?? "", changes: [] };
}
