import { chmod } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { type Duplex, pipeline } from "node:stream";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Reach } from "../../core/trust/grant.ts";
import { createFindWay, type FindWay, type OutboundOptions, pinned } from "./find-way.ts";
import { openThrough, openTunnel, portOf } from "./proxy.ts";

/** A proxy for programs that have no network of their own: it listens on a file, and needs no network of its own. */
export interface EgressProxy {
  readonly socketPath: string;
  close(): void;
}

export interface EgressOptions extends OutboundOptions {
  /** No other user may enter it; its maker removes it. */
  readonly folder: string;
  /** Addresses beside the public ones and those of `allow`. */
  readonly reach?: Reach | undefined;
}

const MAX_CONNECTIONS = 512;
const CONNECT_WITHIN_MS = 30_000;
const IDLE_MS = 600_000;

/** Forwards requests of sandboxed programs (`CONNECT` and plain HTTP) to allowed addresses. Names are resolved once, and that address is used. */
export async function openEgressProxy(options: EgressOptions): Promise<EgressProxy> {
  const findWay = createFindWay(options, options.reach);
  const server = createServer((asked, answer) => void forward(asked, answer, findWay));
  server.on("connect", (asked, client, head) => void tunnel(asked, { client, head }, findWay));
  server.on("clientError", (_, client) => client.destroy());
  server.maxConnections = MAX_CONNECTIONS;
  const socketPath = join(options.folder, "egress");
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(socketPath, resolve));
  // The folder keeps others out; programs have the socket alone, as users without a name.
  await chmod(socketPath, 0o666);
  server.unref();
  return {
    socketPath,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function tunnel(
  { url: target = "" }: IncomingMessage,
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
  findWay: FindWay,
): Promise<void> {
  client.on("error", () => client.destroy());
  // The parser of URLs makes one spelling of all: `0x7f.1:443` is 127.0.0.1 here.
  const url = /^[^/?#@\s]+:\d+$/.test(target) ? URL.parse(`https://${target}`) : null;
  try {
    if (url === null) throw new Refusal(400, "CONNECT wants HOST:PORT.");
    const server = await openSocket(url, findWay);
    client.on("close", () => server.destroy());
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) server.write(head);
    pipeline(client, server, client, () => server.destroy());
  } catch (error) {
    const { status, message } = toRefusal(error);
    const length = Buffer.byteLength(message);
    const fields = `content-type: text/plain\r\ncontent-length: ${length}\r\nconnection: close`;
    client.end(`HTTP/1.1 ${status} ${status === 403 ? "Forbidden" : "Bad Gateway"}\r\n${fields}\r\n\r\n${message}`);
  }
}

async function openSocket(url: URL, findWay: FindWay): Promise<Socket> {
  const signal = AbortSignal.timeout(CONNECT_WITHIN_MS);
  const way = await findWay(url, signal);
  if (way.proxy !== undefined) return openTunnel(way.proxy, url, signal);
  const socket = connect({ host: way.addresses[0].address, port: Number(portOf(url)) });
  socket.setTimeout(CONNECT_WITHIN_MS, () => socket.destroy(new Error("it does not answer")));
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.on("error", () => socket.destroy());
  return socket.setTimeout(IDLE_MS);
}

async function forward(asked: IncomingMessage, answer: ServerResponse, findWay: FindWay): Promise<void> {
  try {
    const url = URL.parse(asked.url ?? "");
    if (url?.protocol !== "http:" || url.username !== "")
      throw new Refusal(400, "This is a proxy: it wants CONNECT, or a whole URL that begins with http://.");
    const sent = await send(url, asked, findWay);
    const received = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve).once("error", reject);
      pipeline(asked, sent, () => undefined);
      answer.once("close", () => sent.destroy());
    });
    answer.writeHead(received.statusCode ?? 502, endToEnd(received.headers));
    pipeline(received, answer, () => undefined);
  } catch (error) {
    const { status, message } = toRefusal(error);
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(message);
  }
}

async function send(url: URL, { method, headers: given }: IncomingMessage, findWay: FindWay) {
  const headers = { ...endToEnd(given), host: url.host };
  const signal = AbortSignal.timeout(CONNECT_WITHIN_MS);
  const way = await findWay(url, signal);
  if (way.proxy !== undefined) return (await openThrough(way.proxy, url, signal))({ method, headers, agent: false });
  return request(url, { method, headers, agent: false, timeout: IDLE_MS, lookup: pinned(way.addresses) });
}

const HOP_BY_HOP = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** What concerns a connection, or us, is not passed on. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name) && !named.includes(name));
  return Object.fromEntries(kept);
}

/** Told to the program. */
class Refusal extends Error {
  readonly status: 400 | 403 | 502;

  constructor(status: 400 | 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isPawlError(error)) return new Refusal(403, `Pawl refuses this: ${error.message} ${error.remedy}\n`);
  const { code, message } = error as NodeJS.ErrnoException;
  return new Refusal(502, `It cannot be reached: ${code ?? message}.\n`);
}
