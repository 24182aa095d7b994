import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";

/**
 * On loopback whoever can reach the port is trusted, and that includes every page that the user's browser shows: a page
 * elsewhere may neither be pointed at this address (`Host`) nor send requests to it (`Origin`). What it returns throws `HOST_REFUSED`.
 */
export function checkHost(
  hosts: HttpParts["hosts"],
  allowedOrigins: readonly string[] = [],
): (c: Context<HttpEnv>) => void {
  // Nearly every request names the same host, which need not be read again.
  let lastGood: string | undefined;
  return (c) => {
    if (hosts === undefined) return;
    const host = c.req.header("host");
    if (host !== undefined && host !== lastGood && !hosts.has(hostOf(`http://${host}`))) {
      throw new PawlError("HOST_REFUSED", { message: "The host that the request names is not this machine." });
    }
    lastGood = host;
    const origin = c.req.header("origin");
    if (origin !== undefined && !hosts.has(hostOf(origin)) && !allowedOrigins.includes(origin)) {
      throw new PawlError("HOST_REFUSED", { message: "Pages of other hosts may not send requests here." });
    }
  };
}

/** Names under which this machine is reached from itself. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}
