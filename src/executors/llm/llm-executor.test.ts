import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { application } from "../../../test/end-to-end/support/application.ts";
import { type FakeModelOptions, startFakeModelServer } from "../../../test/fakes/model-server/fake-model-server.ts";
import type { ModelReply } from "../../../test/fakes/model-server/model-reply.ts";
import { type Purse, withPurse } from "../../../test/fakes/purse.ts";
import { agentTask } from "../../../test/fakes/sandstorm/agent-task.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { readAgentScript } from "../../dialects/agent-script/agent-script.ts";
import type { Outcome, Progress, Task } from "../../ports/executor.ts";
import { createModels } from "../models/create-models.ts";
import type { ModelsOptions, ProviderKind } from "../models/models-options.ts";
import { createGenerate } from "./generate.ts";
import { createLlmExecutor, type LlmOptions } from "./llm-executor.ts";
import { createPromptRenderer } from "./prompt/prompt-renderer.ts";

const KEY = "sk-secret-0123456789";
const NEVER = new AbortController().signal;
const SCORE = {
  type: "object",
  properties: { score: { type: "integer", maximum: 10 } },
  required: ["score"],
  additionalProperties: false,
};
const prompts = createPromptRenderer();

interface World {
  readonly models: ReturnType<typeof createModels>;
  readonly requests: Awaited<ReturnType<typeof startFakeModelServer>>["requests"];
  run(
    input: JsonObject,
    over?: Partial<Task> & Purse,
    options?: Partial<LlmOptions>,
    signal?: AbortSignal,
  ): Promise<Outcome>;
  /** Everything that the attempts recorded, emitted and reported. */
  readonly records: Map<string, Json>;
  readonly progress: Progress[];
  /** The settled costs of calls. */
  readonly paid: (number | null)[];
}

/** A provider of each kind that answers as scripted, and an executor that asks it. */
async function world(replies: FakeModelOptions["replies"], over: Partial<ModelsOptions> = {}): Promise<World> {
  const server = await startFakeModelServer({ replies, apiKey: KEY });
  onTestFinished(() => server.close());
  const provider = (kind: ProviderKind) => ({ kind, base_url: server.url, api_key: KEY });
  const models = createModels({
    default: "anthropic:claude-haiku-4-5",
    aliases: {},
    providers: {
      anthropic: provider("anthropic"),
      openai: provider("openai"),
      google: provider("google"),
      local: provider("openai-compatible"),
    },
    prices: {},
    keys: {},
    folder: "/",
    readScript: readAgentScript,
    env: () => undefined,
    ...over,
  });
  const records = new Map<string, Json>();
  const progress: Progress[] = [];
  const paid: (number | null)[] = [];
  const run: World["run"] = async (input, task = {}, options = {}, signal = NEVER) => {
    if ((task.attempt ?? 1) === 1) records.clear();
    const executor = createLlmExecutor({ models, prompts, repairs: 2, ...options });
    const bound = {
      ...agentTask({}, {}),
      emit: (told: Progress) => progress.push(told),
      record: async (key: string, value: Json) => void records.set(key, value),
      recorded: async (key: string) => records.get(key),
      ...task,
      input: { input: {}, ...input },
    };
    return executor.run(withPurse({ ...bound, emit: (told: Progress) => void progress.push(told) }, paid), signal);
  };
  return { models, requests: server.requests, run, records, progress, paid };
}

const say = (text: string, more: Partial<ModelReply & { do: "say" }> = {}): ModelReply => ({
  do: "say",
  text,
  ...more,
});
const logged = ({ progress }: World) =>
  progress.flatMap((told) => (told.type === "log" ? [told.event as JsonObject] : []));

