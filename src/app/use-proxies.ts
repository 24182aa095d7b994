import { EnvHttpProxyAgent, setGlobalDispatcher } from "undici";
import type { Proxies } from "../core/proxy-variables.ts";

/** Sends every `fetch` of this process through the proxies. Node does so itself only from 24.14 on. */
export function useProxies(proxies: Proxies): void {
  setGlobalDispatcher(new EnvHttpProxyAgent({ ...proxies }));
}
