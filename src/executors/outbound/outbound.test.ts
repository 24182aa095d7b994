import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import type { OutboundRequest, OutboundResult } from "../../ports/outbound.ts";
import { createAddressRule } from "./find-way.ts";
import { createOutbound } from "./outbound.ts";

const NEVER = new AbortController().signal;

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const asked = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  timeoutMs: 5_000,
  maxBytes: 1_000_000,
  maxRedirects: 5,
  ...more,
});

function bodyOf(result: OutboundResult): string {
  return result.ok ? result.body.toString() : `${result.reason}: ${result.message}`;
}

test.each([
  "http://127.0.0.1/",
  "http://localhost/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://0/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[fe80::1]/",
  "http://[fd00::1]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://192.168.1.1/",
  "http://100.64.0.1/",
  "http://224.0.0.1/",
  "http://8.8.8.8:25/",
  "http://user:password@8.8.8.8/",
  "file:///etc/passwd",
  "ftp://8.8.8.8/",
  "gopher://8.8.8.8/",
  "no url",
])("%s is refused", async (url) => {
  expect(await createOutbound({ allow: [] }).request(asked(url), NEVER)).toMatchObject({
    ok: false,
    reason: "refused",
  });
});

test("public addresses may be asked, on the web's ports and on high ones", () => {
  const rule = createAddressRule([]);
  const ports = [80, 443, 8_080, 22];
  expect(ports.map((port) => rule.allowsAddress("93.184.215.14", port))).toEqual([true, true, true, false]);
  expect(rule.allowsAddress("2606:2800:21f:cb07:6820:80da:af6b:8b2c", 443)).toBe(true);
});

test.each([
  [["localhost"], "http://localhost:PORT/"],
  [["localhost:PORT"], "http://localhost:PORT/"],
  [["127.0.0.1"], "http://127.0.0.1:PORT/"],
  [["127.0.0.0/8"], "http://localhost:PORT/"],
  [["127.0.0.1:PORT"], "http://[::ffff:127.0.0.1]:PORT/"],
])("what is allowed by %j can be asked at %s", async (allow, url) => {
  const port = await serve((_, answer) => answer.end("hello"));
  const outbound = createOutbound({
    allow: allow.map((entry) => entry.replace("PORT", String(port))),
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  });
  expect(bodyOf(await outbound.request(asked(url.replace("PORT", String(port))), NEVER))).toBe("hello");
});

test("what is allowed on one port is not allowed on another", async () => {
  const port = await serve((_, answer) => answer.end("hello"));
  const outbound = createOutbound({ allow: ["127.0.0.1:1"] });
  expect(await outbound.request(asked(`http://127.0.0.1:${port}/`), NEVER)).toMatchObject({ reason: "refused" });
});