describe("one call", () => {
  const names = ["anthropic:claude-haiku-4-5", "openai:gpt-5-mini", "google:gemini-2.5-flash", "local:llama3.2:3b"];
  for (const model of names) {
    test(`${model} is asked, and its text is the output`, async () => {
      const { run, requests, progress } = await world([say("Hello Ada.")]);
      expect(await run({ prompt: "Greet {{ name }}.", input: { name: "Ada" }, model })).toEqual({
        status: "succeeded",
        output: "Hello Ada.",
        costMicro: model.startsWith("local") ? null : expect.any(Number),
        usage: { model, input_tokens: 20, output_tokens: 10, calls: 1 },
      });
      const texts = progress.flatMap((told) => (told.type === "live" ? [told.event["text"]] : []));
      expect(texts.join("")).toBe("Hello Ada.");
      expect(requests).toHaveLength(1);
      expect(JSON.stringify(requests[0]?.body)).toContain("Greet Ada.");
      expect(requests[0]?.model).toBe(model.slice(model.indexOf(":") + 1));
    });
  }

  test("the price list tells what it cost, the cache included", async () => {
    const { run, paid } = await world([say("Hi.", { usage: { input: 10_000, output: 1_000, cached: 8_000 } })]);
    const outcome = await run({ prompt: "Hi" });
    // Haiku 4.5: 1 $ for a million tokens read, 0.10 from the cache, 5 written.
    expect(outcome).toMatchObject({ costMicro: 2_000 + 800 + 5_000, usage: { cached_input_tokens: 8_000 } });
    expect(paid).toEqual([7_800]);
  });

  test("a model without a price costs an unknown amount", async () => {
    const { run, paid } = await world([say("Hi.")]);
    expect(await run({ prompt: "Hi", model: "local:phi" })).toMatchObject({ status: "succeeded", costMicro: null });
    expect(paid).toEqual([null]);
  });

  test("under a budget a model without a price is not asked", async () => {
    const { run, requests } = await world([say("Hi.")]);
    expect(await run({ prompt: "Hi", model: "local:phi" }, { maxCostMicro: 1_000_000 })).toMatchObject({
      code: "PRICE_UNKNOWN",
      effect: "none",
      retryable: false,
      costMicro: 0,
      message: expect.stringContaining("models.prices"),
    });
    expect(requests).toEqual([]);
  });

  test("parameters are passed on in the provider's words; what is not known is said", async () => {
    const made = await world([say("Hi.")]);
    const parameters = {
      temperature: 0.2,
      max_tokens: 77,
      stop: "END",
      top_k: 5,
      system: "Be brief.",
      wit: 9,
      seed: "x",
    };
    await made.run({ prompt: "Hi", parameters });
    expect(made.requests[0]?.body).toMatchObject({
      temperature: 0.2,
      max_tokens: 77,
      stop_sequences: ["END"],
      top_k: 5,
      system: [{ type: "text", text: "Be brief." }],
    });
    expect(logged(made).map(({ type, message }) => [type, message])).toEqual([
      ["prompt", undefined],
      ["warning", "The parameter `wit` is not known and was left out."],
      ["warning", "The parameter `seed` has a value of the wrong type and was left out."],
    ]);
  });

  test("what the provider leaves out is said", async () => {
    const made = await world([say("Hi.")]);
    await made.run({ prompt: "Hi", parameters: { seed: 4 } });
    expect(logged(made).at(-1)).toMatchObject({ type: "warning", message: expect.stringContaining("seed") });
  });

  test("the rendered prompt is in the log, and the key nowhere", async () => {
    const made = await world([say(`Your key is ${KEY}.`)]);
    const outcome = await made.run({ prompt: "Say {{ what }}", input: { what: "hi" }, parameters: { system: "S" } });
    expect(logged(made)[0]).toEqual({
      type: "prompt",
      model: "anthropic:claude-haiku-4-5",
      text: "Say hi",
      system: "S",
    });
    expect(outcome).toMatchObject({ output: "Your key is [redacted]." });
    expect(JSON.stringify([outcome, logged(made), [...made.records]])).not.toContain(KEY);
  });
});

