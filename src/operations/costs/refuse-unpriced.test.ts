import { describe, expect, test } from "vitest";
import { agentsGraphs } from "../../../test/fakes/agents-graphs.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { loadDefinition } from "../../dialects/load-definition.ts";
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

describe("a step of a UHLP workflow that asks a model", () => {
  const uhlp = async (steps: JsonObject): Promise<Graph> => {
    const { graph, problems } = await loadDefinition({
      text: JSON.stringify({ workflowId: "x", startAt: "a", steps }),
    });
    if (graph === undefined) throw new Error(problems.map(({ message }) => message).join("\n"));
    return graph;
  };
  const asking = (model: string | undefined, transitions: Json): JsonObject => {
    return { type: "llm", target: { prompt: "Hi.", ...(model === undefined ? {} : { model }) }, transitions };
  };
  const refuse = (graph: Graph, defaultModel?: string) =>
    refuseUnpriced(app, graph, { maxCostMicro: 1, options: {}, defaultModel });

  test("is refused like an agent, also behind other steps, and by the default model", async () => {
    await expect(refuse(await uhlp({ a: asking("dear", { end: true }) }))).rejects.toMatchObject(refused);
    const second = { a: asking("priced", { onSuccess: "b" }), b: asking("dear", { end: true }) };
    await expect(refuse(await uhlp(second))).rejects.toMatchObject(refused);
    await expect(refuse(await uhlp({ a: asking(undefined, { end: true }) }), "dear")).rejects.toMatchObject(refused);
  });

  test("is not where it may never be reached, or its failure is provided for", async () => {
    const choice: Json = [{ condition: "trigger.payload.x == 1", nextStep: "b" }, { nextStep: "c" }];
    const branches = {
      a: asking("priced", choice),
      b: asking("dear", { end: true }),
      c: asking("priced", { end: true }),
    };
    await refuse(await uhlp(branches));
    const caught = { a: asking("dear", { onSuccess: "c", onFailure: "c" }), c: asking("priced", { end: true }) };
    await refuse(await uhlp(caught));
    await refuse(await uhlp({ a: asking(undefined, { end: true }) }));
  });
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
