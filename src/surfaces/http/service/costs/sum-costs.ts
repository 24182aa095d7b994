import { z } from "zod";
import { COST_GROUPS, sumCosts } from "../../../../operations/costs/sum-costs.ts";
import { givenTimeSchema, timeSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";

const sumSchema = z.object({
  runs: z.number(),
  cost_usd: z.number().nullable().describe("With `unpriced_attempts` a lower bound; `null`: nothing of it is known."),
  unpriced_attempts: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
});

/** `GET /costs`: of the caller's own runs. */
export const sumCostsEndpoint = defineEndpoint({
  method: "GET",
  path: "/costs",
  id: "sumCosts",
  summary: "What runs have cost",
  tag: "costs",
  scope: "read",
  query: z.strictObject({
    by: z.enum(COST_GROUPS).default("workflow"),
    since: givenTimeSchema.optional().describe("Started then or later. Default: 30 days ago."),
    until: givenTimeSchema.optional().describe("Started before."),
  }),
  answer: z
    .object({
      by: z.enum(COST_GROUPS),
      since: timeSchema,
      until: timeSchema.nullable(),
      items: z.array(sumSchema.extend({ key: z.string().nullable() })),
      total: sumSchema,
      counted_from: timeSchema.nullable().describe("Set where there are too many runs: the sums hold from then on."),
    })
    .meta({ id: "Costs" }),
  async handle({ app, query: { by, since, until } }) {
    const data = await sumCosts(app, { by, since, until });
    return { data };
  },
});
