import { createServer, type Http2Server, type Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { RunDriver } from "./run-driver.ts";
import { createRunWorkflow, type RunWorkflowOptions } from "./run-workflow.ts";

export interface RestateEndpointOptions extends RunWorkflowOptions {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Public keys of the servers whose requests are taken. Empty: those of all who can reach it. */
  readonly identityKeys: readonly string[];
}

/** Where Restate calls the handlers of runs. */
export class RestateEndpoint {
  readonly #server: Http2Server;
  readonly #sessions = new Set<Http2Session>();
  readonly url: string;

  private constructor(server: Http2Server, sessions: Set<Http2Session>) {
    const { address, family, port } = server.address() as AddressInfo;
    this.#server = server;
    this.#sessions = sessions;
    this.url = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /** Resolves when it takes requests. Throws `ADDRESS_UNAVAILABLE`. */
  static async listen(driver: RunDriver, options: RestateEndpointOptions): Promise<RestateEndpoint> {
    const { host, port, identityKeys } = options;
    const handler = createEndpointHandler({
      services: [createRunWorkflow(driver, options)],
      ...(identityKeys.length === 0 ? {} : { identityKeys: [...identityKeys] }),
      // What fails is told by Restate, which tries it again.
      logger: () => undefined,
    });
    const server = createServer(handler);
    const sessions = new Set<Http2Session>();
    server.on("session", (session) => {
      sessions.add(session);
      session.once("close", () => sessions.delete(session));
    });
    await new Promise<void>((resolve, reject) => {
      const refused = (cause: Error) => {
        const reason = "code" in cause && cause.code === "EADDRINUSE" ? "it is in use" : cause.message;
        const message = `Restate cannot call this process at ${host}:${port}: ${reason}.`;
        const remedy = "Name another port: `--port` of the worker, or RESTATE_ENDPOINT_PORT.";
        reject(new PawlError("ADDRESS_UNAVAILABLE", { message, remedy, cause }));
      };
      server.once("error", refused);
      server.listen(port, host, () => {
        server.off("error", refused);
        resolve();
      });
    });
    return new RestateEndpoint(server, sessions);
  }

  /** Attempts that are under way are cut off, and Restate makes others elsewhere or later. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }
}
