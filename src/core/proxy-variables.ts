/** The proxies that an environment names, and the hosts that are reached without one. */
export interface Proxies {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy: string;
}

/** This machine is never reached through a proxy. */
export const LOOPBACK = "localhost,127.0.0.1,[::1]";

/** Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in lower case too, as other programs do. Undefined: no proxy is named. */
export function readProxies(env: Readonly<Record<string, string | undefined>>): Proxies | undefined {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const [httpProxy, httpsProxy] = [read("HTTP_PROXY"), read("HTTPS_PROXY")];
  const noProxy = read("NO_PROXY") ?? "";
  if ((httpProxy === undefined && httpsProxy === undefined) || noProxy.trim() === "*") return undefined;
  return { httpProxy, httpsProxy, noProxy: `${noProxy},${LOOPBACK}` };
}