describe("prompts", () => {
  test("a prompt file says what the step leaves open", async () => {
    const { run, requests } = await world([say('{"score": 3}')]);
    const file = {
      model: "anthropic:claude-opus-4-5",
      parameters: { temperature: 0.1, max_tokens: 50 },
      template: "Rate {{ thing }}.",
      outputSchema: SCORE,
    };
    const settings = { prompts: { "prompts/rate.yaml": file } };
    const outcome = await run({ promptTemplate: "prompts/rate.yaml", input: { thing: "it" } }, { settings });
    expect(outcome).toMatchObject({ output: { score: 3 }, usage: { model: "anthropic:claude-opus-4-5" } });
    expect(requests[0]?.body).toMatchObject({ model: "claude-opus-4-5", temperature: 0.1, max_tokens: 50 });
  });

  test("what the step says goes first", async () => {
    const { run, requests } = await world([say("seven")]);
    const file = {
      model: "claude-opus-4-5",
      parameters: { temperature: 0.1, top_k: 3 },
      template: "x",
      outputFormat: "json",
    };
    const input = {
      promptTemplate: "a.yaml",
      model: "claude-haiku-4-5",
      parameters: { temperature: 0.9 },
      outputFormat: "text",
    };
    expect(await run(input, { settings: { prompts: { "a.yaml": file } } })).toMatchObject({ output: "seven" });
    expect(requests[0]?.body).toMatchObject({ model: "claude-haiku-4-5", temperature: 0.9, top_k: 3 });
  });

  test("a prompt file that is not pinned is missing", async () => {
    const { run } = await world([say("x")]);
    expect(await run({ promptTemplate: "constructor" }, { settings: { prompts: {} } })).toMatchObject({
      code: "FILE_NOT_FOUND",
      effect: "none",
    });
  });

  test("a prompt that cannot be rendered asks nobody", async () => {
    const { run, requests } = await world([say("x")]);
    expect(await run({ prompt: "Hi\n{{ nmae }}", strict: true, input: { name: 1 } })).toMatchObject({
      code: "PROMPT_INVALID",
      retryable: false,
      effect: "none",
      costMicro: 0,
      details: { line: 2, column: 4, variable: "nmae", available: ["name"] },
    });
    expect(requests).toEqual([]);
  });

  test("values stay as they are, whatever they look like", async () => {
    const { run, requests } = await world([say("x")]);
    await run({ prompt: "A {{ a }}", input: { a: "{{ b }}{% raw %}", b: "no" } });
    expect(JSON.stringify(requests[0]?.body)).toContain("A {{ b }}{% raw %}");
  });

  test("a prompt without an input is a text that its dialect has bound", async () => {
    const made = await world([say("x")]);
    const executor = createLlmExecutor({ models: made.models, prompts, repairs: 0 });
    const task = {
      ...agentTask({}),
      input: { prompt: "From a value: {{ x }}", output_schema: { type: "string" }, outputFormat: "text" },
    };
    expect(await executor.run(task, NEVER)).toMatchObject({ status: "succeeded" });
    expect(JSON.stringify(made.requests[0]?.body)).toContain("From a value: {{ x }}");
  });
});

describe("the form of the answer", () => {
  const table: readonly (readonly [string, string, string, JsonObject, Json])[] = [
    ["json", "json", '{"a": [1]}', {}, { a: [1] }],
    ["json in a fence", "json", 'Here:\n```json\n{"a": 1}\n```\nDone.', {}, { a: 1 }],
    ["json that is a number", "json", " 7 ", {}, 7],
    ["json in prose, with a schema", "json", 'See [1]: {"score": 4} it is.', { outputSchema: SCORE }, { score: 4 }],
    ["a schema alone means json", "", '{"score": 4}', { outputSchema: SCORE }, { score: 4 }],
    ["yaml", "yaml", "```yaml\na: 1\nb: [x, 2024-01-01]\n```", {}, { a: 1, b: ["x", "2024-01-01"] }],
    ["yaml with a schema", "yaml", "score: 3", { outputSchema: SCORE }, { score: 3 }],
    ["xml stays a text", "xml", "```xml\n<a>1</a>\n```", {}, "<a>1</a>"],
    ["text stays as it is", "text", ' {"a": 1}\n', {}, ' {"a": 1}\n'],
    ["text with a schema", "text", "yes", { outputSchema: { enum: ["yes", "no"] } }, "yes"],
    ["text with a schema, and a line break", "text", "yes\n", { outputSchema: { enum: ["yes", "no"] } }, "yes"],
  ];
  for (const [name, outputFormat, text, more, output] of table) {
    test(name, async () => {
      const { run } = await world([say(text)]);
      const format: JsonObject = outputFormat === "" ? {} : { outputFormat };
      expect(await run({ prompt: "x", ...format, ...more })).toMatchObject({ status: "succeeded", output });
    });
  }

  test("the model is told", async () => {
    const { run, requests } = await world([say('{"score": 1}')]);
    await run({ prompt: "x", outputSchema: SCORE, parameters: { system: "Be fair." } });
    const system = JSON.stringify(requests[0]?.body["system"]);
    expect(system).toContain("Be fair.\\n\\nAnswer with one JSON value that fits the JSON Schema below");
    expect(system).toContain('\\"maximum\\":10');
  });

  test("openai gets the schema with the request, and is not strict", async () => {
    const { run, requests } = await world([say('{"score": 1}')]);
    await run({ prompt: "x", outputSchema: SCORE, model: "openai:gpt-5-mini" });
    expect(requests[0]?.body["text"]).toMatchObject({
      format: { type: "json_schema", strict: false, name: "answer", schema: SCORE },
    });
  });

  test("a schema that is none is found before anyone is asked", async () => {
    const { run, requests } = await world([say("x")]);
    expect(await run({ prompt: "x", outputSchema: { type: 5 } })).toMatchObject({
      code: "SCHEMA_INVALID",
      effect: "none",
    });
    expect(requests).toEqual([]);
  });
});

