/** The endpoints that may be called. */
export interface EndpointSettings {
  /** The one that is used where a request names none. */
  readonly configured?: string | undefined;
  /** Exact URLs, or origins that allow everything below them. */
  readonly allowed: readonly string[];
}

/** The URL, where it may be asked. A request's endpoint is untrusted: it must be on the list. */
export function findAllowed(endpoint: string, { configured, allowed }: EndpointSettings): URL | undefined {
  const url = toEndpointUrl(endpoint);
  if (url === undefined) return undefined;
  const listed = [...allowed, ...(configured === undefined ? [] : [configured])];
  return listed.some((entry) => allows(entry, url, entry === configured)) ? url : undefined;
}

function allows(entry: string, url: URL, isExact: boolean): boolean {
  const listed = toEndpointUrl(entry);
  if (listed === undefined) return false;
  const isOrigin = listed.pathname === "/" && listed.search === "";
  return isOrigin && !isExact ? listed.origin === url.origin : listed.href === url.href;
}

function toEndpointUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url;
}
