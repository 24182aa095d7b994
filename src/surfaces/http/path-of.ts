/** The path of a URL as it was sent, without query. Nothing is decoded. */
export function pathOf(url: string): string {
  return targetOf(url).split("?", 1)[0] ?? "/";
}

/** Path and query of a URL as they were sent. */
export function targetOf(url: string): string {
  const afterScheme = url.indexOf("://");
  const slash = url.indexOf("/", afterScheme < 0 ? 0 : afterScheme + 3);
  const target = slash < 0 ? "/" : url.slice(slash);
  const hash = target.indexOf("#");
  return hash < 0 ? target : target.slice(0, hash);
}
