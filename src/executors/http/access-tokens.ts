import { BoundedMap } from "../../core/bounded-map.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, isNumber } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { Failed } from "../../ports/executor.ts";
import type { OutboundRequest, OutboundResult } from "../../ports/outbound.ts";
import { toFailed } from "../output/failure.ts";
import { basicHeader, type HttpInput } from "./http-input.ts";
import { toOutcome } from "./to-outcome.ts";

export type OAuth = Extract<NonNullable<HttpInput["auth"]>, { readonly oauth: unknown }>["oauth"];

type Send = (request: Pick<OutboundRequest, "url" | "method" | "headers" | "body">) => Promise<OutboundResult>;

const MOST_KEPT = 100;
/** It may end while it is on its way. */
const EARLY_SECONDS = 30;
const USUAL_SECONDS = 300;

/** Tokens that an issuer gives to a client for its own secret (OAuth 2.1, client credentials): kept in memory alone, while they last. */
export class AccessTokens {
  readonly #kept = new BoundedMap<string, { readonly token: string; readonly endsAt: number }>(MOST_KEPT);

  /** The token, or why there is none: then nothing was done outside. */
  async get(oauth: OAuth, send: Send): Promise<string | Failed> {
    const key = writeExact(oauth);
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.endsAt > Date.now()) return kept.token;
    const asked = toTokenRequest(oauth);
    const outcome = toOutcome(await send(asked), asked);
    if (outcome.status !== "succeeded") return { ...outcome, effect: "none", costMicro: 0 };
    const body = isJsonObject(outcome.output) ? outcome.output["body"] : undefined;
    const answer = typeof body === "string" ? parseJson(body) : body;
    const { access_token: token, expires_in: seconds = USUAL_SECONDS } = isJsonObject(answer) ? answer : {};
    if (typeof token !== "string" || token === "") {
      const message = `${new URL(oauth.token_url).origin} answered without an \`access_token\`.`;
      return toFailed("HTTP_FAILED", { message, retryable: false, effect: "none" });
    }
    const lasts = Math.max(0, (isNumber(seconds) ? Number(seconds) : USUAL_SECONDS) - EARLY_SECONDS);
    this.#kept.set(key, { token, endsAt: Date.now() + lasts * 1_000 });
    return token;
  }

  /** The server has refused the token. */
  forget(oauth: OAuth): void {
    this.#kept.delete(writeExact(oauth));
  }
}

/** The client says who it is as RFC 6749, 2.3.1 wants it of every issuer; in the body where the step says so. */
function toTokenRequest(
  oauth: OAuth,
): HttpInput & { readonly method: "POST"; readonly headers: Record<string, string>; readonly body: string } {
  const { token_url: url, client_id: id, client_secret: secret, scope, audience, send_in: sendIn } = oauth;
  const fields = {
    grant_type: "client_credentials",
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
    ...(sendIn === "body" ? { client_id: id, client_secret: secret } : {}),
  };
  const body = new URLSearchParams(fields).toString();
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(Buffer.byteLength(body)),
    accept: "application/json",
    ...(sendIn === "body" ? {} : { authorization: basicHeader(encodeURIComponent(id), encodeURIComponent(secret)) }),
  };
  return { method: "POST", url, headers, query: {}, body, response: "auto" };
}
