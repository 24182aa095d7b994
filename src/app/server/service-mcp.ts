import { setImmediate } from "node:timers/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { ServiceCaller } from "../../operations/application/service-caller.ts";
import type { Submissions } from "../../operations/start/submit-run.ts";
import type { McpHandler } from "../../surfaces/mcp/mcp-handler.ts";

export interface ServiceMcpParts {
  readonly submissions: Submissions;
  readonly version: string;
  readonly maxBodyBytes: number;
  readonly stopping: AbortSignal;
  /** Takes mistakes of clients. */
  log(line: string): void;
  onDefect(line: string): void;
}

interface Opened {
  readonly handler: McpHandler<ServiceCaller>;
  /** Resolves when no call is under way. */
  ended(): Promise<void>;
}

/** The tools of `pawl mcp` at a server's `/mcp`, for each caller as far as it may. Nothing is loaded before the first request. */
export class ServiceMcp {
  readonly #parts: ServiceMcpParts;
  #opened: Promise<Opened> | undefined;

  constructor(parts: ServiceMcpParts) {
    this.#parts = parts;
  }

  /** Throws `SERVER_STOPPING`. */
  async fetch(request: Request, caller: ServiceCaller): Promise<Response> {
    if (this.#parts.stopping.aborted)
      throw new PawlError("SERVER_STOPPING", { message: "This process stops and takes no more calls." });
    this.#opened ??= this.#open();
    return (await this.#opened).handler.fetch(request, caller);
  }

  /** Calls that end before `patience` aborts are answered; the others, and subscriptions, are broken off. */
  async close(patience: AbortSignal): Promise<void> {
    const opened = await this.#opened;
    if (opened === undefined) return;
    const over = new Promise<void>((resolve) => {
      patience.addEventListener("abort", () => resolve(), { once: true });
      if (patience.aborted) resolve();
    });
    await Promise.race([opened.ended(), over]);
    // Answers of calls that have just ended are sent first.
    await setImmediate();
    await opened.handler.close();
  }

  async #open(): Promise<Opened> {
    const [{ McpHandler }, { createServiceServer, loadServiceTools, marksFor }, { CallsUnderWay }] = await Promise.all([
      import("../../surfaces/mcp/mcp-handler.ts"),
      import("../../surfaces/mcp/create-service-server.ts"),
      import("../../surfaces/mcp/calls-under-way.ts"),
    ]);
    const { submissions, version, maxBodyBytes, stopping, log, onDefect } = this.#parts;
    const calls = new CallsUnderWay();
    const tools = await loadServiceTools();
    const handler = new McpHandler<ServiceCaller>({
      marksFor: ({ caller }) => marksFor({ tools, caller, log: onDefect }),
      createServer: ({ caller, cancelled, toolsets, watched }) =>
        createServiceServer({
          tools,
          toolsets: toolsets?.split(","),
          caller,
          cancelled,
          watched,
          lend: (use) => use({ app: caller.app, submissions }),
          stopping,
          version,
          calls,
          log: onDefect,
        }),
      maxBodyBytes,
      log,
    });
    return { handler, ended: () => calls.ended() };
  }
}