describe("repair", () => {
  test("an answer that does not fit is sent back with what is wrong, in the same conversation", async () => {
    const made = await world([say('{"score": 11}'), say("It is ten."), say('{"score": 10}')]);
    expect(await made.run({ prompt: "Rate.", outputSchema: SCORE })).toMatchObject({
      status: "succeeded",
      output: { score: 10 },
      repaired: true,
      usage: { calls: 3, input_tokens: 60, output_tokens: 30 },
      costMicro: 3 * (20 + 50),
    });
    expect(made.requests[2]?.body["messages"]).toMatchObject([
      { role: "user", content: [{ text: "Rate." }] },
      { role: "assistant", content: [{ text: '{"score": 11}' }] },
      { role: "user", content: [{ text: expect.stringContaining("- /score must be <= 10") }] },
      { role: "assistant", content: [{ text: "It is ten." }] },
      { role: "user", content: [{ text: expect.stringContaining("- the answer holds no JSON") }] },
    ]);
    expect(logged(made).filter(({ type }) => type === "warning")).toHaveLength(2);
  });

  test("after the last turn it has failed, with the errors and what was said", async () => {
    const made = await world([say('{"score": 11}')]);
    expect(await made.run({ prompt: "Rate.", outputSchema: SCORE })).toMatchObject({
      code: "OUTPUT_INVALID",
      retryable: true,
      effect: "none",
      message: "The model's answer does not fit: /score must be <= 10.",
      details: { errors: [{ path: "/score", message: "must be <= 10" }], answer: '{"score": 11}' },
      usage: { calls: 3 },
      costMicro: 210,
    });
    expect(made.requests).toHaveLength(3);
  });

  test("json without a schema is repaired too", async () => {
    const { run } = await world([say("I cannot."), say("[]")]);
    expect(await run({ prompt: "x", outputFormat: "json" })).toMatchObject({ output: [], repaired: true });
  });

  test("there is none where it is not wanted", async () => {
    const { run, requests } = await world([say("no")]);
    expect(await run({ prompt: "x", outputSchema: SCORE }, {}, { repairs: 0 })).toMatchObject({
      code: "OUTPUT_INVALID",
    });
    expect(requests).toHaveLength(1);
  });

  test("no turn begins that may cost more than is left, the first one included", async () => {
    const { run, requests } = await world([say("no")]);
    const asked = { prompt: "x", outputSchema: SCORE };
    const refused = await run(asked, { maxCostMicro: 1_000 });
    expect(refused).toMatchObject({ code: "BUDGET_EXCEEDED", costMicro: 0, outspent: { goesOn: true } });
    expect(requests).toHaveLength(0);
    const outcome = await run(asked, { maxCostMicro: 3_250 });
    expect(outcome).toMatchObject({ code: "BUDGET_EXCEEDED", costMicro: 70, outspent: { goesOn: true } });
    expect(requests).toHaveLength(1);
    expect(await run(asked, { attempt: 2, maxCostMicro: 100_000 })).toMatchObject({ costMicro: 140 });
    expect(requests).toHaveLength(3);
  });

  test("the limit of an answer is lowered to what is left", async () => {
    const { run, requests } = await world([say("fine")]);
    await run({ prompt: "x" }, { maxCostMicro: 10_000 });
    const limit = Number(Object(requests[0]?.body).max_tokens);
    // Haiku 4.5: 1 $ for a million tokens read, 5 written.
    expect(limit).toBeGreaterThan(1_000);
    expect(limit).toBeLessThanOrEqual(10_000 / 5);
  });

  test("who may not ask again has failed by its answer, whatever it may still spend", async () => {
    const { run } = await world([say("no")]);
    const outcome = await run({ prompt: "x", outputSchema: SCORE }, { maxCostMicro: 5_000 }, { repairs: 0 });
    expect(outcome).toMatchObject({ code: "OUTPUT_INVALID" });
    expect(outcome).not.toHaveProperty("outspent");
  });

  test("what turns have cost is booked when a later one fails", async () => {
    const { run } = await world([say("no"), { do: "refuse", status: 503 }]);
    expect(await run({ prompt: "x", outputSchema: SCORE })).toMatchObject({
      code: "MODEL_UNAVAILABLE",
      retryable: true,
      costMicro: 70,
      usage: { calls: 1 },
    });
  });
});

