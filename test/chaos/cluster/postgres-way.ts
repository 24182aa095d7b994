import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";

/** Where a connection is cut: before the server gets what is sent, or before the client gets the answer to it. */
export type CutSide = "request" | "answer";

/** The way of one process to the database, on which connections can be cut between any two packets. */
export class PostgresWay {
  readonly port: number;
  readonly #stop: () => void;
  readonly #open = new Set<Socket>();
  #cut: { readonly side: CutSide; left: number } | undefined;
  cuts = 0;

  private constructor(port: number, stop: () => void) {
    this.port = port;
    this.#stop = stop;
  }

  static async open(socketFile: string): Promise<PostgresWay> {
    const server = createServer({ noDelay: true });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const way = new PostgresWay((server.address() as AddressInfo).port, () => server.close());
    server.on("connection", (client) => {
      const database = createConnection(socketFile);
      way.#pass(client, database, "request");
      way.#pass(database, client, "answer");
    });
    return way;
  }

  /** The connection on which the packet with this number comes is cut instead of passing it on. */
  cutAfter(packets: number, side: CutSide): void {
    this.#cut = { side, left: packets };
  }

  cutAll(): void {
    for (const socket of this.#open) socket.destroy();
    this.cuts += 1;
  }

  heal(): void {
    this.#cut = undefined;
  }

  close(): void {
    this.#stop();
    for (const socket of this.#open) socket.destroy();
  }

  #pass(from: Socket, to: Socket, side: CutSide): void {
    this.#open.add(from);
    from.on("data", (data) => {
      if (this.#cut?.side === side) {
        this.#cut.left -= 1;
        if (this.#cut.left <= 0) {
          this.#cut = undefined;
          this.cuts += 1;
          from.destroy();
          return;
        }
      }
      if (!to.write(data)) from.pause();
    });
    to.on("drain", () => from.resume());
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#open.delete(from);
      to.destroy();
    });
  }
}
