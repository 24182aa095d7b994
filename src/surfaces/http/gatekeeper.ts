import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { verifyKey } from "../../operations/api-keys.ts";
import type { Application } from "../../operations/application.ts";
import { forTenant } from "../../operations/tenant-application.ts";
import { withMethods } from "../../operations/with-methods.ts";
import type { KeyScope, StoredKey } from "../../ports/api-keys.ts";
import type { HttpEnv } from "./http-parts.ts";

/** Each scope includes those before it. */
const SCOPES: readonly KeyScope[] = ["read", "run", "write", "admin"];

/**
 * Who may do what: everybody where there is no key at all, which is allowed on loopback only; else whoever bears the configured
 * key, or one of those that were made, with its scopes, for its tenant.
 */
export class Gatekeeper {
  readonly #app: Application;
  readonly #configured: Buffer | undefined;

  constructor(app: Application) {
    const { api_key: key } = app.config.settings.server;
    this.#app = app;
    this.#configured = key === undefined || key === "" ? undefined : digest(key);
  }

  /** Throws `UNAUTHORIZED`, `FORBIDDEN`. */
  async authorize(c: Context<HttpEnv>, scope: KeyScope | "open"): Promise<void> {
    if (scope === "open") return;
    const given = keyOf(c);
    if (given !== undefined && this.#isConfigured(given)) return;
    if (!(await this.#needsKey())) return;
    const key = given === undefined ? undefined : await verifyKey(this.#app, given);
    if (key === undefined) {
      c.header("www-authenticate", "Bearer");
      const message = given === undefined ? "The request bears no key." : "The key is not known here, or not any more.";
      throw new PawlError("UNAUTHORIZED", { message });
    }
    if (!reaches(key, scope)) {
      throw new PawlError("FORBIDDEN", { message: `The key "${key.name}" does not have the scope \`${scope}\`.` });
    }
    c.set("key", key);
  }

  /** The application as the caller may see it. */
  appFor(c: Context<HttpEnv>): Application {
    const { tenantId, maxCostMicro } = c.get("key") ?? {};
    const app = tenantId === undefined ? this.#app : forTenant(this.#app, tenantId);
    return maxCostMicro === undefined ? app : withMethods(app, { maxRunCostMicro: maxCostMicro });
  }

  async #needsKey(): Promise<boolean> {
    return this.#configured !== undefined || (await (await this.#app.service()).keys.areThere());
  }

  #isConfigured(given: string): boolean {
    // Digests have one length, so that comparing them tells nothing of the key.
    return this.#configured !== undefined && timingSafeEqual(digest(given), this.#configured);
  }
}

function reaches({ scopes }: StoredKey, scope: KeyScope): boolean {
  return scopes.some((has) => SCOPES.indexOf(has) >= SCOPES.indexOf(scope));
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