describe("answers that are none", () => {
  test("an empty one", async () => {
    const { run } = await world([say("")]);
    expect(await run({ prompt: "x" })).toMatchObject({ code: "OUTPUT_EMPTY", retryable: true, costMicro: 70 });
  });

  test("one that is cut off", async () => {
    const { run, requests } = await world([say("Once upon a", { ended: "length" })]);
    expect(await run({ prompt: "x" })).toMatchObject({
      code: "OUTPUT_CUT",
      retryable: false,
      details: { answer: "Once upon a" },
      costMicro: 70,
    });
    expect(requests).toHaveLength(1);
  });

  test("cut JSON is not taken for the part of it that is whole", async () => {
    const { run } = await world([say('{"items": [{"score": 1}, {"sco', { ended: "length" })]);
    expect(await run({ prompt: "x", outputSchema: SCORE })).toMatchObject({ code: "OUTPUT_CUT" });
  });

  test("what looks whole at the limit may be the half of something else", async () => {
    const { run } = await world([say("12", { ended: "length" })]);
    expect(await run({ prompt: "x", outputSchema: { type: "integer" } })).toMatchObject({ code: "OUTPUT_CUT" });
  });

  for (const model of ["anthropic:claude-haiku-4-5", "openai:gpt-5-mini", "google:gemini-2.5-flash", "local:x"]) {
    test(`one that a content filter stopped: ${model}`, async () => {
      const { run } = await world([say("I", { ended: "filter" })]);
      expect(await run({ prompt: "x", model })).toMatchObject({ code: "MODEL_REFUSED", retryable: false });
    });
  }
});

