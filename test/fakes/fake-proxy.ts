import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface FakeProxy {
  readonly url: string;
  /** The hosts that were asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** A real HTTP proxy that leads every host to one port of this machine. It tunnels (CONNECT) and forwards. */
export async function startFakeProxy(target: string): Promise<FakeProxy> {
  const { port } = new URL(target);
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, answer) => {
    asked.push(new URL(incoming.url ?? "").host);
    const { pathname, search } = new URL(incoming.url ?? "");
    const { method, headers } = incoming;
    const outgoing = request({ port, host: "127.0.0.1", path: pathname + search, method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    asked.push(incoming.url ?? "");
    const upstream = connect(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on("error", () => end.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
