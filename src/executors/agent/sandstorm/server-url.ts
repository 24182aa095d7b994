/** The address of a route below a base URL, with or without a path and a slash at its end. `undefined`: no HTTP URL. */
export function toRouteUrl(baseUrl: string, route: "query" | "health"): URL | undefined {
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