describe("providers that do not answer", () => {
  const refuse = (status: number, more: { message?: string; headers?: Record<string, string> } = {}): ModelReply => ({
    do: "refuse",
    status,
    ...more,
  });
  const table: readonly (readonly [string, ModelReply, JsonObject])[] = [
    ["400", refuse(400, { message: "messages: too long" }), { code: "MODEL_REFUSED", retryable: false, costMicro: 0 }],
    ["403", refuse(403), { code: "MODEL_UNAUTHORIZED", retryable: false, costMicro: 0 }],
    ["404", refuse(404, { message: "model: nope" }), { code: "MODEL_REFUSED", retryable: false, costMicro: 0 }],
    [
      "429",
      refuse(429, { headers: { "retry-after": "17" } }),
      { code: "MODEL_RATE_LIMITED", retryable: true, costMicro: 0, details: { status: 429, retry_after: "17" } },
    ],
    ["500", refuse(500), { code: "MODEL_UNAVAILABLE", retryable: true, costMicro: 0 }],
    ["529", refuse(529, { message: "Overloaded" }), { code: "MODEL_UNAVAILABLE", retryable: true, costMicro: 0 }],
    ["no JSON", { do: "send", body: "{<html>" }, { code: "MODEL_UNAVAILABLE", retryable: true, costMicro: null }],
    ["other JSON", { do: "send", body: '{"hello": 1}' }, { code: "MODEL_UNAVAILABLE", retryable: true }],
    ["a cut connection", { do: "cut" }, { code: "MODEL_UNREACHABLE", retryable: true, costMicro: null }],
  ];
  for (const model of ["anthropic:claude-haiku-4-5", "openai:gpt-5-mini", "local:x"]) {
    for (const [name, reply, failure] of table) {
      test(`${name}: ${model}`, async () => {
        const { run, requests } = await world([reply]);
        const outcome = await run({ prompt: "x", model });
        expect(outcome).toMatchObject({ status: "failed", effect: "none", ...failure });
        expect(JSON.stringify(outcome)).not.toContain(KEY);
        expect(requests).toHaveLength(1);
      });
    }
  }

  test("the provider's words are in the message", async () => {
    const { run } = await world([refuse(400, { message: `The key ${KEY} is fine, the prompt is not.` })]);
    expect(await run({ prompt: "x" })).toMatchObject({
      message:
        "The provider of anthropic:claude-haiku-4-5 refused the request (400): The key [redacted] is fine, the prompt is not.",
    });
  });

  for (const model of ["anthropic:claude-haiku-4-5", "openai:gpt-5-mini", "google:gemini-2.5-flash", "local:x"]) {
    test(`a wrong key: ${model}`, async () => {
      const server = await startFakeModelServer({ replies: [say("x")], apiKey: "another" });
      onTestFinished(() => server.close());
      const kind = model.startsWith("local") ? "openai-compatible" : (model.split(":")[0] as ProviderKind);
      const provider = { kind, base_url: server.url, api_key: KEY };
      const { run } = await world([], { providers: { [model.split(":")[0] ?? ""]: provider } });
      const outcome = await run({ prompt: "x", model });
      expect(outcome).toMatchObject({ code: "MODEL_UNAUTHORIZED", retryable: false, costMicro: 0 });
      expect(JSON.stringify(outcome)).not.toContain(KEY);
    });
  }

  test("nobody there", async () => {
    const gone = await startFakeModelServer({ replies: [] });
    await gone.close();
    const providers = { local: { kind: "openai-compatible", base_url: gone.url } as const };
    const { run } = await world([], { providers });
    expect(await run({ prompt: "x", model: "local:x" })).toMatchObject({
      code: "MODEL_UNREACHABLE",
      message: "The provider of local:x cannot be reached (ECONNREFUSED).",
      retryable: true,
      effect: "none",
      costMicro: 0,
    });
  });

  test("a key that no header can hold is not shown", async () => {
    const { run } = await world([], {
      providers: { anthropic: { kind: "anthropic", api_key: "sk-bad\u0001key-9876" } },
    });
    const outcome = await run({ prompt: "x" });
    expect(outcome).toMatchObject({ status: "failed", effect: "none" });
    expect(JSON.stringify(outcome)).not.toContain("key-9876");
  });

  test("a model that is not known or has no key fails without a call", async () => {
    const { run } = await world([]);
    expect(await run({ prompt: "x", model: "llama3" })).toMatchObject({ code: "MODEL_UNKNOWN", retryable: false });
    const keyless = await world([], { providers: {} });
    expect(await keyless.run({ prompt: "x" })).toMatchObject({ code: "MODEL_NOT_CONFIGURED", retryable: false });
  });
});

