import { z } from "zod";
import { jsonObjectSchema, timeSchema } from "../../../../operations/schemas.ts";

/** `code`, `severity`, `message`, `remedy`, `rendered` and, where it has one, `place` {line, column}. */
export const problemsSchema = z
  .array(jsonObjectSchema)
  .describe("Errors and warnings, each with its place and remedy.");

export const workflowSummarySchema = z
  .object({
    name: z.string(),
    source: z.enum(["file", "saved"]),
    file: z.string().nullable().describe("Relative to the application."),
    version: z.number().int().nullable().describe("The newest one of a saved definition."),
    dialect: z.string().nullable().describe("Null: it is not valid."),
    description: z.string().nullable(),
    valid: z.boolean(),
    problems: problemsSchema,
    input_schema: jsonObjectSchema.nullable(),
  })
  .meta({ id: "WorkflowSummary", description: "A workflow that can be started by its name." });

export const workflowSchema = workflowSummarySchema
  .extend({
    text: z.string().describe("The definition as it is written; secrets are masked."),
    graph: z.unknown().describe("What it does, in which order; null where it is not valid."),
  })
  .meta({ id: "Workflow", description: "A workflow with its definition." });

export const versionSchema = z
  .object({ name: z.string(), version: z.number().int(), saved_at: timeSchema })
  .meta({ id: "WorkflowVersion" });

export const savedVersionSchema = versionSchema
  .extend({ is_new: z.boolean().describe("False: the newest version says the same."), problems: problemsSchema })
  .meta({ id: "SavedWorkflow" });
