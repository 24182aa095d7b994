import { REDACTED } from "../core/trust/secret-names.ts";
import type { NewDelivery } from "../ports/service/deliveries.ts";

/** The receiver of a message, as people may see it. */
export function showReceiver(
  { channel, url }: Pick<NewDelivery, "channel" | "url">,
  mask: (text: string) => string,
): string {
  return channel === "slack" ? showSlackUrl(url) : showUrl(url, mask);
}

/**
 * A URL as it may be shown: what gives access is taken out of it, that is the user, the password and the values of its query.
 * Names of variables stay, as they are no secrets.
 */
export function showUrl(url: string, mask: (text: string) => string): string {
  const [beforeQuery = "", query] = url.split("#", 1)[0]?.split(/\?(.*)/s, 2) ?? [];
  const shown = beforeQuery.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1[redacted]@");
  if (query === undefined) return mask(shown);
  const pairs = query.split("&").map((pair) => {
    const [name = "", value = name] = pair.split(/=(.*)/s, 2);
    if (/^\$\{\w+\}$/.test(value)) return pair;
    return name === value ? REDACTED : `${name}=${REDACTED}`;
  });
  return mask(`${shown}?${pairs.join("&")}`);
}

export function showSlackUrl(url: string): string {
  return `${URL.parse(url)?.origin ?? ""}/[redacted]`;
}
