import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { LiveTerminals } from "../../ports/terminals/terminal-views.ts";
import { Viewer } from "./viewer.ts";

export interface ViewersOptions {
  readonly views: LiveTerminals;
  readonly canType: boolean;
}

interface Joining {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly sessionId: string;
}

const MAX_VIEWERS = 100;
/** The longest input is 10,000 characters, and each may be written as six. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** A viewer that has not answered for so long is taken to be gone. */
const HEARTBEAT_MS = 30_000;

/** All who look at terminals through a WebSocket. */
export class Viewers {
  readonly #options: ViewersOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  readonly #silent = new WeakSet<WebSocket>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#server.clients.size >= MAX_VIEWERS;
  }

  add(request: IncomingMessage, { socket, head, sessionId }: Joining): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("pong", () => this.#silent.delete(webSocket));
      this.#heartbeat ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
      void new Viewer(webSocket, { ...this.#options, sessionId }).show();
    });
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const client of this.#server.clients) client.terminate();
  }

  #beat(): void {
    for (const client of this.#server.clients) {
      if (this.#silent.has(client)) client.terminate();
      this.#silent.add(client);
      client.ping();
    }
  }
}
