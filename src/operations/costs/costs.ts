import { z } from "zod";
import type { Driving, Place, Principal, Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { givenTimeSchema } from "../schemas.ts";
import { COST_GROUPS, costsSchema, sumCosts as sum } from "./sum-costs.ts";

export const sumCosts = defineOperation({
  id: "sumCosts",
  summary: "Show what runs have cost",
  scope: "read",
  effect: "reads",
  input: z.strictObject({
    by: z.enum(COST_GROUPS).default("workflow").describe("What is summed up together."),
    since: givenTimeSchema.optional().describe("Of runs that were started then or later. Default: 30 days ago."),
    until: givenTimeSchema.optional().describe("Of runs that were started before."),
  }),
  output: costsSchema,
  http: { method: "GET", path: "/costs" },
  cli: { verb: "costs", view: "costs", example: "costs --by model --since 2026-05-01" },
  mcp: {
    tool: "get_costs",
    isRare: true,
    title: "Sum up costs",
    description: "What runs have cost, by workflow, model, day or tenant. What has no known price is counted apart.",
  },
  handle: ({ app }: OperationContext<Place & Principal & Stores & Driving>, wanted) => sum(app, wanted),
});
