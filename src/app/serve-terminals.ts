import type { Application, ServeTerminalsOptions } from "../operations/application/application.ts";
import type { WorkflowLibrary } from "../ports/workflow-library.ts";
import { toMcpHttp } from "./mcp-http.ts";
import { readVersion } from "./read-version.ts";
import { serveMcp } from "./serve-mcp.ts";

interface Served {
  readonly app: Application;
  readonly library: WorkflowLibrary;
}

/** Offers terminals and workflows over them. When it returns, calls have ended and runs of cancelled ones too. */
export async function serveTerminals(served: Served, options: ServeTerminalsOptions): Promise<void> {
  const { withRuns, log, stop } = options;
  const http = toMcpHttp(served.app, options);
  const [{ createTerminalServer }, { CallsUnderWay }] = await Promise.all([
    import("../surfaces/mcp/create-terminal-server.ts"),
    import("../surfaces/mcp/calls-under-way.ts"),
  ]);
  const calls = new CallsUnderWay();
  const parts = { ...served, version: await readVersion(), withRuns, calls, log };
  try {
    await serveMcp({ createServer: () => createTerminalServer(parts), ...http, log, stop });
  } finally {
    await calls.ended();
  }
}
