import { type ClientRequest, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { connect } from "node:tls";
import { LOOPBACK } from "../../core/proxy-variables.ts";

/** The proxy for a URL from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, lower case first. Undefined: none, or no HTTP proxy. */
export function findProxy(url: URL, environment: Readonly<Record<string, string | undefined>>): URL | undefined {
  const read = (name: string) => environment[name.toLowerCase()] || environment[name] || undefined;
  const named = read(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") ?? read("ALL_PROXY");
  if (named === undefined || isExcepted(url, `${read("NO_PROXY") ?? ""},${LOOPBACK}`)) return undefined;
  const proxy = URL.parse(named.includes("://") ? named : `http://${named}`);
  return proxy?.protocol === "http:" || proxy?.protocol === "https:" ? proxy : undefined;
}

/** `NO_PROXY` is a list of hosts, each with the hosts below it and perhaps a port; `*` is all. */
function isExcepted(url: URL, noProxy: string): boolean {
  const entries = noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return entries.some((entry) => {
    const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry.replace(/^\*?\./, "")) ?? [];
    const isHost = entry === "*" || url.hostname === host || url.hostname.endsWith(`.${host}`);
    return isHost && (port === undefined || port === portOf(url));
  });
}

export function portOf({ port, protocol }: URL): string {
  return port === "" ? (protocol === "https:" ? "443" : "80") : port;
}

/** Makes a request, with its handlers to be added in the same tick. */
export type MakeRequest = (options: RequestOptions) => ClientRequest;

/** A way through a proxy: https through a tunnel that the proxy only passes on, http by its whole URL. */
export async function openThrough(proxy: URL, url: URL, signal: AbortSignal): Promise<MakeRequest> {
  if (url.protocol === "https:") {
    const socket = await openTunnel(proxy, url, signal);
    const createConnection = () => connect({ socket, servername: url.hostname });
    return ({ agent: _, ...options }) => requestHttps(url, { ...options, createConnection });
  }
  return ({ headers, ...options }) =>
    requesterOf(proxy)(toAddress(proxy), {
      ...options,
      path: url.href,
      headers: { ...headers, ...authorization(proxy), host: url.host },
    });
}

/** A connection to the URL's host and port, which the proxy only passes on. */
export function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const host = `${url.hostname}:${portOf(url)}`;
  return new Promise((resolve, reject) => {
    requesterOf(proxy)(toAddress(proxy), {
      method: "CONNECT",
      path: host,
      headers: { host, ...authorization(proxy) },
      agent: false,
      signal,
    })
      .on("connect", ({ statusCode }, socket: Socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new Error(`the proxy answered ${statusCode} for ${host}`));
      })
      .on("error", reject)
      .end();
  });
}

function requesterOf({ protocol }: URL): typeof requestHttps {
  return protocol === "https:" ? requestHttps : requestHttp;
}

/** Without its user and password, which go into a header of their own. */
function toAddress(proxy: URL): URL {
  return new URL(proxy.origin);
}

function authorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}
