import type { Config } from "../../config/load-config.ts";
import { readVersion } from "../../config/read-version.ts";
import { isErrorCode } from "../../core/errors/error-table.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Reach } from "../../core/trust/grant.ts";
import type { Sends } from "../../executors/core-tools/core-tools.ts";
import type { NamedTool } from "../../executors/mcp/check-tool.ts";
import type { LoginVault } from "../../executors/mcp-servers/login/sealed-login.ts";
import type { FindAgentToolProblem, NamedServer } from "../../operations/application/ports.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { AgentToolbox } from "../../ports/tools/agent-toolbox.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import type { ToolSet } from "../../ports/tools/tool-set.ts";
import { once } from "../once.ts";
import { openOutbound } from "../open-outbound.ts";
import { type CodeAndModels, pathOrName } from "./code-and-models.ts";

interface ToolsOptions {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  /** Runs commands and asks models for tools. */
  readonly work: Pick<CodeAndModels, "generate" | "runCommand" | "endpoint" | "confineServer">;
  files(): Promise<FileStorage>;
  readonly vault: LoginVault;
  readonly sends: Sends;
}

export type Tools = ReturnType<typeof composeTools>;

/** Composes the parts that call tools. Each is opened when it is first needed, and shared by all runs of the process. */
export function composeTools({ appDir, dataDir, config, work, files, vault, sends }: ToolsOptions) {
  const { mcp, code } = config.settings;
  const python = code.python === undefined ? undefined : pathOrName(code.python, appDir);
  const surroundings = (folder: string, reach?: Reach) => ({
    folder,
    reach,
    env: config.env,
    python,
    timeoutMs: mcp.timeout_ms,
    generate: work.generate,
  });
  const validators = once(async () => new (await import("../../schemas/json-schemas.ts")).JsonSchemas());
  const pool = once(async () => {
    const { ServerPool } = await import("../../executors/mcp-servers/server-pool.ts");
    const version = await readVersion();
    return new ServerPool({
      version,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      pingIntervalMs: PING_INTERVAL_MS,
      outbound: await openOutbound(config),
      confine: work.confineServer,
      vault,
    });
  });
  const servers = once(async () => {
    const [{ McpServers }, { readMcpServers }] = await Promise.all([
      import("../../executors/mcp-servers/mcp-servers.ts"),
      import("../../config/read-mcp-servers.ts"),
    ]);
    const entries = () => readMcpServers(appDir, mcp.servers);
    return new McpServers({ ...surroundings(appDir), pool: await pool(), entries });
  });
  /** The tools of MCP servers for agents: the configured ones, and those of definitions. */
  const toolbox = once(async (): Promise<AgentToolbox> => {
    const [{ McpToolbox }, { McpServers }, { readEntries }, shared] = await Promise.all([
      import("../../executors/mcp-servers/toolbox/toolbox.ts"),
      import("../../executors/mcp-servers/mcp-servers.ts"),
      import("../../config/read-mcp-servers.ts"),
      pool(),
    ]);
    return new McpToolbox({
      own: await servers(),
      pool: shared,
      validators: await validators(),
      readPinned: (pinned, { folder, reach, tenantId }) => {
        const entries = () => readEntries(pinned, "the definition");
        // Only the operator has programs here that run as we do.
        const confinedTo = reach === undefined ? undefined : (folder ?? null);
        return new McpServers({
          ...surroundings(folder ?? appDir, reach),
          confinedTo,
          tenantId,
          pool: shared,
          entries,
          idleMs: mcp.idle_ms,
        });
      },
    });
  });
  const openCoreTools = async (more: { readonly sends?: Sends; readonly generate?: Generate } = {}) => {
    const { createCoreTools } = await import("../../executors/core-tools/core-tools.ts");
    return createCoreTools({
      folder: appDir,
      forbidden: [dataDir],
      files,
      configuration: readableConfiguration(config),
      generate: work.generate,
      runCommand: work.runCommand,
      ...more,
    });
  };
  const coreTools = once(() => openCoreTools({ sends }));
  const openExecutor = async (core: ToolSet, generate?: Generate) => {
    const { createMcpExecutor } = await import("../../executors/mcp/mcp-executor.ts");
    const [own, endpoint, checker] = await Promise.all([servers(), work.endpoint(), validators()]);
    return createMcpExecutor({ servers: own, coreTools: core, endpoint, validators: checker, generate });
  };
  return {
    toolbox,
    /** For other programs, which are no steps. */
    coreTools: () => openCoreTools(),
    executor: once(async () => openExecutor(await coreTools())),
    /** The same, where models are asked so. */
    simulated: async (generate: Generate) => openExecutor(await openCoreTools({ sends, generate }), generate),
    async findToolProblem(named: NamedTool, signal: AbortSignal) {
      const { findToolProblem } = await import("../../executors/mcp/check-tool.ts");
      const [own, core, elsewhere] = await Promise.all([servers(), coreTools(), work.endpoint()]);
      return findToolProblem(named, { servers: own, coreTools: core, endpoint: elsewhere }, signal);
    },
    async findAgentToolProblem(...[agent, of, signal]: Parameters<FindAgentToolProblem>) {
      const { findAgentToolProblem } = await import("../../executors/agent/inline/gather-tools.ts");
      return await findAgentToolProblem(agent, { ...of, toolbox }, signal);
    },
    /** Where a server is that the application names, or a definition: that one by its URL. Throws `MCP_SERVER_UNKNOWN`, `MCP_SERVER_INVALID`. */
    async addressOf({ server, url, tenantId }: NamedServer) {
      const [{ McpServers }, { McpFailure }] = await Promise.all([
        import("../../executors/mcp-servers/mcp-servers.ts"),
        import("../../executors/mcp-servers/mcp-failure.ts"),
      ]);
      const entries = async () => new Map([[server, { origin: "the command line", settings: { url } }]]);
      const isOwn = url === undefined && tenantId === undefined;
      const named = isOwn
        ? await servers()
        : new McpServers({ ...surroundings(appDir), tenantId, pool: await pool(), entries });
      try {
        return (await named.find(server)).address;
      } catch (error) {
        if (!(error instanceof McpFailure) || !isErrorCode(error.failed.code)) throw error;
        throw new PawlError(error.failed.code, { message: error.message, cause: error });
      }
    },
    /** Connects the application's own servers that are to be connected at the start. Does not wait for them. */
    async holdEager(): Promise<void> {
      const { readMcpServers } = await import("../../config/read-mcp-servers.ts");
      // A step that needs a server tells of a file that cannot be read.
      const entries = await readMcpServers(appDir, mcp.servers).catch(() => new Map<string, never>());
      const isEager = [...entries.values()].some(({ settings }) => "start" in settings && settings.start === "eager");
      if (isEager) (await toolbox()).hold("application", {});
    },
    /** No process of a server is left after this. */
    close: () => pool.close((opened) => opened.close()),
  };
}

const CONNECT_TIMEOUT_MS = 30_000;
const PING_INTERVAL_MS = 30_000;

/** The configuration as workflows may read it: their own part, and a few settings that are no secret. */
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
