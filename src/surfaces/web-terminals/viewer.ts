import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import type { LiveTerminals, OutputView } from "../../ports/terminals/terminal-views.ts";

interface ViewerOptions {
  readonly views: LiveTerminals;
  readonly canType: boolean;
  readonly sessionId: string;
}

/** Why a socket is closed, for the page. */
const CLOSE = { ended: 4000, notFound: 4404, notUnderstood: 1008, defect: 1011 } as const;

/** So many frames may be on their way: one that is shown and one that comes meanwhile. */
const FRAMES_AHEAD = 2;

/**
 * One who looks at a terminal. He says `ready` for every frame that he has shown and gets the next one only then, so that
 * neither this process nor his browser holds more than a few, however much is printed.
 */
class Viewer {
  readonly #socket: WebSocket;
  readonly #options: ViewerOptions;
  #credit = FRAMES_AHEAD;
  #proceed: (() => void) | undefined;
  #typed: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(socket: WebSocket, options: ViewerOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("error", () => undefined);
    socket.on("message", (data, isBinary) => this.#receive(data, isBinary));
  }

  /** Shows the terminal until one of both ends. Never rejects. */
  async show(): Promise<void> {
    let view: OutputView | undefined;
    try {
      view = this.#options.views.watchOutput(this.#options.sessionId);
      const watched = view;
      this.#socket.on("close", () => {
        watched.close();
        this.#proceed?.();
      });
      await this.#showAll(watched);
      this.#socket.close(CLOSE.ended);
    } catch (error) {
      const isGone = isPawlError(error) && error.code === "TERMINAL_NOT_FOUND";
      this.#socket.close(isGone ? CLOSE.notFound : CLOSE.defect);
    } finally {
      view?.close();
    }
  }

  async #showAll(view: OutputView): Promise<void> {
    const { views, canType, sessionId } = this.#options;
    const session = (await views.list()).find(({ session_id }) => session_id === sessionId);
    await this.#send({
      type: "session",
      command: session?.command ?? "",
      title: session?.title ?? "",
      can_type: canType,
    });
    for (;;) {
      if (this.#credit === 0) await new Promise<void>((resolve) => this.#proceedWith(resolve));
      if (!this.#isOpen) return;
      this.#credit -= 1;
      const frame = await view.next();
      await this.#send({ ...frame });
      if (frame.type === "ended") return;
    }
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #proceedWith(resolve: () => void): void {
    if (this.#isOpen) this.#proceed = resolve;
    else resolve();
  }

  /** Resolves when the system has taken it; rejects where nobody can be reached. */
  #send(message: Json): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(writeExact(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  #receive(data: RawData, isBinary: boolean): void {
    const message = isBinary ? undefined : parse(data);
    const type = isJsonObject(message) ? message["type"] : undefined;
    const input = isJsonObject(message) ? message["data"] : undefined;
    if (type === "ready") this.#ready();
    else if (type === "input" && typeof input === "string") this.#type(input);
    else this.#socket.close(CLOSE.notUnderstood);
  }

  #ready(): void {
    this.#credit = Math.min(this.#credit + 1, FRAMES_AHEAD);
    const proceed = this.#proceed;
    this.#proceed = undefined;
    proceed?.();
  }

  /** Messages are handled one after the other; none is read meanwhile, however fast a person types. */
  #type(input: string): void {
    this.#waiting += 1;
    this.#socket.pause();
    this.#typed = this.#typed
      .then(() => this.#typeOne(input))
      .catch(() => undefined)
      .then(() => {
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#socket.resume();
      });
  }

  async #typeOne(input: string): Promise<void> {
    const { views, canType, sessionId } = this.#options;
    if (!canType) {
      return this.#send({ type: "refused", message: "Only looking is allowed here: `terminal.web_input` is not set." });
    }
    try {
      await views.type(sessionId, input);
    } catch (error) {
      if (!isPawlError(error)) throw error;
      await this.#send({ type: "refused", message: error.message });
    }
  }
}

/** Undefined: it is no JSON. */
function parse(data: RawData): Json | undefined {
  try {
    return parseExact(String(data));
  } catch {
    return undefined;
  }
}

interface ViewersOptions {
  readonly views: LiveTerminals;
  readonly canType: boolean;
}

interface Joining {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly sessionId: string;
}

/** Beside it a page offers one that bears its token. */
const PROTOCOL = "pawl";

const MAX_VIEWERS = 100;
/** The longest input is 10,000 characters, and each may be written as six. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** A viewer that has not answered for so long is taken to be gone. */
const HEARTBEAT_MS = 30_000;

/** All who look at terminals through a WebSocket. */
export class Viewers {
  readonly #options: ViewersOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: () => PROTOCOL,
  });
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
