import { describe, expect, test } from "vitest";
import { type Purse, withPurse } from "../../../test/fakes/purse.ts";
import { agentTask } from "../../../test/fakes/sandstorm/agent-task.ts";
import { answerJson, type FakeEndpoint, startEndpoint } from "../../../test/fakes/uhlp-endpoint.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Outcome, Task } from "../../ports/executor.ts";
import { UhlpEndpoint } from "../mcp/uhlp-endpoint.ts";
import { createModelPrices } from "../models/create-model-prices.ts";
import { createModels } from "../models/create-models.ts";
import { createLlmExecutor } from "./llm-executor.ts";
import { createPromptRenderer } from "./prompt/prompt-renderer.ts";

const SCORE = { type: "object", properties: { score: { type: "integer" } }, required: ["score"] };
const usage = { prompt: 12, completion: 5, total: 17 };

interface Asked {
  readonly endpoint: FakeEndpoint;
  /** Only a configured one is asked where the request names none. */
  readonly configured?: boolean;
  readonly task?: Partial<Task> & Purse;
}

async function run(input: JsonObject, { endpoint, configured = false, task = {} }: Asked) {
  const paid: (number | null)[] = [];
  const options = {
    aliases: { small: "anthropic:claude-haiku-4-5" },
    providers: {},
    prices: {},
    keys: {},
    folder: "/",
    readScript: () => Promise.reject(new Error("there is no script")),
    env: () => undefined,
  };
  const elsewhere = {
    endpoint: new UhlpEndpoint({ allowed: [endpoint.origin], configured: configured ? endpoint.url : undefined }),
    prices: createModelPrices(options),
  };
  const executor = createLlmExecutor({
    models: createModels(options),
    prompts: createPromptRenderer(),
    elsewhere,
    repairs: 1,
  });
  const context: JsonObject = configured
    ? {}
    : { endpoint: endpoint.url, appId: "shop", requestId: "r-1", traceId: "t-1" };
  const bound = { ...agentTask({}), idempotencyKey: "run/step/1", ...task, input: { context, ...input } };
  const outcome: Outcome = await executor.run(withPurse(bound, paid), new AbortController().signal);
  return { outcome, paid };
}

const say = (completion: unknown) => answerJson({ data: { completion, metrics: { token_usage: usage } } });

describe("an llm step of a run that names an endpoint", () => {
  test("is a call of core.llm.generate there, in the words of the protocol", async () => {
    const endpoint = await startEndpoint(say("Hello Ada."));
    const { outcome, paid } = await run(
      {
        prompt: "Greet {{ name }}.",
        input: { name: "Ada" },
        model: "small",
        parameters: { temperature: 0, system: "Be short." },
      },
      { endpoint },
    );
    expect(outcome).toEqual({
      status: "succeeded",
      output: "Hello Ada.",
      costMicro: 12 * 1 + 5 * 5,
      usage: { model: "endpoint:small", input_tokens: 12, output_tokens: 5, calls: 1 },
    });
    expect(paid).toEqual([37]);
    expect(endpoint.requests).toEqual([
      {
        tool: "core.llm.generate",
        params: {
          app_id: "shop",
          prompt: "Greet Ada.",
          model: "small",
          parameters: { temperature: 0, system: "Be short." },
        },
        context: { appId: "shop", requestId: "r-1", traceId: "t-1" },
      },
    ]);
    expect(endpoint.headers[0]).toMatchObject({ "idempotency-key": "run/step/1/1" });
  });

  test("is told what was wrong with an answer, in a call of its own", async () => {
    const answers = [{ score: "many" }, { score: 7 }];
    const endpoint = await startEndpoint((request, response) =>
      say(JSON.stringify(answers.shift()))(request, response),
    );
    const { outcome } = await run({ prompt: "Score it.", outputSchema: SCORE }, { endpoint });
    expect(outcome).toMatchObject({ output: { score: 7 }, repaired: true, costMicro: null });
    expect(endpoint.requests.map(({ params }) => params)).toEqual([
      { app_id: "shop", prompt: "Score it.", output_format: "json", output_schema: SCORE },
      expect.objectContaining({
        prompt: expect.stringMatching(/^Score it\.\n\n\{"score":"many"\}\n\nYour answer does not fit:/),
      }),
    ]);
    expect(endpoint.headers.map((headers) => headers["idempotency-key"])).toEqual(["run/step/1/1", "run/step/1/3"]);
  });

  test("takes a completion that is no text as JSON", async () => {
    const endpoint = await startEndpoint(say({ score: 3 }));
    expect((await run({ prompt: "x", outputSchema: SCORE }, { endpoint })).outcome).toMatchObject({
      output: { score: 3 },
    });
  });

  test("fails with the code of the endpoint", async () => {
    const endpoint = await startEndpoint(answerJson({ error: { code: "QUOTA", message: "no more" } }));
    expect((await run({ prompt: "x" }, { endpoint })).outcome).toMatchObject({
      status: "failed",
      code: "QUOTA",
      message: "no more",
      effect: "none",
      costMicro: null,
    });
  });

  test("fails where the answer has no completion", async () => {
    const endpoint = await startEndpoint(answerJson({ data: { text: "hi" } }));
    expect((await run({ prompt: "x" }, { endpoint })).outcome).toMatchObject({
      code: "ENDPOINT_FAILED",
      retryable: true,
    });
  });

  test("asks for a shorter answer where the budget allows no longer one", async () => {
    const endpoint = await startEndpoint(say("Hi."));
    const task = { maxCostMicro: 10_000 };
    const step = { prompt: "x", model: "small", parameters: { maxTokens: 8_000, top_p: 1 } };
    expect((await run(step, { endpoint, task })).outcome).toMatchObject({ status: "succeeded" });
    const { max_tokens: limit, ...others } = (endpoint.requests[0]?.params["parameters"] ?? {}) as JsonObject;
    expect(others).toEqual({ top_p: 1 });
    expect(limit).toBeGreaterThan(1_000);
    expect(limit).toBeLessThan(2_000);
  });

  test("is refused under a budget where nobody knows the price", async () => {
    const endpoint = await startEndpoint(say("Hi."));
    const task = { maxCostMicro: 10_000 };
    expect((await run({ prompt: "x" }, { endpoint, task })).outcome).toMatchObject({ code: "PRICE_UNKNOWN" });
    expect(endpoint.requests).toEqual([]);
  });
});

test("an endpoint that is not allowed is not asked", async () => {
  const endpoint = await startEndpoint(say("Hi."));
  const context = { endpoint: "http://127.0.0.1:1/mcp" };
  expect((await run({ prompt: "x", context }, { endpoint })).outcome).toMatchObject({ code: "ENDPOINT_NOT_ALLOWED" });
});

test("the configured endpoint is asked by runs that name none", async () => {
  const endpoint = await startEndpoint(say("Hi."));
  expect((await run({ prompt: "x" }, { endpoint, configured: true })).outcome).toMatchObject({ output: "Hi." });
});

test("a mock model answers here", async () => {
  const endpoint = await startEndpoint(say("Hi."));
  const { outcome } = await run({ prompt: "x", model: "mock:" }, { endpoint });
  expect(outcome).toMatchObject({ status: "succeeded", usage: { model: "mock:" } });
  expect(endpoint.requests).toEqual([]);
});
