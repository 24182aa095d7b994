import { z } from "zod";
import { compareRuns } from "../../../../operations/runs/compare-runs.ts";
import { defineEndpoint } from "../endpoint.ts";

const changeSchema = z.object({ changed: z.boolean(), diff: z.string().nullable() });
const pairOf = <Value extends z.ZodType>(value: Value) => z.object({ a: value, b: value });

const comparisonSchema = z
  .object({
    run_id: pairOf(z.string()),
    workflow_name: pairOf(z.string()),
    status: pairOf(z.string()),
    total_cost_usd: pairOf(z.number()).extend({ delta: z.number() }),
    duration_seconds: pairOf(z.number().nullable()),
    definition: changeSchema,
    input: changeSchema,
    outputs: changeSchema,
    steps: z.array(
      z.object({
        path: z.string(),
        only_in: z.enum(["a", "b"]).nullable(),
        status: pairOf(z.string().nullable()),
        output_changed: z.boolean(),
        output_diff: z.string().nullable().describe("Unified; null: none, or too large to be shown."),
        prompt_changed: z.boolean(),
        cost_usd_delta: z.number().nullable(),
      }),
    ),
    steps_left_out: z.int(),
  })
  .meta({ id: "RunComparison", description: "How two runs differ." });

/** `GET /runs/compare?a=&b=`. */
export const compareRunsEndpoint = defineEndpoint({
  method: "GET",
  path: "/runs/compare",
  id: "compareRuns",
  summary: "Compare two runs",
  tag: "runs",
  scope: "read",
  query: z.strictObject({ a: z.string().min(1).max(200), b: z.string().min(1).max(200) }),
  answer: comparisonSchema,
  async handle({ app, query }) {
    return { data: await compareRuns(app, query.a, query.b) };
  },
});
