import type { Config } from "../config/load-config.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { McpServers } from "../executors/mcp-servers/mcp-servers.ts";
import type { ServerPool } from "../executors/mcp-servers/server-pool.ts";
import type { SchemaValidators } from "../executors/output/schema-validators.ts";
import type { AgentToolbox } from "../ports/agent-toolbox.ts";
import type { Executor } from "../ports/executor.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import type { ToolEndpoint } from "../ports/tool-endpoint.ts";
import type { ToolSet } from "../ports/tool-set.ts";
import { pathOrName } from "./path-or-name.ts";
import { readVersion } from "./read-version.ts";
import type { WorkParts } from "./work-parts.ts";

interface ToolPartsOptions {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  /** What tools that run commands and ask models are made of. */
  readonly work: WorkParts;
  files(): Promise<FileStorage>;
}

/** What tools are called through, each opened when it is first needed and shared by all runs of the process. */
export class ToolParts {
  readonly #options: ToolPartsOptions;
  #validators: Promise<SchemaValidators> | undefined;
  #pool: Promise<ServerPool> | undefined;
  #servers: Promise<McpServers> | undefined;
  #toolbox: Promise<AgentToolbox> | undefined;
  #coreTools: Promise<ToolSet> | undefined;
  #endpoint: Promise<ToolEndpoint> | undefined;
  #executor: Promise<Executor> | undefined;

  constructor(options: ToolPartsOptions) {
    this.#options = options;
  }

  /** Calls the tools of steps. */
  executor(): Promise<Executor> {
    this.#executor ??= this.#createExecutor();
    return this.#executor;
  }

  /** The configured MCP servers. */
  servers(): Promise<McpServers> {
    this.#servers ??= this.#createServers();
    return this.#servers;
  }

  /** The tools of MCP servers for agents: the configured ones, and those of definitions. */
  toolbox(): Promise<AgentToolbox> {
    this.#toolbox ??= this.#createToolbox();
    return this.#toolbox;
  }

  /** Connects the application's own servers that are to be connected at the start. Does not wait for them. */
  async holdEager(): Promise<void> {
    const { appDir, config } = this.#options;
    const { readMcpServers } = await import("../config/read-mcp-servers.ts");
    // A file that cannot be read is told of where its servers are needed.
    const entries = await readMcpServers(appDir, config.settings.mcp.servers).catch(() => new Map<string, never>());
    const isEager = [...entries.values()].some(({ settings }) => "start" in settings && settings.start === "eager");
    if (isEager) (await this.toolbox()).hold("application", {});
  }

  coreTools(): Promise<ToolSet> {
    this.#coreTools ??= this.#createCoreTools();
    return this.#coreTools;
  }

  endpoint(): Promise<ToolEndpoint> {
    this.#endpoint ??= import("../executors/mcp/uhlp-endpoint.ts").then(({ UhlpEndpoint }) => {
      const { mcp_endpoint: configured, allowed_endpoints: allowed } = this.#options.config.settings.uhlp;
      return new UhlpEndpoint({ configured, allowed });
    });
    return this.#endpoint;
  }

  /** No process of a server is left after this. */
  async close(): Promise<void> {
    await (await this.#pool?.catch(() => undefined))?.close();
  }

  async #createExecutor(): Promise<Executor> {
    const [{ createMcpExecutor }, servers, coreTools, endpoint, validators] = await Promise.all([
      import("../executors/mcp/mcp-executor.ts"),
      this.servers(),
      this.coreTools(),
      this.endpoint(),
      this.#schemas(),
    ]);
    const hasEndpoint = this.#options.config.settings.uhlp.mcp_endpoint !== undefined;
    return createMcpExecutor({ servers, coreTools, endpoint, hasEndpoint, validators });
  }

  #openPool(): Promise<ServerPool> {
    this.#pool ??= this.#createPool();
    return this.#pool;
  }

  async #createPool(): Promise<ServerPool> {
    const [{ ServerPool }, version] = await Promise.all([
      import("../executors/mcp-servers/server-pool.ts"),
      readVersion(),
    ]);
    return new ServerPool({ version, connectTimeoutMs: CONNECT_TIMEOUT_MS, pingIntervalMs: PING_INTERVAL_MS });
  }

  async #createServers(): Promise<McpServers> {
    const { appDir, config } = this.#options;
    const [{ McpServers }, { readMcpServers }, pool] = await Promise.all([
      import("../executors/mcp-servers/mcp-servers.ts"),
      import("../config/read-mcp-servers.ts"),
      this.#openPool(),
    ]);
    const { servers } = config.settings.mcp;
    return new McpServers({ ...this.#surroundings(appDir), pool, entries: () => readMcpServers(appDir, servers) });
  }

  async #createToolbox(): Promise<AgentToolbox> {
    const { appDir, config } = this.#options;
    const [{ McpToolbox }, { McpServers }, { readEntries }, own, pool, validators] = await Promise.all([
      import("../executors/mcp-servers/toolbox.ts"),
      import("../executors/mcp-servers/mcp-servers.ts"),
      import("../config/read-mcp-servers.ts"),
      this.servers(),
      this.#openPool(),
      this.#schemas(),
    ]);
    return new McpToolbox({
      own,
      pool,
      validators,
      readPinned: (servers, folder = appDir) => {
        const entries = () => readEntries(servers, "the definition");
        return new McpServers({ ...this.#surroundings(folder), pool, entries, idleMs: config.settings.mcp.idle_ms });
      },
    });
  }

  #surroundings(folder: string) {
    const { appDir, config } = this.#options;
    const { mcp, code } = config.settings;
    const python = code.python === undefined ? undefined : pathOrName(code.python, appDir);
    return { folder, env: config.env, python, timeoutMs: mcp.timeout_ms };
  }

  async #createCoreTools(): Promise<ToolSet> {
    const { appDir, dataDir, config, work, files } = this.#options;
    const { runCommand } = work;
    const { createCoreTools } = await import("../executors/core-tools/core-tools.ts");
    return createCoreTools({
      folder: appDir,
      forbidden: [dataDir],
      files,
      configuration: readableConfiguration(config),
      generate: work.generate,
      runCommand,
    });
  }

  #schemas(): Promise<SchemaValidators> {
    this.#validators ??= import("../executors/output/schema-validators.ts").then(({ createSchemaValidators }) =>
      createSchemaValidators(),
    );
    return this.#validators;
  }
}

const CONNECT_TIMEOUT_MS = 30_000;
const PING_INTERVAL_MS = 30_000;

/** What workflows may read of the configuration: what it gives to them, and a few settings that are no secret. */
function readableConfiguration({ settings }: Config): JsonObject {
  const { server, uhlp, code, models, mcp, limits } = settings;
  // It was read from YAML or the environment, so it is JSON.
  const given = (server.context.configuration ?? {}) as Readonly<Record<string, Json>>;
  return {
    "uhlp.max_steps": uhlp.max_steps,
    "code.timeout_ms": code.timeout_ms,
    "models.default": models.default ?? null,
    "mcp.timeout_ms": mcp.timeout_ms,
    "mcp.allow_commands": mcp.allow_commands,
    "limits.max_output_bytes": limits.max_output_bytes,
    ...given,
  };
}
