import { expect, test } from "vitest";
import { agentsGraphs } from "../../test/fakes/agents-graphs.ts";
import type { Graph } from "../core/graph/graph.ts";
import type { JsonObject } from "../core/json.ts";
import { loadDefinition } from "../dialects/load-definition.ts";
import { refuseUnpriced } from "./refuse-unpriced.ts";

/** Only `priced` has a price. */
const app = { hasPrice: async (model: string) => model === "priced" };

async function agents(agent: JsonObject): Promise<Graph> {
  const text = JSON.stringify({ agents: [{ name: "A", ...agent }], workflows: [{ name: "W", steps: ["A"] }] });
  const { graph } = await loadDefinition({ text });
  if (graph === undefined) throw new Error("The file is wrong.");
  return graph;
}

async function sandcastle(more: string): Promise<Graph> {
  const text = `name: x\nsteps:\n  - id: a\n    prompt: Hi.\n    model: dear\n${more}`;
  const { graph } = await loadDefinition({ text });
  if (graph === undefined) throw new Error("The file is wrong.");
  return graph;
}

const INLINE = { agent: "inline" };
const refused = { code: "PRICE_UNKNOWN", message: expect.stringContaining("The model dear of the step") };

test("a budget that could not hold is refused before anything begins", async () => {
  const dear = await agents({ model: "dear" });
  await expect(refuseUnpriced(app, dear, { maxCostMicro: 1, options: {} })).rejects.toMatchObject(refused);
  const ownLimit = await agents({ model: "dear", max_cost_usd: 1 });
  await expect(refuseUnpriced(app, ownLimit, { options: {} })).rejects.toMatchObject(refused);
  const step = await sandcastle("");
  await expect(refuseUnpriced(app, step, { maxCostMicro: 1, options: INLINE })).rejects.toMatchObject(refused);
});

test("and nothing else is", async () => {
  const dear = await agents({ model: "dear" });
  await refuseUnpriced(app, dear, { options: {} });
  await refuseUnpriced(app, dear, { maxCostMicro: 1, options: { agent: "simulated" } });
  await refuseUnpriced(app, await agents({ model: "priced" }), { maxCostMicro: 1, options: {} });
  await refuseUnpriced(app, await agents({}), { maxCostMicro: 1, options: {} });
  await refuseUnpriced(app, await sandcastle(""), { maxCostMicro: 1, options: { agent: "sandstorm" } });
  const mayFail = await sandcastle("    retry: {on_failure: skip}\n");
  await refuseUnpriced(app, mayFail, { maxCostMicro: 1, options: INLINE });
  for (const graph of await agentsGraphs({ workflows: { Empty: [] } }))
    await refuseUnpriced(app, graph, { maxCostMicro: 1, options: {} });
});
