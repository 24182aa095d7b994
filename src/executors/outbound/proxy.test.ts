import { once } from "node:events";
import { createServer, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import type { OutboundResult } from "../../ports/outbound.ts";
import { createOutbound } from "./outbound.ts";
import { findProxy } from "./proxy.ts";

const NEVER = new AbortController().signal;

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy that leads every name to one port of this machine, and notes what it was asked for. */
async function startProxy(port: number) {
  const seen: string[] = [];
  const server = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url} ${asked.headers["proxy-authorization"] ?? ""}`.trim());
    const { pathname } = new URL(asked.url ?? "");
    request({ port, host: "127.0.0.1", path: pathname, headers: asked.headers }, (from) => {
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    }).end();
  });
  server.on("connect", (asked, client: Socket) => {
    seen.push(`CONNECT ${asked.url} ${asked.headers["proxy-authorization"] ?? ""}`.trim());
    if (asked.url?.startsWith("forbidden.")) return void client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const upstream = connect(port, "127.0.0.1", () => client.write("HTTP/1.1 200 Connected\r\n\r\n"));
    upstream.pipe(client).pipe(upstream);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  return { url: `http://user:pa%20ss@127.0.0.1:${await listen(server)}`, seen };
}

const AUTHORIZATION = `Basic ${Buffer.from("user:pa ss").toString("base64")}`;

/** Names are resolved by the proxy alone. */
function createOutboundBehind(environment: Readonly<Record<string, string>>, allow: readonly string[] = []) {
  const resolve = () => Promise.reject(new Error("Nothing is to be resolved here."));
  const outbound = createOutbound({ allow, resolve, environment });
  const limits = { timeoutMs: 5_000, maxBytes: 1_000, maxRedirects: 3 };
  return async (url: string) => toText(await outbound.request({ url, ...limits }, NEVER));
}

function toText(result: OutboundResult): string {
  return result.ok ? `${result.status} ${result.body}` : `${result.reason}: ${result.message}`;
}

test("an http request goes to the proxy with its whole URL, and so does what it is redirected to", async () => {
  const port = await listen(
    createServer((asked, answer) => {
      if (asked.url === "/from") answer.writeHead(302, { location: "http://other.example/to" }).end();
      else if (asked.url === "/inside") answer.writeHead(302, { location: "http://169.254.169.254/" }).end();
      else answer.end(`hello from ${asked.headers.host}`);
    }),
  );
  const { url, seen } = await startProxy(port);
  const ask = createOutboundBehind({ HTTP_PROXY: url });
  expect(await ask("http://one.example/from")).toBe("200 hello from other.example");
  expect(seen).toEqual([
    `GET http://one.example/from ${AUTHORIZATION}`,
    `GET http://other.example/to ${AUTHORIZATION}`,
  ]);
  expect(await ask("http://one.example/inside")).toContain("refused: 169.254.169.254 is not a public address");
});

test("an https request goes through a tunnel, and the certificate is that of the server behind it", async () => {
  const known = getCACertificates("default");
  setDefaultCACertificates([...known, CERTIFICATE.cert]);
  onTestFinished(() => setDefaultCACertificates(known));
  const server = createHttpsServer(CERTIFICATE, (asked, answer) => answer.end(`hello ${asked.url}`));
  const { url, seen } = await startProxy(await listen(server));
  const ask = createOutboundBehind({ https_proxy: url });
  expect(await ask("https://one.example/secret")).toBe("200 hello /secret");
  expect(seen).toEqual([`CONNECT one.example:443 ${AUTHORIZATION}`]);
  expect(await ask("https://another.example/")).toContain(
    "unreachable: It cannot be reached: ERR_TLS_CERT_ALTNAME_INVALID",
  );
  expect(await ask("https://forbidden.example/")).toContain("the proxy answered 403 for forbidden.example:443");
});

