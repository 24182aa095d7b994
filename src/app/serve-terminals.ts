import { PawlError } from "../core/errors/pawl-error.ts";
import type { Application, ServeTerminalsOptions } from "../operations/application.ts";
import type { WorkflowLibrary } from "../ports/workflow-library.ts";
import { isLoopback, namesOf, toAddress } from "./addresses.ts";
import { readVersion } from "./read-version.ts";
import { type McpService, serveMcp } from "./serve-mcp.ts";

interface Served {
  readonly app: Application;
  readonly library: WorkflowLibrary;
}

/** Offers terminals and workflows over them. When it returns, calls have ended and runs of cancelled ones too. */
export async function serveTerminals(served: Served, options: ServeTerminalsOptions): Promise<void> {
  const { withRuns, log, stop } = options;
  const http = toHttp(served.app, options);
  const [{ createTerminalServer }, { CallsUnderWay }] = await Promise.all([
    import("../surfaces/mcp/create-terminal-server.ts"),
    import("../surfaces/mcp/terminal/calls-under-way.ts"),
  ]);
  const calls = new CallsUnderWay();
  const parts = { ...served, version: await readVersion(), withRuns, calls, log };
  try {
    await serveMcp({ createServer: () => createTerminalServer(parts), ...http, log, stop });
  } finally {
    await calls.ended();
  }
}

function toHttp({ config }: Application, { http, token: given }: ServeTerminalsOptions): Pick<McpService, "http"> {
  if (http === undefined) return {};
  const { host = "127.0.0.1", port } = http;
  const address = toAddress(host);
  const token = given ?? config.settings.server.api_key;
  if (token !== undefined) return { http: { address, port, token, hostnames: namesOf(address) } };
  if (isLoopback(address)) return { http: { address, port } };
  throw new PawlError("HOST_REFUSED", {
    message: `"${host}" can be reached from other machines, and there is no token.`,
    remedy: "Set `server.api_key` (API_KEY) or give `--token`; callers send it as `Authorization: Bearer`.",
  });
}
