import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { HttpEnv, Scope } from "./http-parts.ts";

/** Who may do what: everybody where no key is configured, which is allowed on loopback only; else whoever has the key. */
export class Gatekeeper {
  readonly #key: Buffer | undefined;

  constructor(key: string | undefined) {
    this.#key = key === undefined || key === "" ? undefined : digest(key);
  }

  /** Throws `UNAUTHORIZED`. */
  async authorize(c: Context<HttpEnv>, scope: Scope | "open"): Promise<void> {
    if (this.#key === undefined || scope === "open") return;
    const given = keyOf(c);
    // Digests have one length, so that comparing them tells nothing of the key.
    if (given !== undefined && timingSafeEqual(digest(given), this.#key)) return;
    c.header("www-authenticate", "Bearer");
    throw new PawlError("UNAUTHORIZED", {
      message: given === undefined ? "The request bears no key." : "The key is not known here.",
    });
  }
}

/** In the query only where a page cannot send headers: `EventSource` of browsers. */
function keyOf(c: Context<HttpEnv>): string | undefined {
  const header = c.req.header("x-api-key") ?? /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (header !== undefined) return header;
  return c.req.header("accept")?.includes("text/event-stream") === true ? c.req.query("token") : undefined;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
