import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import type { Outbound } from "../../../ports/outbound.ts";
import { toRouteUrl, toShownUrl } from "./choose-server.ts";
import { readText } from "./request-timeouts.ts";

export interface Health {
  readonly ok: boolean;
  /** For people, in one line. */
  readonly detail: string;
}

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 64 * 1024;

/** Asks a Sandstorm server how it is. The route is public, so no key is sent. Never rejects. */
export async function checkHealth(
  baseUrl: string,
  outbound: Outbound,
  options: { readonly timeoutMs?: number } = {},
): Promise<Health> {
  const url = toRouteUrl(baseUrl, "health");
  if (url === undefined) return { ok: false, detail: "The address is not an http(s) URL." };
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  try {
    const { status, body: answer } = await outbound.open(
      { url: url.href, method: "GET", headers: { accept: "application/json" }, reach: "anywhere" },
      signal,
    );
    const body = parseJson(await readText(answer, MAX_BODY_BYTES));
    answer.destroy();
    if (status !== 200) return { ok: false, detail: `${toShownUrl(url)} answered ${status}.` };
    return describe(body, url);
  } catch (error) {
    const reason = signal.aborted ? "no answer in time" : reasonOf(error);
    return { ok: false, detail: `${toShownUrl(url)} cannot be reached (${reason}).` };
  }
}

function describe(body: Json | undefined, url: URL): Health {
  if (!isJsonObject(body) || typeof body["status"] !== "string")
    return { ok: false, detail: `${toShownUrl(url)} does not answer like a Sandstorm server.` };
  const version = typeof body["version"] === "string" ? `, version ${body["version"]}` : "";
  const missing = namesNotSet(body["env"]);
  const lacks = missing.length === 0 ? "" : `, not set there: ${missing.join(", ")}`;
  return { ok: body["status"] === "ok", detail: `status ${body["status"]}${version}${lacks}` };
}

/** Early servers say which keys of their own they have. Without one, requests must bring it. */
function namesNotSet(env: Json | undefined): readonly string[] {
  const values: JsonObject = isJsonObject(env) ? env : {};
  return Object.keys(values).filter((name) => values[name] === "not set");
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return "no HTTP answer";
}
