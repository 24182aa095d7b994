import type { JsonObject } from "../../../src/core/json.ts";
import { createLlmExecutor } from "../../../src/executors/llm/llm-executor.ts";
import { createModels } from "../../../src/executors/models/create-models.ts";
import type { ProviderKind } from "../../../src/executors/models/models-options.ts";
import type { Asks, Outcome, Task } from "../../../src/ports/executor.ts";
import { inlineWorld, tool } from "../../agents/inline-world.ts";
import { type FakeModelOptions, startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { type Purse, withPurse } from "../../fakes/purse.ts";
import { agentTask } from "../../fakes/sandstorm/agent-task.ts";

/** One model of each API. Every request goes through the provider's own package, over HTTP, to a server that refuses what the real one refuses. */
export const MODELS = {
  anthropic: "anthropic:claude-haiku-4-5",
  openai: "openai:gpt-5-mini",
  google: "google:gemini-2.5-flash",
  chat: "local:m",
} as const;

export type Api = keyof typeof MODELS;

export const APIS = Object.keys(MODELS) as Api[];

/** An agent with the tool `book`, whose calls are in `booked`. */
export async function agentOf(
  api: Api,
  replies: FakeModelOptions["replies"],
  given: Omit<Parameters<typeof inlineWorld>[1] & object, "tools"> & { readonly schema?: JsonObject } = {},
) {
  const { schema = { type: "object", properties: { city: { type: "string" } } }, ...options } = given;
  const booked: JsonObject[] = [];
  const book = tool("book", (args) => `Booked as ${booked.push(args)}.`, { inputSchema: schema });
  const world = await inlineWorld(replies, { tools: [book], ...options });
  const ask = (agent: JsonObject = {}, over: Partial<Task> & Purse = {}): Promise<Outcome | Asks> =>
    world.ask({ model: MODELS[api], ...agent }, over);
  return { ...world, booked, ask };
}

/** A prompt step, and what its call has cost. */
export async function askPrompt(api: Api, replies: FakeModelOptions["replies"], input: JsonObject = {}) {
  const server = await startFakeModelServer({ replies });
  const [name = "", modelId = ""] = MODELS[api].split(":");
  const kind: ProviderKind = api === "chat" ? "openai-compatible" : api;
  const models = createModels({
    aliases: {},
    providers: { [name]: { kind, base_url: server.url, api_key: "sk-secret-0123456789" } },
    prices: { [modelId]: { input: 1, output: 1 } },
    keys: {},
    folder: "/",
    readScript: () => {
      throw new Error("no script is asked for");
    },
    env: () => undefined,
  });
  const paid: (number | null)[] = [];
  const executor = createLlmExecutor({ models, prompts: { render: async () => "Rate it." }, repairs: 2 });
  const task = withPurse({ ...agentTask(), input: { prompt: "Rate it.", model: MODELS[api], ...input } }, paid);
  const outcome = await executor.run(task, new AbortController().signal);
  await server.close();
  return { outcome, requests: server.requests, paid };
}
