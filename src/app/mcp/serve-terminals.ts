import { readVersion } from "../../config/read-version.ts";
import type { Place, Ports, ServeTerminalsOptions, ServeToolsOptions } from "../../operations/application/ports.ts";
import type { WorkflowLibrary } from "../../ports/terminals/workflow-library.ts";
import type { ToolSet } from "../../ports/tools/tool-set.ts";
import { serveMcp, toMcpHttp } from "./serve-mcp.ts";

interface Served {
  readonly app: Ports;
  readonly library: WorkflowLibrary;
}

/** Offers terminals and workflows over them. When it returns, calls have ended and runs of cancelled ones too. */
export async function serveTerminals(served: Served, options: ServeTerminalsOptions): Promise<void> {
  const { withRuns, log, stop } = options;
  const http = toMcpHttp(served.app, options);
  const [{ createTerminalServer }, { markTerminalResource }, { CallsUnderWay }] = await Promise.all([
    import("../../surfaces/mcp/create-terminal-server.ts"),
    import("../../surfaces/mcp/terminal/resources.ts"),
    import("../../surfaces/mcp/calls-under-way.ts"),
  ]);
  const calls = new CallsUnderWay();
  const runTools = withRuns ? await (await import("../../surfaces/mcp/terminal/run-tools.ts")).loadRunTools() : [];
  const parts = { ...served, version: await readVersion(), runTools, calls, log };
  try {
    const marks = { resource: (uri: string) => markTerminalResource(served, uri) };
    await serveMcp({
      createServer: ({ watched }) => createTerminalServer({ ...parts, watched }),
      marks,
      ...http,
      log,
      stop,
    });
  } finally {
    await calls.ended();
  }
}

/** Offers tools to other programs until they are gone, or `stop` aborts. */
export async function serveTools(app: Place, tools: ToolSet, options: ServeToolsOptions): Promise<void> {
  const { plainNames, log, stop } = options;
  const { createToolServer } = await import("../../surfaces/mcp/create-tool-server.ts");
  const server = { tools, version: await readVersion(), plainNames, log };
  await serveMcp({ createServer: () => createToolServer(server), ...toMcpHttp(app, options), log, stop });
}
