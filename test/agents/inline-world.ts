import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openConversations } from "../../src/app/open-service-records.ts";
import { parseExact, writeExact } from "../../src/core/exact-json.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { readAgentScript } from "../../src/dialects/agent-script/agent-script.ts";
import { createInlineExecutor, type InlineOptions } from "../../src/executors/agent/inline/inline-executor.ts";
import { createModels } from "../../src/executors/models/create-models.ts";
import type { ModelsOptions, ProviderKind } from "../../src/executors/models/models-options.ts";
import type { Asks, Executor, Outcome, Progress, Task } from "../../src/ports/executor.ts";
import type {
  AgentTool,
  MissingServer,
  ServerInstructions,
  ToolboxRequest,
  ToolCallResult,
} from "../../src/ports/tools/agent-toolbox.ts";
import { type FakeModelOptions, startFakeModelServer } from "../fakes/model-server/fake-model-server.ts";
import type { SaidReply } from "../fakes/model-server/model-reply.ts";
import { type Purse, withPurse } from "../fakes/purse.ts";
import { agentTask } from "../fakes/sandstorm/agent-task.ts";

const KEY = "sk-secret-0123456789";
const NEVER = new AbortController().signal;

interface InlineWorld {
  readonly executor: Executor;
  readonly requests: Awaited<ReturnType<typeof startFakeModelServer>>["requests"];
  /** What has been asked of the toolbox. */
  readonly wanted: ToolboxRequest[];
  /** What the step has on record: kept between attempts. */
  readonly records: Map<string, Json>;
  readonly progress: Progress[];
  /** The settled costs of calls. */
  readonly paid: (number | null)[];
  ask(agent: JsonObject, over?: Partial<Task> & Purse, signal?: AbortSignal): Promise<Outcome | Asks>;
  run(input: JsonObject, over?: Partial<Task> & Purse, signal?: AbortSignal): Promise<Outcome | Asks>;
}

interface Given extends Partial<Omit<InlineOptions, "models" | "toolbox" | "builtIns">> {
  readonly tools?: readonly AgentTool[];
  readonly builtIns?: readonly AgentTool[];
  readonly missing?: readonly MissingServer[];
  readonly instructions?: readonly ServerInstructions[];
  readonly models?: Partial<ModelsOptions>;
}

/** An inline agent, its model over real HTTP, and tools that are functions. */
export async function inlineWorld(replies: FakeModelOptions["replies"], given: Given = {}): Promise<InlineWorld> {
  const server = await startFakeModelServer({ replies, apiKey: KEY });
  onTestFinished(() => server.close());
  const { tools = [], builtIns = [], missing = [], instructions = [], models: modelsOver, ...options } = given;
  const provider = (kind: ProviderKind) => ({ kind, base_url: server.url, api_key: KEY });
  const wanted: ToolboxRequest[] = [];
  const folder = mkdtempSync(join(tmpdir(), "pawl-agents-"));
  const conversations = openConversations({ path: join(folder, "conversations.db"), durability: "power" });
  onTestFinished(async () => {
    await conversations.close();
    rmSync(folder, { recursive: true });
  });
  const executor = createInlineExecutor({
    models: createModels({
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
      ...modelsOver,
    }),
    repairs: 2,
    patienceMs: 0,
    toolbox: async () => ({
      offer: async (request) => {
        wanted.push(request);
        return { tools, missing, idle: [], warnings: [], instructions };
      },
      endRun: async () => undefined,
    }),
    builtIns: async () => ({ offer: async () => builtIns }),
    conversations: async () => conversations,
    ...options,
  });
  const records = new Map<string, Json>();
  const progress: Progress[] = [];
  const paid: (number | null)[] = [];
  const run: InlineWorld["run"] = (input, over = {}, signal = NEVER) => {
    const task: Task & Purse = {
      ...agentTask(),
      record: async (key, value) => void records.set(key, parseExact(writeExact(value)) as Json),
      recorded: async (key) => records.get(key),
      emit: (told) => void progress.push(told),
      ...over,
      input,
    };
    return executor.run(withPurse(task, paid), signal);
  };
  const ask: InlineWorld["ask"] = (agent, over, signal) => {
    return run({ agent: { name: "Weather Agent", ...agent }, message: "How is Paris?" }, over, signal);
  };
  return { executor, requests: server.requests, wanted, records, progress, paid, ask, run };
}

export const say = (text: string, more: Partial<SaidReply> = {}): SaidReply => ({ do: "say", text, ...more });

export const call = (name: string, input: JsonObject = {}, more: Partial<SaidReply> = {}): SaidReply => {
  return { do: "say", calls: [{ name, input }], ...more };
};

export const calls = (...named: readonly [name: string, input: JsonObject][]): SaidReply => {
  return { do: "say", calls: named.map(([name, input]) => ({ name, input })) };
};

/** A tool of the server `weather`. `does` gets the arguments and the key of the call. */
export function tool(
  name: string,
  does: (args: JsonObject, key: string, signal: AbortSignal) => Promise<string> | string,
  over: Partial<AgentTool> = {},
): AgentTool {
  return {
    name,
    server: "weather",
    tool: name,
    aliases: [`weather.${name}`, `mcp__weather__${name}`],
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    isRepeatable: false,
    call: async (args, { idempotencyKey }, signal): Promise<ToolCallResult> => {
      const text = await does(args, idempotencyKey, signal);
      return { isError: false, text, content: [{ type: "text", text }] };
    },
    ...over,
  };
}
