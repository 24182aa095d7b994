import { z } from "zod";
import { type Frozen, jsonObjectSchema, timeSchema } from "../schemas.ts";
import { graphExplanationSchema } from "./explain/graph-schemas.ts";

/** `code`, `severity`, `message`, `remedy`, `rendered` and, where it has one, `place` {line, column}. */
export const problemsSchema = z
  .array(jsonObjectSchema)
  .describe("Errors and warnings, each with its place and remedy.");

export const workflowSummarySchema = z
  .object({
    name: z.string(),
    source: z
      .enum(["file", "saved", "terminal library"])
      .describe("A file of the application, saved through the service, or kept by terminals after a success."),
    file: z.string().nullable().describe("Relative to the application."),
    version: z.number().int().nullable().describe("The newest one of a saved definition."),
    dialect: z.string().nullable().describe("Null: it is not valid."),
    description: z.string().nullable(),
    valid: z.boolean(),
    problems: problemsSchema,
    input_schema: jsonObjectSchema.nullable(),
    input_fields: z
      .array(z.string())
      .optional()
      .describe(
        "Fields of the input that it names, at most 100, whether or not a schema declares them. Absent: it is not valid.",
      ),
    created: z.string().optional().describe("When the terminal library got it."),
    success_count: z.number().int().optional().describe("How often one of the terminal library has succeeded."),
  })
  .meta({ id: "WorkflowSummary", description: "A workflow that can be started by its name." });

/** A workflow that can be asked for by its name, or could be if it were valid. */
export type WorkflowSummary = Frozen<z.output<typeof workflowSummarySchema>>;

export const workflowSchema = workflowSummarySchema
  .extend({
    text: z.string().describe("The definition as it is written; secrets are masked."),
    masked: z
      .literal(true)
      .optional()
      .describe("Something of the text is masked: saved again, it would lose that. Absent: it is as it is written."),
    graph: graphExplanationSchema.nullable().describe("Null: it is not valid."),
  })
  .meta({ id: "Workflow", description: "A workflow with its definition." });

export type WorkflowDescription = Frozen<z.output<typeof workflowSchema>>;

export const versionSchema = z
  .object({ name: z.string(), version: z.number().int(), saved_at: timeSchema })
  .meta({ id: "WorkflowVersion" });

export type SavedVersion = Frozen<z.output<typeof versionSchema>>;

export const savedVersionSchema = versionSchema
  .extend({ is_new: z.boolean().describe("False: the newest version says the same."), problems: problemsSchema })
  .meta({ id: "SavedWorkflow" });

export type SavedWorkflowVersion = Frozen<z.output<typeof savedVersionSchema>>;

export const validationSchema = z.object({
  valid: z.boolean(),
  problems: problemsSchema,
  workflows: z.array(
    z.object({
      name: z.string(),
      dialect: z.string(),
      steps: z.number().int(),
      ready: z
        .boolean()
        .optional()
        .describe("False: a run of it would not begin here, for what `problems` say. Absent: that was not looked at."),
      graph: graphExplanationSchema
        .nullable()
        .optional()
        .describe("What it does, in which order. Null: all steps are more than 2,000. Absent: not asked for."),
    }),
  ),
  agents: z.number().int().optional().describe("How many agents it has, if it is a file of agents."),
});

export type TextValidation = Frozen<z.output<typeof validationSchema>>;
