import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/load-config.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CapacityPools } from "../../executors/capacity/capacity-pools.ts";
import type { Conversations } from "../../ports/conversations.ts";
import type { Executor } from "../../ports/executor.ts";
import { makeFolder } from "../../storage/make-folder.ts";
import { INCOMING } from "../../storage/storage-path.ts";
import { once } from "../once.ts";
import { openOutbound } from "../open-outbound.ts";
import { openFolder, type Stores } from "../open-stores.ts";
import type { SharedDatabase } from "../seat/shared-database.ts";
import type { StorageThread } from "../storage-thread/storage-thread.ts";
import { type CodeAndModels, modelKeysOf } from "./code-and-models.ts";
import type { Tools } from "./tools.ts";

interface AgentsOptions {
  readonly config: Config;
  readonly dataDir: string;
  readonly mask: (text: string) => string;
  readonly work: Pick<CodeAndModels, "models" | "prices" | "strictSandbox" | "limits">;
  readonly tools: Pick<Tools, "toolbox">;
  readonly capacity: CapacityPools;
  stores(): Promise<Stores>;
  /** Undefined: what was said is kept in the data directory. */
  database(): Promise<SharedDatabase> | undefined;
  /** Writes what was said, if there is one. */
  thread(): StorageThread | undefined;
}

export type Agents = ReturnType<typeof composeAgents>;

const WEB_FETCH_TIMEOUT_MS = 30_000;
const WEB_FETCH_MAX_BYTES = 5 * 1024 * 1024;
const MAX_SCRIPTS = 50;

/** The executors of agent steps. Each is made when it is first needed and shared by all runs: it compiles a schema once. */
export function composeAgents(options: AgentsOptions) {
  const { config, dataDir, mask, work, tools, capacity, stores, database, thread } = options;
  const { agent, models: settings } = config.settings;
  const conversations = once(async () => {
    const { openConversations } = await import("../open-service-records.ts");
    const shared = await (await database())?.records();
    const opened =
      shared?.conversations ??
      openConversations({ path: join(dataDir, "conversations.db"), durability: "power" }, thread);
    const append: Conversations["append"] = (session, { user, agent: said, ...rest }) =>
      opened.append(session, { ...rest, user: mask(user), agent: mask(said) });
    // A database is closed by who has opened it.
    const close = async () => (shared === undefined ? opened.close() : undefined);
    // Called on what has them: not every one is bound to its database.
    const read: Conversations["read"] = (session, limits) => opened.read(session, limits);
    return { read, append, close };
  });
  /** `web_fetch`, `files` and `bash`. */
  const builtIns = once(async () => {
    const { createAgentTools } = await import("../../executors/agent-tools/create-agent-tools.ts");
    const { bucket, files } = await stores();
    // With a database and a bucket nothing may have made it so far.
    makeFolder(dataDir);
    const storageDir = join(await realpath(dataDir), bucket === undefined ? "storage" : "work");
    return createAgentTools({
      outbound: await openOutbound(config),
      webFetch: { timeoutMs: WEB_FETCH_TIMEOUT_MS, maxBytes: WEB_FETCH_MAX_BYTES },
      filesIn: (folder) => openFolder(folder, join(storageDir, INCOMING)),
      storageDir,
      kept: bucket === undefined ? undefined : files,
      sandbox: work.strictSandbox,
      limits: work.limits,
    });
  });
  /** By the text of the script; without one under no text. */
  const simulated = new BoundedMap<string, Promise<Executor>>(MAX_SCRIPTS);
  return {
    inline: once(async () => {
      const [{ createInlineExecutor }, { findDefaultModel }] = await Promise.all([
        import("../../executors/agent/inline/inline-executor.ts"),
        import("../../executors/models/built-ins.ts"),
      ]);
      return createInlineExecutor({
        models: await work.models(),
        conversations,
        defaultModel: settings.default ?? findDefaultModel(modelKeysOf(agent)),
        repairs: settings.repairs,
        silenceMs: settings.timeout_ms,
        patienceMs: agent.patience_ms,
        toolbox: tools.toolbox,
        builtIns,
      });
    }),
    sandstorm: once(async () => {
      const { createSandstormExecutor } = await import("../../executors/agent/sandstorm/sandstorm-executor.ts");
      return createSandstormExecutor({
        outbound: await openOutbound(config),
        baseUrl: agent.sandstorm_url,
        prices: await work.prices(),
        apiKey: agent.sandstorm_api_key,
        anthropicApiKey: agent.anthropic_api_key,
        e2bApiKey: agent.e2b_api_key,
        expandEnv: (text) => resolveEnv(text, config.env),
        idleTimeoutMs: agent.idle_timeout_ms,
        connectTimeoutMs: agent.connect_timeout_ms,
        capacity,
      });
    }),
    /** A run's options keep the script that it began with. Throws `SCRIPT_INVALID`. */
    simulated({ agent: name, script }: JsonObject): Promise<Executor> {
      const text = typeof script === "string" ? script : "";
      const known = simulated.get(text);
      if (known !== undefined) return known;
      const file = String(name).slice("simulated:".length);
      const executor = createSimulated(text === "" ? undefined : { text, file }, agent.simulated_delay_factor);
      simulated.set(text, executor);
      return executor;
    },
    close: () => conversations.close((opened) => opened.close()),
  };
}

async function createSimulated(
  script: { readonly text: string; readonly file: string } | undefined,
  delayFactor: number,
): Promise<Executor> {
  const { createSimulatedExecutor } = await import("../../executors/agent/simulated/simulated-executor.ts");
  if (script === undefined) return createSimulatedExecutor({ delayFactor });
  const { readAgentScript } = await import("../../dialects/agent-script/agent-script.ts");
  return createSimulatedExecutor({ delayFactor, script: await readAgentScript(script.text, script.file) });
}
