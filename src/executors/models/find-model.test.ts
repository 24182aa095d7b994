import { describe, expect, test } from "vitest";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { readAgentScript } from "../../dialects/agent-script/agent-script.ts";
import { createModels } from "./create-models.ts";
import type { ModelsOptions } from "./models-options.ts";

const VARIABLES: Readonly<Record<string, string>> = { ROUTER_KEY: "router-secret", HOST: "127.0.0.1:11434" };

const OPTIONS: ModelsOptions = {
  default: "fast",
  aliases: { fast: "claude-haiku-4-5", local: "ollama:llama3.2:3b", loop: "pool", pool: "loop", play: "mock:" },
  providers: {
    ollama: { kind: "openai-compatible", base_url: `http://\${HOST}/v1` },
    router: { kind: "openai-compatible", base_url: "https://openrouter.ai/api/v1", api_key: `\${ROUTER_KEY}` },
    unset: { kind: "anthropic", api_key: `\${NOT_SET}` },
    bare: { kind: "openai" },
    nowhere: { kind: "openai-compatible", base_url: `\${NOT_SET}` },
    openai: { kind: "openai", base_url: "http://127.0.0.1:1/v1" },
  },
  prices: {},
  keys: { anthropic: "anthropic-secret", openai: " openai-secret\n" },
  folder: "/app",
  readScript: readAgentScript,
  env: (name) => VARIABLES[name],
};

const resolve = (name?: string, over: Partial<ModelsOptions> = {}) =>
  createModels({ ...OPTIONS, ...over }).resolve(name);

describe("which model a name means", () => {
  const table: readonly (readonly [string | undefined, string])[] = [
    [undefined, "anthropic:claude-haiku-4-5"],
    ["fast", "anthropic:claude-haiku-4-5"],
    ["local", "ollama:llama3.2:3b"],
    ["claude-opus-4-5", "anthropic:claude-opus-4-5"],
    ["gpt-5", "openai:gpt-5"],
    ["o3-mini", "openai:o3-mini"],
    ["anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"],
    ["router:anthropic/claude-sonnet-4.5", "router:anthropic/claude-sonnet-4.5"],
    ["play", "mock:"],
    ["mock:", "mock:"],
  ];
  for (const [name, id] of table) test(`${name ?? "none"}`, async () => expect((await resolve(name)).id).toBe(id));
});

describe("what cannot be found", () => {
  const table: readonly (readonly [string | undefined, Partial<ModelsOptions>, string, string])[] = [
    ["llama3", {}, "MODEL_UNKNOWN", 'No provider is known for the model "llama3".'],
    ["nobody:llama3", {}, "MODEL_UNKNOWN", 'No provider is known for the model "nobody:llama3".'],
    ["anthropic/claude-sonnet-4-5", {}, "MODEL_UNKNOWN", "No provider is known"],
    ["anthropic:", {}, "MODEL_UNKNOWN", "No provider is known"],
    ["constructor", {}, "MODEL_UNKNOWN", "No provider is known"],
    ["__proto__:x", {}, "MODEL_UNKNOWN", "No provider is known"],
    ["loop", {}, "MODEL_UNKNOWN", "leads in a circle"],
    [undefined, { default: undefined }, "MODEL_NOT_CONFIGURED", "No model is named"],
    ["gemini-2.5-flash", {}, "MODEL_NOT_CONFIGURED", "GOOGLE_GENERATIVE_AI_API_KEY (or GEMINI_API_KEY) is not set"],
    ["claude-opus-4-5", { keys: {} }, "MODEL_NOT_CONFIGURED", "ANTHROPIC_API_KEY is not set"],
    ["unset:claude-opus-4-5", {}, "MODEL_NOT_CONFIGURED", "NOT_SET is not set"],
    ["bare:gpt-5", {}, "MODEL_NOT_CONFIGURED", "`models.providers.bare.api_key` is not set"],
    ["nowhere:x", {}, "MODEL_NOT_CONFIGURED", 'The provider "nowhere" has no address'],
    ["mock:missing.yaml", {}, "FILE_NOT_FOUND", "missing.yaml"],
    ["mock:/etc/passwd", {}, "FILE_OUTSIDE", "leads out"],
    ["mock:../../etc/passwd", {}, "FILE_OUTSIDE", "leads out"],
  ];
  for (const [name, over, code, message] of table) {
    test(`${name ?? "none"}: ${code}`, async () => {
      const error: unknown = await resolve(name, over).catch((thrown: unknown) => thrown);
      expect(isPawlError(error) ? { code: error.code, message: error.message } : error).toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
    });
  }

  test("the error lists what there is", async () => {
    await expect(resolve("llama3")).rejects.toMatchObject({
      remedy:
        "Write `provider:model`. Providers: anthropic, openai, google, ollama, router, unset, bare, nowhere, mock. Aliases: fast, local, loop, pool, play, sonnet, haiku, opus.",
    });
  });
});

describe("keys", () => {
  test("of built-in providers go with the provider of the same name, wherever it is", async () => {
    expect((await resolve("gpt-5")).secrets).toEqual(["openai-secret"]);
  });

  test("are read from the environment where the configuration names a variable", async () => {
    expect((await resolve("router:x")).secrets).toEqual(["router-secret"]);
  });

  test("are not needed where the server asks for none", async () => {
    expect((await resolve("local")).secrets).toEqual([]);
  });
});

describe("prices", () => {
  const usage = { input: 1_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 };
  const priceOf = async (name: string, over: Partial<ModelsOptions> = {}, used: Partial<typeof usage> = {}) =>
    (await resolve(name, over)).priceMicro({ ...usage, ...used });

  test("of known models come from the list", async () => {
    expect(await priceOf("claude-haiku-4-5", {}, { input: 100_000, output: 10_000 })).toBe(150_000);
  });

  test("what was read from the cache costs less", async () => {
    const whole = await priceOf("claude-haiku-4-5", {}, { input: 100_000, output: 0 });
    const cached = await priceOf("claude-haiku-4-5", {}, { input: 100_000, output: 0, cacheRead: 90_000 });
    expect([whole, cached]).toEqual([100_000, 19_000]);
  });

  test("of unknown models are unknown, not nothing", async () => {
    expect(await priceOf("anthropic:claude-unheard-of")).toBe(null);
    expect(await priceOf("local")).toBe(null);
    expect(await (await resolve("local")).hasPrice()).toBe(false);
  });

  test("another host's are not those of the maker", async () => {
    const providers = { proxy: { kind: "openai-compatible", base_url: "https://models.example/v1" } as const };
    expect(await priceOf("proxy:claude-haiku-4-5", { providers })).toBe(null);
  });

  test("of known hosts come from the list", async () => {
    expect(await priceOf("router:anthropic/claude-sonnet-4.5", {}, { input: 1_000, output: 0 })).toBe(3_000);
  });

  test("that are configured go first, also where they are 0", async () => {
    const prices = { "claude-haiku-4-5": { input: 2, output: 4 }, "ollama:llama3.2:3b": { input: 0, output: 0 } };
    expect(await priceOf("claude-haiku-4-5", { prices })).toBe(6_000_000);
    expect(await priceOf("local", { prices })).toBe(0);
    expect(await (await resolve("local", { prices })).hasPrice()).toBe(true);
  });

  test("a provider that does not say what was used leaves the cost unknown", async () => {
    const model = await resolve("claude-haiku-4-5");
    expect(await model.priceMicro({ input: undefined, output: 5, cacheRead: 0, cacheWrite: 0 })).toBe(null);
  });
});