describe("stopping", () => {
  test("a call in flight is broken off", async () => {
    const controller = new AbortController();
    const { run, requests } = await world(() => {
      controller.abort();
      return { do: "hang" };
    });
    expect(await run({ prompt: "x" }, {}, {}, controller.signal)).toMatchObject({
      code: "INTERRUPTED",
      costMicro: null,
    });
    expect(await requests[0]?.isAbandoned).toBe(true);
  });

  test("one that is stopped beforehand asks nobody", async () => {
    const { run, requests } = await world([say("x")]);
    expect(await run({ prompt: "x" }, {}, {}, AbortSignal.abort())).toMatchObject({ code: "INTERRUPTED" });
    expect(requests).toEqual([]);
  });

  test("a call that takes too long fails with the code of time-outs", async () => {
    const { run } = await world([{ do: "hang" }]);
    expect(await run({ prompt: "x" }, {}, { timeoutMs: 50 })).toMatchObject({
      code: "TIMEOUT",
      retryable: true,
      costMicro: null,
    });
  });
});

describe("after a crash", () => {
  test("turns that were recorded are neither asked nor paid again", async () => {
    const made = await world([say("no", { usage: { input: 100, output: 10 } }), say('{"score": 2}')]);
    const dies = { record: async (key: string, value: Json) => void made.records.set(key, value) };
    const crash = new AbortController();
    const first = made.run(
      { prompt: "x", outputSchema: SCORE },
      {
        ...dies,
        record: async (key, value) => {
          made.records.set(key, value);
          crash.abort();
        },
      },
      {},
      crash.signal,
    );
    expect(await first).toMatchObject({ code: "INTERRUPTED" });
    expect([...made.records.keys()]).toEqual(["turn-1"]);

    const second = await made.run({ prompt: "x", outputSchema: SCORE }, { attempt: 2 });
    expect(second).toMatchObject({
      output: { score: 2 },
      repaired: true,
      // The first attempt has reported its own cost.
      costMicro: 70,
      usage: { calls: 2, input_tokens: 120, output_tokens: 20 },
    });
    expect(made.requests).toHaveLength(2);
    expect(JSON.stringify(made.requests[1]?.body["messages"])).toContain("holds no JSON");
  });

  test("an answer that was recorded is the outcome, without a call", async () => {
    const made = await world([say("fine")]);
    await made.run({ prompt: "x" });
    expect(await made.run({ prompt: "x" }, { attempt: 2 })).toMatchObject({ output: "fine", costMicro: 0 });
    expect(made.requests).toHaveLength(1);
  });
});

describe("mock models", () => {
  test("make up what fits", async () => {
    const { run } = await world([], { delayFactor: 0 });
    const ask = (input: JsonObject) => run({ prompt: "About company Acme.", model: "mock:", ...input });
    expect(await ask({})).toMatchObject({ output: expect.stringContaining("Acme"), costMicro: expect.any(Number) });
    expect(await ask({ outputSchema: SCORE })).toMatchObject({ output: { score: expect.any(Number) } });
    expect(await ask({ outputFormat: "json" })).toMatchObject({ output: { answer: expect.any(String) } });
    expect(await ask({ outputFormat: "yaml" })).toMatchObject({ output: { answer: expect.any(String) } });
    expect(await ask({ outputFormat: "xml" })).toMatchObject({
      output: expect.stringMatching(/^<answer>.*<\/answer>$/s),
    });
    expect(await ask({ outputFormat: "text", outputSchema: { enum: ["a", "b"] } })).toMatchObject({
      output: expect.stringMatching(/^[ab]$/),
    });
  });

  test("say so where nothing can be made up", async () => {
    const { run } = await world([], { delayFactor: 0 });
    const outputSchema = { type: "string", pattern: "^[XYZ]{9}$" };
    expect(await run({ prompt: "x", model: "mock:", outputSchema })).toMatchObject({
      code: "OUTPUT_INVALID",
      retryable: false,
      message: expect.stringContaining("Script a reply"),
    });
  });

  const script = `
    delay_ms: 0
    steps:
      score:
        - {reply: {score: 99}, cost_usd: 0.01, input_tokens: 7, output_tokens: 3}
        - {fail: MODEL_RATE_LIMITED, message: slow down, cost_usd: 0}
        - {reply: '\`\`\`json {"score": 5} \`\`\`', cost_usd: 0.02, input_tokens: 8, output_tokens: 4}
      unpriced: {reply: hm, cost_usd: null}
      stuck: {hang: true}`;
  const scripted = async () => {
    const folder = application({ "mocks/answers.yaml": script });
    return { ...(await world([], { folder })), folder };
  };

  test("answer as scripted: further turns and tries go on in the list", async () => {
    const { run, folder } = await scripted();
    const ask = (attempt: number) =>
      run(
        { prompt: "x", model: "mock:mocks/answers.yaml", outputSchema: SCORE },
        { attempt, settings: { folder }, recorded: async () => undefined },
      );
    expect(await ask(1)).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      message: "slow down",
      retryable: true,
      effect: "none",
      costMicro: 10_000,
      usage: { input_tokens: 7, output_tokens: 3, calls: 1 },
    });
    expect(await ask(2)).toMatchObject({ code: "MODEL_RATE_LIMITED" });
    expect(await ask(3)).toMatchObject({ output: { score: 5 }, costMicro: 20_000, usage: { input_tokens: 8 } });
  });

  test("the cost may be unknown, and silence lasts until it is stopped", async () => {
    const { run, folder } = await scripted();
    const ask = (stepId: string, signal = NEVER) =>
      run(
        { prompt: "x", model: "mock:mocks/answers.yaml" },
        { stepId, path: stepId, settings: { folder } },
        {},
        signal,
      );
    expect(await ask("unpriced")).toMatchObject({ output: "hm", costMicro: null });
    expect(await ask("stuck", AbortSignal.timeout(20))).toMatchObject({ code: "INTERRUPTED" });
  });

  test("a script with a mistake is refused with its place", async () => {
    const { run, folder } = await scripted();
    writeFileSync(join(folder, "bad.yaml"), "steps:\n  a: {replies: 1}");
    expect(await run({ prompt: "x", model: "mock:bad.yaml" }, { settings: { folder } })).toMatchObject({
      code: "SCRIPT_INVALID",
      message: expect.stringContaining("bad.yaml:2:"),
    });
  });
});

