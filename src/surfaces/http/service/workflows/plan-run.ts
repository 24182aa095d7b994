import { planRun } from "../../../../operations/plan/plan-run.ts";
import { toStartable } from "../../../../operations/start/prepare-submission.ts";
import { defineEndpoint } from "../endpoint.ts";
import { planRequestSchema, planSchema } from "../schemas/plan.ts";

/** `POST /workflows/plan`: runs nothing and writes nothing. */
export const planRunEndpoint = defineEndpoint({
  method: "POST",
  path: "/workflows/plan",
  id: "planRun",
  summary: "What a run would cost at worst",
  tag: "costs",
  scope: "run",
  body: planRequestSchema,
  answer: planSchema,
  async handle({ app, body }) {
    const { workflow, part, input = {}, agent, max_cost_usd: maxCostUsd, assume = {} } = body;
    const given = Object.entries(assume).filter(([, tokens]) => tokens !== undefined);
    const data = await planRun(app, await toStartable(app, { workflow, input, part }), {
      folder: app.appDir,
      agent,
      maxCostUsd,
      assume: Object.fromEntries(given),
    });
    return { data };
  },
});
