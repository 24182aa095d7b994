import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";

/** Where a way leads: a socket file or a port. */
export type Target = { readonly path: string } | { readonly port: number; readonly host: string };

export type WayFault =
  /** Connections are taken, and nothing is answered. */
  | { readonly do: "silent" }
  /** What is no answer of the protocol. */
  | { readonly do: "garbage" }
  /** The connection ends, or stands still, with this packet of either side; every connection, or one. */
  | { readonly do: "cut" | "stall"; readonly at: number; readonly side: "request" | "answer"; readonly each: boolean }
  | { readonly do: "slow"; readonly delayMs: number };

/** A way on loopback to a server, on which something happens to what is sent. */
export interface FaultyWay {
  readonly port: number;
  close(): void;
}

export async function openFaultyWay(target: Target, fault: WayFault): Promise<FaultyWay> {
  const open = new Set<Socket>();
  let isDone = false;
  const server = createServer({ noDelay: true }, (client) => {
    keep(open, client);
    if (fault.do === "silent") return void client.resume();
    if (fault.do === "garbage") return void client.on("data", () => client.write("?!\0\r\n?!\r\n"));
    const behind = createConnection(target);
    keep(open, behind);
    const sides = { request: [client, behind], answer: [behind, client] } as const;
    for (const [side, [from, to]] of Object.entries(sides)) {
      let packets = 0;
      from.on("data", (data) => {
        packets += 1;
        if (fault.do === "slow") return void setTimeout(() => to.destroyed || to.write(data), fault.delayMs);
        if (side === fault.side && packets >= fault.at && (fault.each || !isDone)) {
          isDone ||= !fault.each;
          if (fault.do === "cut") from.destroy();
          else from.pause();
          return;
        }
        to.write(data);
      });
      from.on("close", () => to.destroy());
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function keep(open: Set<Socket>, socket: Socket): void {
  open.add(socket);
  socket.on("error", () => undefined);
  socket.on("close", () => open.delete(socket));
}
