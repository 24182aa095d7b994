import { z } from "zod";
import type { StartPorts } from "../application/ports.ts";
import { graphExplanationSchema } from "../definitions/explain/graph-schemas.ts";
import { validationSchema } from "../definitions/workflow-schemas.ts";
import { byItsSurfaces, defineOperation, type OperationContext } from "../operation.ts";
import { idField } from "../schemas.ts";
import { validateText } from "./validate-definition.ts";

export const validateWorkflow = defineOperation({
  id: "validateWorkflow",
  summary: "Check a definition without saving it",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    text: z.string().min(1).describe("A definition in any of the formats."),
    graph: z
      .boolean()
      .default(false)
      .describe("Tell what each workflow does, in which order, as `GET /workflows/{name}` does."),
  }),
  output: validationSchema,
  errors: ["DEFINITION_TOO_COSTLY"],
  http: { method: "POST", path: "/workflows/validate" },
  // Files of this machine are checked with those that they name.
  cli: { byHand: ["validate"] },
  mcp: {
    tool: "validate_workflow",
    title: "Check a definition",
    description: "Every problem of a definition at once, with line and column. Nothing is saved or run.",
    names: { text: "yaml_content" },
    without: ["graph"],
  },
  handle: ({ app }: OperationContext<StartPorts>, { text, graph }) => validateText(app, text, graph),
});

export const explainWorkflow = defineOperation({
  id: "explainWorkflow",
  summary: "Show what a workflow does, in which order",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ workflow: idField("A file, FILE#NAME, or the name of a registered workflow.") }),
  output: graphExplanationSchema,
  http: { no: "`showWorkflow` answers with it." },
  cli: { byHand: ["graph"] },
  mcp: { no: "`get_workflow` answers with it." },
  handle: byItsSurfaces,
});