test("a name is refused if any of its addresses is not public", async () => {
  const resolve = async () => [
    { address: "93.184.215.14", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];
  const outbound = createOutbound({ allow: [], resolve });
  expect(await outbound.request(asked("http://mixed.example/"), NEVER)).toMatchObject({ reason: "refused" });
});

test("the connection goes to the address that was checked, whatever the name says later", async () => {
  const port = await serve((request, answer) => answer.end(request.headers.host));
  let asks = 0;
  const resolve = async () => {
    asks += 1;
    return [{ address: asks === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }];
  };
  const outbound = createOutbound({ allow: ["127.0.0.1"], resolve });
  const result = await outbound.request(asked(`http://rebinding.example:${port}/`), NEVER);
  expect(bodyOf(result)).toBe(`rebinding.example:${port}`);
  expect(asks).toBe(1);
  expect(await outbound.request(asked(`http://rebinding.example:${port}/`), NEVER)).toMatchObject({
    reason: "refused",
  });
});

test("redirects are followed to where they may go, and no further", async () => {
  const inner = await serve((_, answer) => answer.end("secret"));
  const port = await serve((request, answer) => {
    const to: Record<string, string> = {
      "/near": "/end",
      "/inside": `http://127.0.0.1:${inner}/`,
      "/file": "file:///etc/passwd",
      "/for-ever": "/for-ever",
    };
    const location = to[request.url ?? ""];
    if (location === undefined) answer.end("the end");
    else answer.writeHead(302, { location }).end();
  });
  const outbound = createOutbound({ allow: [`127.0.0.1:${port}`] });
  const ask = (path: string, more = {}) => outbound.request(asked(`http://127.0.0.1:${port}${path}`, more), NEVER);
  expect(await ask("/near")).toMatchObject({ ok: true, url: `http://127.0.0.1:${port}/end` });
  expect(await ask("/near", { maxRedirects: 0 })).toMatchObject({ ok: true, status: 302 });
  expect(await ask("/inside")).toMatchObject({ reason: "refused" });
  expect(await ask("/file")).toMatchObject({ reason: "refused" });
  expect(await ask("/for-ever")).toMatchObject({ reason: "refused", message: "There were more than 5 redirects." });
});

test("headers that were meant for one origin are not told to another", async () => {
  const other = await serve((request, answer) => answer.end(request.headers["authorization"] ?? "nothing"));
  const port = await serve((request, answer) => {
    if (request.url === "/own") answer.end(request.headers["authorization"]);
    else answer.writeHead(302, { location: request.url === "/a" ? "/own" : `http://127.0.0.1:${other}/` }).end();
  });
  const outbound = createOutbound({ allow: ["127.0.0.1"] });
  const headers = { authorization: "Bearer k" };
  const ask = (path: string) => outbound.request(asked(`http://127.0.0.1:${port}${path}`, { headers }), NEVER);
  expect([bodyOf(await ask("/a")), bodyOf(await ask("/b"))]).toEqual(["Bearer k", "nothing"]);
});

test("a body is unpacked, and cut where it is longer than asked for, packed or not", async () => {
  const zeros = Buffer.alloc(50_000_000);
  const packed = { "/gzip": gzipSync(zeros), "/br": brotliCompressSync("short") };
  const port = await serve((request, answer) => {
    const path = request.url as keyof typeof packed;
    answer.writeHead(200, { "content-encoding": path.slice(1) }).end(packed[path]);
  });
  const outbound = createOutbound({ allow: ["127.0.0.1"] });
  const ask = (path: string) => outbound.request(asked(`http://127.0.0.1:${port}${path}`), NEVER);
  const bomb = await ask("/gzip");
  expect(bomb).toMatchObject({ ok: true, isCut: true });
  expect(bomb.ok && bomb.body.length).toBe(1_000_000);
  expect(bodyOf(await ask("/br"))).toBe("short");
});

test("an answer that does not come, or never ends, is waited for no longer than asked for", async () => {
  const port = await serve((request, answer) => {
    if (request.url === "/drip") answer.write("a");
  });
  const outbound = createOutbound({ allow: ["127.0.0.1"] });
  const ask = (path: string) => outbound.request(asked(`http://127.0.0.1:${port}${path}`, { timeoutMs: 200 }), NEVER);
  expect(await ask("/silent")).toMatchObject({ reason: "timedOut" });
  expect(await ask("/drip")).toMatchObject({ reason: "timedOut" });
  const slow = createOutbound({ allow: [], resolve: () => new Promise(() => undefined) });
  expect(await slow.request(asked("http://slow.example/", { timeoutMs: 100 }), NEVER)).toMatchObject({
    reason: "timedOut",
  });
});

test("what is stopped, and what cannot be reached, says so", async () => {
  const port = await serve((_, answer) => answer.destroy());
  const outbound = createOutbound({ allow: ["127.0.0.1"] });
  const url = `http://127.0.0.1:${port}/`;
  expect(await outbound.request(asked(url), NEVER)).toMatchObject({ reason: "unreachable" });
  expect(await outbound.request(asked(url), AbortSignal.abort())).toMatchObject({ reason: "aborted" });
});
