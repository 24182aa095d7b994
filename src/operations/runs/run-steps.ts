import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { idField } from "../schemas.ts";
import { stepStatusSchema } from "./run-schemas.ts";
import { listSteps } from "./steps/list-steps.ts";
import { stepSpansSchema } from "./steps/step-schemas.ts";

const id = idField("The run's id, or the beginning of it.", "runs ls");

const asOf = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .describe("The number of an event: the run as it was then. Absent: as it is now.");

const status = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((each) => each.split(",")))
  .pipe(z.array(stepStatusSchema));

export const listRunSteps = defineOperation({
  id: "listRunSteps",
  summary: "List the steps of a run in time: attempts, waits, costs and errors, no values",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    id,
    limit: z.coerce.number().int().min(1).max(1_000).default(200).describe("At most so many."),
    cursor: z.string().min(1).max(2_200).optional().describe("`next_cursor` of the page before."),
    status: status
      .optional()
      .describe(
        "Only those with one of these, and fan-outs with an item that has; separated by commas, or given more than once.",
      ),
    under: z
      .string()
      .min(1)
      .max(2_200)
      .optional()
      .describe(
        "The path of a fan-out (`enrich`): its items. The path of an instance (`batch[2]`): itself, and what is inside it. " +
          "Absent: all of the run. In each of these a fan-out is one entry with the counts of its items.",
      ),
    as_of: asOf,
  }),
  output: stepSpansSchema,
  errors: ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "STEP_NOT_FOUND"],
  http: { method: "GET", path: "/runs/{id}/steps" },
  cli: { no: "`runs show` lists the steps, `runs watch` draws them." },
  mcp: { no: "`get_run_status` lists the steps with their outcome." },
  handle: ({ app }, { id, as_of, ...wanted }) => listSteps(app, id, { ...wanted, asOf: as_of }),
});
