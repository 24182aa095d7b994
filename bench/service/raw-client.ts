import { once } from "node:events";
import { connect, type Socket } from "node:net";

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly tookMs: number;
}

/**
 * HTTP over one connection, one request after another, and nothing that a client could do without: it shares two processors
 * with the server that it measures.
 */
class RawConnection {
  readonly #socket: Socket;
  readonly #host: string;
  #received = "";
  #heard: () => void = () => undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.#received += text;
      this.#heard();
    });
    socket.on("close", () => this.#heard());
    socket.on("error", () => this.#heard());
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new RawConnection(socket, host);
  }

  async send(method: string, path: string, json: string): Promise<Answer> {
    const startedAt = performance.now();
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\n`;
    this.#socket.write(`${head}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
    for (;;) {
      const whole = this.#takeAnswer();
      if (whole !== undefined) return { ...whole, tookMs: performance.now() - startedAt };
      if (this.#socket.destroyed) throw new Error("The server has closed the connection.");
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #takeAnswer(): Omit<Answer, "tookMs"> | undefined {
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd === -1) return undefined;
    const head = this.#received.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) throw new Error(`An answer without a length:\n${head}`);
    const end = headEnd + 4 + length;
    if (this.#received.length < end) return undefined;
    const body = this.#received.slice(headEnd + 4, end);
    this.#received = this.#received.slice(end);
    return { status: Number(head.slice(9, 12)), body };
  }
}

interface Posted {
  readonly tookMs: number;
  /** Of each request, in no order. */
  readonly latenciesMs: readonly number[];
  readonly bodies: readonly string[];
}

interface Posting {
  readonly atOnce: number;
  /** Default POST. */
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly count: number;
  body(n: number): string;
  readonly status: number;
  /** Is told of each answer as it comes. */
  answered?(body: string): void;
}

/** `count` requests, of which `atOnce` are under way: each connection asks as soon as it has been answered. Opening them is not timed. */
export async function postAll(url: string, posting: Posting): Promise<Posted> {
  const connections = await Promise.all(Array.from({ length: posting.atOnce }, () => RawConnection.open(url)));
  try {
    return await post(connections, posting);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function post(
  connections: readonly RawConnection[],
  { method = "POST", path, count, body, status, answered }: Posting,
): Promise<Posted> {
  let next = 0;
  const latenciesMs: number[] = [];
  const bodies: string[] = [];
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) {
        const answer = await connection.send(method, path, body(next++));
        if (answer.status !== status) throw new Error(`${answer.status}: ${answer.body}`);
        latenciesMs.push(answer.tookMs);
        bodies.push(answer.body);
        answered?.(answer.body);
      }
    }),
  );
  return { tookMs: performance.now() - startedAt, latenciesMs, bodies };
}
