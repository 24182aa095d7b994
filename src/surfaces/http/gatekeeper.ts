import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { type Grant, SENT } from "../../core/trust/grant.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";
import type { Ports } from "../../operations/application/ports.ts";
import type { ServiceCaller } from "../../operations/application/service-caller.ts";
import { forTenant } from "../../operations/application/tenant-application.ts";
import { withMethods } from "../../operations/application/with-methods.ts";
import { verifyKey } from "../../operations/keys/api-keys.ts";
import { currentRequest } from "../../operations/limits/quotas.ts";
import type { Clock } from "../../ports/clock.ts";
import type { KeyScope, StoredKey } from "../../ports/service/api-keys.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Admission, HttpEnv, KeyWay } from "./http-parts.ts";

/** Each scope includes those before it. */
const SCOPES: readonly KeyScope[] = ["read", "run", "write", "admin"];

/** Requests a minute, if nothing is configured and a limit is needed. */
const USUAL_RATE = 1_200;

/**
 * Decides who may do what. Without any key every caller may do everything, on loopback only. Else the caller needs the configured
 * key, or one that was made, with its scopes, for its tenant.
 */
export class Gatekeeper {
  readonly #app: Ports;
  readonly #configured: Buffer | undefined;
  readonly #keylessGrant: Grant;
  readonly #limiter: RateLimiter;
  readonly #limits: "always" | "with keys" | "never";

  /** `isLoopback`: only this machine can reach the server. */
  constructor(app: Ports, { isLoopback }: { readonly isLoopback: boolean }) {
    const { api_key: key, rate_limit_per_minute: perMinute, grant } = app.config.settings.server;
    this.#keylessGrant = grantOfText(grant);
    this.#app = app;
    this.#limiter = new RateLimiter(perMinute ?? USUAL_RATE, app.clock);
    this.#limits = perMinute === 0 ? "never" : perMinute === undefined && isLoopback ? "with keys" : "always";
    this.#configured = key === undefined || key === "" ? undefined : digest(key);
  }

  /** Throws `UNAUTHORIZED`, `FORBIDDEN`, `RATE_LIMITED`, `QUOTA_EXCEEDED`. */
  async authorize(c: Context<HttpEnv>, scope: Admission, way: KeyWay = {}): Promise<void> {
    if (scope === "open") return;
    await this.#check(c, scope, way);
    const tenant = c.get("key")?.tenantId ?? "";
    currentRequest()?.admit(tenant);
    // Hundreds of requests that come at once are one tenant's, and others do not wait for all of them.
    await passTurn(tenant);
  }

  async #check(c: Context<HttpEnv>, scope: Exclude<Admission, "open">, way: KeyWay): Promise<void> {
    if (scope === "anybody") {
      if (this.#limits === "always" || (await this.#needsKey())) await this.#limit(`address ${addressOf(c)}`);
      return;
    }
    const given = keyOf(c, way);
    if (given !== undefined && this.#isConfigured(given)) {
      c.set("bearsConfigured", true);
      return this.#limit("the configured key");
    }
    if (!(await this.#needsKey())) {
      if (this.#limits === "always") await this.#limit(`address ${addressOf(c)}`);
      return;
    }
    const key = given === undefined ? undefined : await verifyKey(this.#app, given);
    if (key === undefined) {
      // Guessed keys come in numbers from one address.
      await this.#limit(`address ${addressOf(c)}`);
      c.header("www-authenticate", "Bearer");
      const message = given === undefined ? "The request bears no key." : "The key is not known here, or not any more.";
      throw new PawlError("UNAUTHORIZED", { message });
    }
    await this.#limit(`key ${key.id}`);
    if (!reaches(key, scope))
      throw new PawlError("FORBIDDEN", { message: `The key "${key.name}" does not have the scope \`${scope}\`.` });
    c.set("key", key);
  }

  appFor(c: Context<HttpEnv>): Ports {
    const key = c.get("key");
    const { tenantId, maxCostMicro } = key ?? {};
    const app = tenantId === undefined ? this.#app : forTenant(this.#app, tenantId);
    const grant = key === undefined ? this.#keylessGrant : (key.grant ?? SENT);
    return withMethods(app, { grant, key, ...(maxCostMicro === undefined ? {} : { maxRunCostMicro: maxCostMicro }) });
  }

  callerFor(c: Context<HttpEnv>): ServiceCaller {
    const key = c.get("key");
    const { from_api_key: isBelieved = false } = this.#app.config.settings.server.context;
    return {
      id: key?.id ?? "",
      app: this.appFor(c),
      tellsContext: key?.tellsContext ?? (isBelieved && c.get("bearsConfigured") === true),
      may: (scope) => key === undefined || reaches(key, scope),
    };
  }

  /** By itself, and together with the other processes where they can be asked. */
  async #limit(caller: string): Promise<void> {
    if (this.#limits === "never") return;
    this.#limiter.take(caller);
    const rates = await this.#app.requestRates?.().catch(() => undefined);
    const waitMs = await rates?.take(caller, this.#limiter.perMinute);
    if (waitMs !== undefined && waitMs > 0) this.#limiter.refuse(waitMs);
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

function keyOf(c: Context<HttpEnv>, { mayBeInQuery = false }: KeyWay): string | undefined {
  const header = c.req.header("x-api-key") ?? /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  return header ?? (mayBeInQuery ? c.req.query("token") : undefined);
}

/** The address of the connection. A client can write any other one into a header. */
function addressOf(c: Context<HttpEnv>): string {
  // Nothing is bound where a request comes by a function call.
  const bindings = c.env as Partial<HttpEnv["Bindings"]> | undefined;
  return bindings?.incoming?.socket.remoteAddress ?? "unknown";
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Callers beyond this many are forgotten, the quietest first: what is kept stays small. */
const MAX_CALLERS = 10_000;

interface Bucket {
  /** Requests that may come at once. */
  tokens: number;
  at: number;
}

/** A minute's requests may come at once; after that they are let in as the minute goes by. In memory, for this process alone. */
export class RateLimiter {
  readonly perMinute: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, clock: Pick<Clock, "now">) {
    this.perMinute = perMinute;
    this.#clock = clock;
  }

  /** Throws `RATE_LIMITED`, with the seconds until the next request is let in. */
  take(caller: string): void {
    const now = this.#clock.now();
    const { tokens, at } = this.#buckets.get(caller) ?? { tokens: this.perMinute, at: now };
    const filled = Math.min(this.perMinute, tokens + (Math.max(0, now - at) * this.perMinute) / 60_000);
    const isLetIn = filled >= 1;
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { tokens: isLetIn ? filled - 1 : filled, at: now });
    const [quietest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_CALLERS && quietest !== undefined) this.#buckets.delete(quietest);
    if (!isLetIn) this.refuse(((1 - filled) * 60_000) / this.perMinute);
  }

  refuse(waitMs: number): never {
    throw new PawlError("RATE_LIMITED", {
      message: `More than ${this.perMinute} requests in a minute.`,
      details: { retry_after_s: Math.ceil(waitMs / 1_000) },
    });
  }
}