describe("core.llm.generate", () => {
  test("answers with the completion and the tokens", async () => {
    const { models } = await world([say("Hi.")]);
    const generate = createGenerate({ models, repairs: 1 });
    expect(await generate({ prompt: "Greet {{ me }}" }, NEVER)).toMatchObject({
      status: "succeeded",
      output: { completion: "Hi.", metrics: { token_usage: { prompt: 20, completion: 10, total: 30 } } },
      costMicro: 70,
    });
  });

  test("repairs, and sums up", async () => {
    const { models, requests } = await world([say("no"), say('{"score": 1}')]);
    const generate = createGenerate({ models, repairs: 1 });
    expect(await generate({ prompt: "x", outputSchema: SCORE }, NEVER)).toMatchObject({
      output: { completion: { score: 1 }, metrics: { token_usage: { prompt: 40, completion: 20, total: 60 } } },
      costMicro: 140,
    });
    expect(requests).toHaveLength(2);
  });

  test("fails as a step does", async () => {
    const { models } = await world([{ do: "refuse", status: 429 }]);
    const generate = createGenerate({ models, repairs: 1 });
    expect(await generate({ prompt: "x" }, NEVER)).toMatchObject({ code: "MODEL_RATE_LIMITED" });
    expect(await generate({ prompt: "x", model: "local:x" }, NEVER, { isLimited: true })).toMatchObject({
      code: "PRICE_UNKNOWN",
    });
    await expect(generate({ prompt: "x", model: "nope" }, NEVER)).rejects.toMatchObject({ code: "MODEL_UNKNOWN" });
  });
});

test("the executor loads no package before it is asked", () => {
  const script = `
    import { registerHooks } from "node:module";
    const packages = [];
    registerHooks({ resolve(name, context, next) {
      if (!/^(node:|[./#]|file:)/.test(name)) packages.push(name);
      return next(name, context);
    } });
    for (const file of process.argv.slice(1)) await import(file);
    console.log(JSON.stringify(packages));`;
  const files = ["./llm-executor.ts", "./generate.ts", "./prompt/prompt-renderer.ts", "../models/create-models.ts"];
  const urls = files.map((file) => new URL(file, import.meta.url).href);
  const args = ["--input-type=module", "--eval", script, "--", ...urls];
  expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("[]\n");
});
