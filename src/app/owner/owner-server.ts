import { rmSync } from "node:fs";
import type { Server as HttpServer, IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";

export interface OwnerServerOptions {
  readonly path: string;
  /** Loads what answers requests, with the first of them. */
  open(): Promise<(request: IncomingMessage, response: ServerResponse) => unknown>;
  onDefect(error: unknown): void;
}

/** How long a caller may take to read what it has been sent when the owner leaves. */
const CLOSE_GRACE_MS = 1_000;

/** Speaks HTTP over a local socket, so that other processes of the same user reach the owner of the data. */
export class OwnerServer {
  readonly #server: Server;
  readonly #callers = new Set<Socket>();

  /** Resolves when callers can connect. A file that an earlier owner left at the path is replaced. */
  static async listen(options: OwnerServerOptions): Promise<OwnerServer> {
    const server = new OwnerServer(options);
    await server.#listen(options.path);
    return server;
  }

  private constructor(options: OwnerServerOptions) {
    // Most owners end without a caller, and Node's HTTP is a good part of their start: it is loaded with the first one.
    let http: Promise<HttpServer> | undefined;
    this.#server = createServer({ allowHalfOpen: true }, async (socket) => {
      this.#callers.add(socket);
      socket.on("close", () => this.#callers.delete(socket));
      socket.on("error", () => undefined);
      http ??= createHttpServer(options);
      (await http).emit("connection", socket);
    });
  }

  /** Connections. A process that uses the owner has at least one. */
  get callers(): number {
    return this.#callers.size;
  }

  /** Callers see the connection end, and look for the next owner. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#callers) socket.destroySoon();
    const hurry = setTimeout(() => {
      for (const socket of this.#callers) socket.destroy();
    }, CLOSE_GRACE_MS);
    await closed;
    clearTimeout(hurry);
  }

  #listen(path: string): Promise<void> {
    rmSync(path, { force: true });
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      // The file is made within this call: no other user can connect even for a moment.
      const mask = process.umask(0o177);
      try {
        this.#server.listen(path, () => {
          this.#server.off("error", reject);
          this.#server.on("error", () => undefined);
          resolve();
        });
      } finally {
        process.umask(mask);
      }
    });
  }
}

async function createHttpServer({ open, onDefect }: OwnerServerOptions): Promise<HttpServer> {
  const http = await import("node:http");
  let opened: ReturnType<OwnerServerOptions["open"]> | undefined;
  // Runs and people take their time: a connection ends with its caller.
  return http.createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, async (request, response) => {
    try {
      opened ??= open();
      await (await opened)(request, response);
    } catch (error) {
      opened = undefined;
      onDefect(error);
      response.writeHead(500).end();
    }
  });
}
