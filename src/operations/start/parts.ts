import { z } from "zod";
import type { Execution, Place } from "../application/ports.ts";
import { byItsSurfaces, defineOperation, type OperationContext } from "../operation.ts";
import { idField, jsonObjectSchema } from "../schemas.ts";
import { renderPrompt as render } from "./render-prompt.ts";

/** Shared by operations over a part of a workflow. They are for people who write its files. */
const common = {
  http: { no: "Authors try a part of a workflow on their own machine." },
  mcp: { no: "`get_run_status` and `get_workflow` tell a model more." },
} as const;

const input = jsonObjectSchema.default({}).describe("What the step is given.");

export const runStep = defineOperation({
  ...common,
  id: "runStep",
  summary: "Run one step of a workflow alone",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({
    workflow: idField("A file, FILE#NAME, or the name of a registered workflow."),
    step: idField("The step's id."),
    input,
  }),
  output: z.unknown(),
  cli: { byHand: ["step"] },
  handle: byItsSurfaces,
});

export const renderPrompt = defineOperation({
  ...common,
  id: "renderPrompt",
  summary: "Show what a model would be asked",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ prompt: idField("A prompt file, or WORKFLOW:STEP."), input }),
  output: z.looseObject({ prompt: z.string() }),
  errors: ["FILE_NOT_FOUND", "WORKFLOW_NOT_FOUND", "STEP_NOT_FOUND", "PROMPT_INVALID", "DEFINITION_INVALID"],
  cli: { verb: "prompt render", args: ["prompt"], show: ({ prompt }) => ({ data: prompt }) },
  async handle({ app, folder = app.appDir }: OperationContext<Place & Execution>, given) {
    const { text, settings } = await render(app, { reference: given.prompt, folder, input: given.input });
    return { prompt: text, ...settings };
  },
});
