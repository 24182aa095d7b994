import { expect, test } from "vitest";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { renderPlan } from "../../surfaces/cli/render/pages/render-plan.ts";
import type { Plan } from "./plan-schemas.ts";

/** Dollars for a million tokens: so many micro-dollars for one. */
const PRICES = { "vllm:a": { input: 1, output: 10 } };
const VLLM = { kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" } as const;
/** Nothing but what a prompt says. */
const NOTHING = { output_tokens: 100, value_tokens: 0, tool_tokens: 0, overhead_tokens: 0 };

async function plan(definition: string, input: JsonObject = {}, more: JsonObject = {}, settings = {}): Promise<Plan> {
  const world = new HttpWorld([], { models: { prices: PRICES, providers: { vllm: VLLM } }, ...settings });
  const body = { workflow: definition, input, agent: "inline", assume: NOTHING, ...more };
  const response = await world.post("/workflows/plan", body);
  const answer: unknown = await response.json();
  if (response.status !== 200 || !isJsonObject(answer)) throw new Error(JSON.stringify(answer));
  expect(await world.world.journal.countRuns({})).toBe(0);
  return answer["data"] as unknown as Plan;
}

const FAN_OUT = `
name: leads
default_model: vllm:a
default_max_turns: 2
steps:
  - id: scrape
    prompt: "Look."
    parallel_over: input.companies
    retry: { max_attempts: 3 }
  - id: sum
    depends_on: [scrape]
    prompt: "{steps.scrape.output}"
    max_turns: 1
`;

test("a step that follows the items of another says so", async () => {
  const { steps } = await plan(`${FAN_OUT}  - { id: mail, depends_on: [scrape], each: scrape, prompt: Hi. }\n`, {
    companies: ["a", "b"],
  });
  expect(steps.map(({ step, follows }) => [step, follows])).toEqual([
    ["scrape", undefined],
    ["sum", undefined],
    ["mail", "scrape"],
  ]);
});

test("a list of the input is counted, and every try and turn is paid", async () => {
  const { steps, total, warnings } = await plan(FAN_OUT, { companies: ["a", "b"] });

  const [scrape, sum] = steps;
  expect(scrape).toMatchObject({ step: "scrape", instances: { is: "exact", count: 2 }, attempts: 3, max_turns: 2 });
  const { first_input: first } = scrape?.tokens ?? {};
  // Two turns; the second one sends the answer of the first again.
  const attempt = (Number(first) + 1_000 + Number(first) + 100 + 1_000) / 1_000_000;
  expect(scrape?.attempt_usd).toBeCloseTo(attempt, 9);
  expect(scrape?.cost).toEqual({ is: "bounded", usd: expect.closeTo(attempt * 2 * 3, 9) });
  // It reads both answers.
  expect(sum?.tokens?.first_input).toBeGreaterThanOrEqual(200);
  expect(total.usd).toBeCloseTo((scrape?.cost.usd ?? 0) + (sum?.cost.usd ?? 0), 6);
  expect(warnings).toEqual([]);
});

test("a list that a step makes has no known length, and so the cost has no bound but a budget's", async () => {
  const find = "steps:\n  - id: find\n    prompt: Find them.\n";
  const made = FAN_OUT.replace("input.companies", "steps.find.output\n    depends_on: [find]").replace(
    "steps:\n",
    find,
  );
  const { steps, total, budgets } = await plan(made, {}, { max_cost_usd: 2 });

  expect(steps.map(({ cost: { is } }) => is)).toEqual(["bounded", "unbounded", "unbounded"]);
  expect(steps[1]).toMatchObject({ instances: { is: "unknown", count: null }, cost: { usd: null } });
  expect(steps[1]?.attempt_usd).toBeGreaterThan(0);
  expect(total).toMatchObject({ is: "unbounded", usd: null, at_most_usd: 2 });
  expect(budgets).toEqual([{ budget: "run", limit_usd: 2, from: "request", stops: "unknown" }]);
});

test("a model without a known price is unpriced, never free, and what a step may cost bounds it", async () => {
  const steps = "steps:\n  - { id: a, prompt: x }\n  - { id: b, prompt: x, max_cost_usd: 0.5 }\n";
  const planned = await plan(`name: x\ndefault_model: vllm:unlisted\n${steps}`);

  expect(planned.steps.map(({ cost }) => cost)).toEqual([
    { is: "unpriced", usd: null, because: "its model has no known price" },
    { is: "bounded", usd: 0.5 },
  ]);
  expect(planned.total).toMatchObject({ is: "unpriced", usd: null, known_usd: 0.5, at_most_usd: null });
});

test("the definition's budget is compared with the worst case", async () => {
  const small = "name: x\nmax_cost_usd: 0.001\ndefault_model: vllm:a\nsteps:\n  - { id: a, prompt: x, max_turns: 1 }\n";
  expect((await plan(small)).budgets).toEqual([
    { budget: "run", limit_usd: 0.001, from: "definition", stops: "at_worst" },
  ]);
  // A request lowers a limit and raises none.
  const [raised] = (await plan(small, {}, { max_cost_usd: 5 })).budgets;
  expect(raised).toMatchObject({ limit_usd: 0.001, from: "definition" });
  const [lowered] = (await plan(small, {}, { max_cost_usd: 0.0005 })).budgets;
  expect(lowered).toMatchObject({ limit_usd: 0.0005, from: "request", stops: "at_worst" });
});

test("simulated answers cost nothing, and nobody has to be configured to plan", async () => {
  const text = "name: x\ndefault_model: vllm:a\nsteps:\n  - { id: a, prompt: x }\n";
  expect((await plan(text, {}, { agent: "simulated" })).total).toMatchObject({ is: "simulated", usd: 0 });
  const world = new HttpWorld([]);
  const response = await world.post("/workflows/plan", { workflow: text });
  const { data } = (await response.json()) as { readonly data: Plan };
  expect(data.warnings.join()).toContain("No one is configured");
  expect(data.total).toMatchObject({ is: "unpriced", usd: null });
});

test("what starts the workflow and how its runs wait is told, as `pawl graph` tells it", async () => {
  const planned = await plan(`
workflowId: paid
triggers:
  - { type: trigger, name: money, config: { event: paid } }
  - { type: queue, config: { queueName: orders } }
concurrency: { limit: 2, key: trigger.payload.order }
rate: { limit: 5, per: 1m }
startAt: done
steps:
  done: { type: control, subtype: set, variables: { a: 1 }, end: true }
`);
  const lines = ["starts by: money: event paid", "starts by: queue orders"];
  const waits = [
    "runs: at most 2 at once for each trigger.payload.order, others wait",
    "runs: at most 5 begin in 60 s, others wait",
  ];
  const shown = renderPlan(planned, { paint: (_, text) => text }).split("\n");
  expect(shown.slice(1, 5)).toEqual([...lines, ...waits]);
  const timed = await plan("name: x\nschedule: 0 9 * * 1\nsteps: [{id: a, type: http, url: 'https://x.example/'}]\n");
  expect(timed.schedule).toBe("0 9 * * 1");
});

test("steps on a loop of a UHLP workflow are counted until no visit is left", async () => {
  const { steps, warnings } = await plan(`
workflowId: again
startAt: ask
steps:
  ask:
    type: mcp
    target: core.llm.generate
    inputMapping: { prompt: "'Go on?'", model: "'vllm:a'" }
    transitions: { onSuccess: ask }
`);
  expect(steps[0]).toMatchObject({ step: "ask", instances: { is: "at_most" }, model: "vllm:a", tokens: { calls: 1 } });
  expect(steps[0]?.instances.count).toBeGreaterThan(1);
  expect(steps[0]?.cost.is).toBe("bounded");
  expect(warnings.join()).toContain("is on a loop");
});

test("where a fan-out's calls wait, and how many are sent at once where that is configured, is said", async () => {
  const companies = Array.from({ length: 500 }, (_, index) => String(index));
  const found = await plan(FAN_OUT, { companies });
  expect(found.capacity).toEqual([{ pool: "vllm:a", steps: ["scrape"], asks: 500, at_most: null }]);
  expect(renderPlan(found, { paint: (_, text) => text })).toContain(
    "Capacity of vllm:a: scrape may ask for 500 at once; how many it takes is found out while it runs. The others wait.",
  );

  const limited = await plan(
    FAN_OUT,
    { companies },
    {},
    { capacity: { limits: { vllm: 20, "vllm:a": 30, other: 1 } } },
  );
  expect(limited.capacity).toMatchObject([{ at_most: 20 }]);
  const settings = {
    agent: { sandstorm_url: "http://agents.test/base/" },
    capacity: { limits: { "http://agents.test": 7 } },
  };
  const elsewhere = await plan(FAN_OUT, { companies }, { agent: "sandstorm" }, settings);
  expect(elsewhere.capacity).toEqual([{ pool: "http://agents.test", steps: ["scrape"], asks: 500, at_most: 7 }]);
});