test.each([
  "http://printer/",
  "http://metadata.google.internal/",
  "http://nas.local/",
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://[::1]/",
  "http://10.0.0.1/",
  "http://example.com:25/",
])("behind a proxy %s is refused by its text, and the proxy is not asked", async (target) => {
  const { url, seen } = await startProxy(1);
  expect(await createOutboundBehind({ HTTP_PROXY: url })(target)).toContain("refused");
  expect(seen).toEqual([]);
});

test("what is allowed by name is asked through the proxy, what NO_PROXY names directly", async () => {
  const port = await listen(createServer((_, answer) => answer.end("hello")));
  const { url, seen } = await startProxy(port);
  const environment = { HTTP_PROXY: url, NO_PROXY: "127.0.0.1" };
  const ask = createOutboundBehind(environment, ["intern", `127.0.0.1:${port}`]);
  expect(await ask("http://intern/")).toBe("200 hello");
  expect(await ask(`http://127.0.0.1:${port}/`)).toBe("200 hello");
  expect(seen).toHaveLength(1);
});

test.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ["https://a.example/", { HTTPS_PROXY: "http://p:1" }, "http://p:1/"],
  ["https://a.example/", { HTTPS_PROXY: "http://p:1", https_proxy: "http://q:2" }, "http://q:2/"],
  ["https://a.example/", { HTTP_PROXY: "http://p:1" }, undefined],
  ["http://a.example/", { ALL_PROXY: "p:1" }, "http://p:1/"],
  ["http://a.example/", { ALL_PROXY: "socks5://p:1" }, undefined],
  ["http://a.example/", { HTTP_PROXY: "" }, undefined],
  ["http://a.example/", { HTTP_PROXY: "http://p:1", NO_PROXY: "b.example, .example" }, undefined],
  ["http://a.example/", { HTTP_PROXY: "http://p:1", NO_PROXY: "a.example:8080,le" }, "http://p:1/"],
  ["http://a.example:8080/", { HTTP_PROXY: "http://p:1", NO_PROXY: "*.a.example:8080" }, undefined],
  ["http://a.example/", { HTTP_PROXY: "http://p:1", no_proxy: "*" }, undefined],
])("the proxy for %s with %j is %s", (url, environment, proxy) => {
  expect(findProxy(new URL(url), environment)?.href).toBe(proxy);
});

/** A self-signed certificate of one.example, valid for a hundred years. */
const CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZKFrTvZKuam9PsV3
mYRCXbkQuPXGAOkg+GzS/sb1Dg6hRANCAARw9wYMnBtErynH7v8ZsvvdA/NI4j71
aXmi9gpD32DVpwxBKTlOnCn/5D6U8qG6s5F1ZM3dor3etFpTnAjqznNb
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUXNZ6700PUBA6YWKHUZTWXQFCjjgwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLb25lLmV4YW1wbGUwIBcNMjYxMTIyMTg0MTQwWhgPMjEyNjEw
MjkxODQxNDBaMBYxFDASBgNVBAMMC29uZS5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEcPcGDJwbRK8px+7/GbL73QPzSOI+9Wl5ovYKQ99g1acMQSk5
Tpwp/+Q+lPKhurORdWTN3aK93rRaU5wI6s5zW6NrMGkwHQYDVR0OBBYEFHu95iys
EonWEQlwhzmTAZ6PrfUGMB8GA1UdIwQYMBaAFHu95iysEonWEQlwhzmTAZ6PrfUG
MA8GA1UdEwEB/wQFMAMBAf8wFgYDVR0RBA8wDYILb25lLmV4YW1wbGUwCgYIKoZI
zj0EAwIDSAAwRQIhALSG928b5S+VnEynEjka7UdfXC/WFL0/4xn6LqYPTxMaAiB6
82vuw6zeYvFXgI910eq2/YXlh9YIpZkTJT3GGbT/2g==
-----END CERTIFICATE-----
`,
};
