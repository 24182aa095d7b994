import { join } from "node:path";
import type { Config } from "../config/load-config.ts";
import type { Conversations } from "../ports/conversations.ts";
import type { Executor } from "../ports/executor.ts";
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

/** What agents inside this process are made of, opened when the first of them is needed. */
export class AgentParts {
  readonly #options: AgentPartsOptions;
  #inline: Promise<Executor> | undefined;
  #conversations: Promise<Conversations> | undefined;

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
      import("../executors/models/find-default-model.ts"),
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
      builtIns: async () => ({ offer: async () => [] }),
    });
  }
}
