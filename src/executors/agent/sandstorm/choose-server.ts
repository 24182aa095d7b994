import { namesInServerUrl } from "../../../core/expressions/resolve-env.ts";
import { remedyFor } from "../../../core/trust/check-grant.ts";
import { allows, grantOf, isEverything, type Reach } from "../../../core/trust/grant.ts";
import type { Failed, Task } from "../../../ports/executor.ts";
import type { Outbound } from "../../../ports/outbound.ts";
import { toRefused } from "../../output/failure.ts";

export interface ServerOptions extends Keys {
  /** The configured server. Absent: only definitions that name one can be run. */
  readonly baseUrl?: string;
  readonly outbound: Outbound;
  /** Puts values in for `${NAME}` in a definition's `sandstorm_url`; unset names become "". */
  readonly expandEnv?: (text: string) => string;
}

export interface Server {
  readonly queryUrl: URL;
  /** The configured one may be anywhere. */
  readonly reach: Reach;
  readonly shownUrl: string;
  readonly keys: Keys;
  /** The definition names another server than the configured one, so the keys stay at home. */
  readonly keysWithheld: boolean;
}

export interface Keys {
  readonly apiKey?: string;
  readonly anthropicApiKey?: string;
  readonly e2bApiKey?: string;
}

/** The definition's `sandstorm_url` goes before the configured server; an empty one means "not configured". */
export function chooseServer(
  options: ServerOptions,
  { settings, reach = "anywhere" }: Pick<Task, "settings" | "reach">,
): Server | Failed {
  const named = settings["sandstorm_url"];
  const grant = grantOf(settings);
  const unread =
    typeof named === "string" ? namesInServerUrl(named).find((name) => !allows(grant, "variables", name)) : undefined;
  if (unread !== undefined) {
    const message = `\`sandstorm_url\` reads the variable \`${unread}\`. ${remedyFor("variables", unread)}`;
    return toRefused("NOT_GRANTED", message);
  }
  const expanded = typeof named === "string" ? (options.expandEnv?.(named) ?? named).trim() : "";
  const baseUrl = expanded || options.baseUrl || "";
  if (baseUrl === "") return toUnconfigured("No Sandstorm server is configured.");
  const queryUrl = toRouteUrl(baseUrl, "query");
  if (queryUrl === undefined) return toUnconfigured("The address of the Sandstorm server is not an http(s) URL.");

  const isOwn = options.baseUrl !== undefined && queryUrl.origin === toRouteUrl(options.baseUrl, "query")?.origin;
  // Without a configured server, the keys go only where the operator says.
  const keysWithheld = options.baseUrl === undefined ? !isEverything(grant) : !isOwn;
  const keys = keysWithheld ? {} : pickKeys(options);
  return { queryUrl, shownUrl: toShownUrl(queryUrl), reach: isOwn ? "anywhere" : reach, keys, keysWithheld };
}

function pickKeys({ apiKey, anthropicApiKey, e2bApiKey }: ServerOptions): Keys {
  return { ...(apiKey && { apiKey }), ...(anthropicApiKey && { anthropicApiKey }), ...(e2bApiKey && { e2bApiKey }) };
}

function toUnconfigured(message: string): Failed {
  return toRefused("AGENT_NOT_CONFIGURED", message);
}

/** The address of a route below a base URL, with or without a path and a slash at its end. `undefined`: no HTTP URL. */
export function toRouteUrl(baseUrl: string, route: "query" | "health" | "runs"): URL | undefined {
  const url = URL.parse(baseUrl.trim());
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${route}`;
  url.hash = "";
  return url;
}

/** For people: without user, password and query, where secrets may stand. */
export function toShownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
