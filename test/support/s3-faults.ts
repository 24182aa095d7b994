import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";

export interface SeenRequest {
  readonly method: string;
  /** The path with its query, decoded. */
  readonly path: string;
  readonly bytes: number;
}

/** What is done to a request. Undefined: it is passed on. */
export type Fault =
  | { readonly status: number; readonly code: string }
  | "no answer"
  | "cut off"
  /** It is done, and nobody is told. */
  | "answer lost"
  | "dribble"
  /** It is answered after half a second. */
  | "slow"
  /** What is listed or looked at is two hours old. */
  | "old"
  /** The clock of the store is two hours behind the one of this process. */
  | "behind";

export interface FaultyStore {
  readonly endpoint: string;
  readonly seen: SeenRequest[];
  /** Decides about each request; undefined passes it on. */
  fault: ((request: SeenRequest) => Fault | undefined) | undefined;
  stop(): Promise<void>;
}

const TWO_HOURS_MS = 7_200_000;

/** Stands before a store, sees to conditions of writes, and fails as it is told to. */
export async function startFaultyStore(target: string): Promise<FaultyStore> {
  const store: Pick<FaultyStore, "fault" | "seen"> = { fault: undefined, seen: [] };
  /** Writes of one object, one after the other. */
  const turns = new Map<string, Promise<unknown>>();
  const inTurn = <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(path) ?? Promise.resolve()).then(work);
    const over = turn
      .catch(() => undefined)
      .then(() => {
        if (turns.get(path) === over) turns.delete(path);
      });
    turns.set(path, over);
    return turn;
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing).catch(() => outgoing.destroy()));

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const path = decodeURIComponent(incoming.url ?? "/");
    const seen = { method: incoming.method ?? "GET", path, bytes: body.byteLength };
    store.seen.push(seen);
    const fault = store.fault?.(seen);
    if (fault === "no answer") return;
    if (fault === "cut off") return void outgoing.destroy();
    if (typeof fault === "object") {
      const { status, code } = fault;
      const key = incoming.headers.authorization ?? "";
      outgoing.writeHead(status, { "content-type": "application/xml" });
      outgoing.end(
        incoming.method === "HEAD" ? "" : `<Error><Code>${code}</Code><Message>You sent ${key}</Message></Error>`,
      );
      return;
    }
    if (fault === "slow") await setTimeout(500);
    const url = new URL(incoming.url ?? "/", target);
    const pass = () => passOn(url, incoming, body);
    const isRead = seen.method === "GET" || seen.method === "HEAD";
    const { got, content } = await (isRead ? pass() : inTurn(url.pathname, () => passIfFits(url, incoming, pass)));
    if (fault === "answer lost") return void outgoing.destroy();
    const date = new Date(Date.now() - TWO_HOURS_MS).toUTCString();
    const isOld = fault === "old" || fault === "behind";
    const headers = isOld ? toOldHeaders(got.headers) : got.headers;
    outgoing.writeHead(got.statusCode ?? 500, fault === "behind" ? { ...headers, date } : headers);
    if (fault !== "dribble") return void outgoing.end(isOld ? toOld(content) : content);
    for (const byte of content) {
      if (outgoing.destroyed) return;
      outgoing.write(Buffer.of(byte));
      await setTimeout(20);
    }
    outgoing.end();
  }

  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(store, {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

interface Passed {
  readonly got: Pick<IncomingMessage, "statusCode" | "headers">;
  readonly content: Buffer;
}

async function passOn(
  url: URL,
  { method, headers }: Pick<IncomingMessage, "method" | "headers">,
  body?: Buffer,
): Promise<Passed> {
  const passed = request(url, { method, headers });
  passed.end(body);
  const [got] = (await once(passed, "response")) as [IncomingMessage];
  return { got, content: await buffer(got) };
}

/** The server of the tests knows no conditions. */
async function passIfFits(url: URL, { headers }: IncomingMessage, pass: () => Promise<Passed>): Promise<Passed> {
  const { "if-match": tag, "if-none-match": none } = headers;
  if (tag === undefined && none === undefined) return pass();
  const { got } = await passOn(new URL(url.pathname, url), {
    method: "HEAD",
    headers: { authorization: headers.authorization },
  });
  const fits = tag === undefined ? got.statusCode === 404 : got.headers.etag === tag;
  if (fits) return pass();
  const content = Buffer.from("<Error><Code>PreconditionFailed</Code></Error>");
  return { got: { statusCode: 412, headers: { "content-type": "application/xml" } }, content };
}

function toOldHeaders({ "last-modified": modified, ...others }: IncomingHttpHeaders): IncomingHttpHeaders {
  if (modified === undefined) return others;
  return { ...others, "last-modified": new Date(Date.parse(modified) - TWO_HOURS_MS).toUTCString() };
}

function toOld(content: Buffer): Buffer {
  const older = (text: string) => new Date(Date.parse(text) - TWO_HOURS_MS).toISOString();
  return Buffer.from(content.toString().replace(/(?<=<LastModified>)[^<]+/g, older));
}
