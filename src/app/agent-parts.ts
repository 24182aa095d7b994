import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/load-config.ts";
import type { BuiltInTools } from "../ports/built-in-tools.ts";
import type { Conversations } from "../ports/conversations.ts";
import type { Executor } from "../ports/executor.ts";
import { INCOMING } from "../storage/storage-path.ts";
import { modelKeysOf } from "./model-keys.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { WorkParts } from "./work-parts.ts";

interface AgentPartsOptions {
  readonly config: Config;
  readonly dataDir: string;
  readonly mask: (text: string) => string;
  readonly work: WorkParts;
  readonly tools: ToolParts;
}

const WEB_FETCH_TIMEOUT_MS = 30_000;
const WEB_FETCH_MAX_BYTES = 5 * 1024 * 1024;

/** What agents inside this process are made of, opened when the first of them is needed. */
export class AgentParts {
  readonly #options: AgentPartsOptions;
  #inline: Promise<Executor> | undefined;
  #conversations: Promise<Conversations> | undefined;
  #tools: Promise<BuiltInTools> | undefined;

  constructor(options: AgentPartsOptions) {
    this.#options = options;
  }

  inline(): Promise<Executor> {
    this.#inline ??= this.#createInline();
    return this.#inline;
  }

  async close(): Promise<void> {
    await (await this.#conversations?.catch(() => undefined))?.close();
  }

  #openConversations(): Promise<Conversations> {
    this.#conversations ??= import("../storage/sqlite/sqlite-conversations.ts").then(({ SqliteConversations }) => {
      const { dataDir, mask } = this.#options;
      return SqliteConversations.open({ path: join(dataDir, "conversations.db"), mask });
    });
    return this.#conversations;
  }

  async #createInline(): Promise<Executor> {
    const { config, work, tools } = this.#options;
    const [{ createInlineExecutor }, { findDefaultModel }, models] = await Promise.all([
      import("../executors/agent/inline/inline-executor.ts"),
      import("../executors/models/built-ins.ts"),
      work.models(),
    ]);
    const { models: settings, agent } = config.settings;
    return createInlineExecutor({
      models,
      conversations: () => this.#openConversations(),
      defaultModel: settings.default ?? findDefaultModel(modelKeysOf(agent)),
      repairs: settings.repairs,
      silenceMs: settings.timeout_ms,
      patienceMs: agent.patience_ms,
      toolbox: () => tools.toolbox(),
      builtIns: () => this.#builtIns(),
    });
  }

  /** `web_fetch`, `files` and `bash`. */
  #builtIns(): Promise<BuiltInTools> {
    this.#tools ??= this.#createBuiltIns();
    return this.#tools;
  }

  async #createBuiltIns(): Promise<BuiltInTools> {
    const { config, dataDir, work } = this.#options;
    const [{ createAgentTools }, { createOutbound }, { LocalFileStorage }] = await Promise.all([
      import("../executors/agent-tools/create-agent-tools.ts"),
      import("../executors/outbound/outbound.ts"),
      import("../storage/files/local-file-storage.ts"),
    ]);
    const { code, outbound } = config.settings;
    const storageDir = join(await realpath(dataDir), "storage");
    return createAgentTools({
      outbound: createOutbound({ allow: outbound.allow, environment: process.env }),
      webFetch: { timeoutMs: WEB_FETCH_TIMEOUT_MS, maxBytes: WEB_FETCH_MAX_BYTES },
      filesIn: async (folder) => new LocalFileStorage(folder, join(storageDir, INCOMING)),
      storageDir,
      sandbox: () => work.strictSandbox(),
      limits: {
        timeoutMs: code.timeout_ms,
        memoryBytes: code.memory_bytes,
        maxOutputBytes: code.max_output_bytes,
        maxProcesses: code.max_processes,
      },
    });
  }
}
