/**
 * A step instance's address: `score`, `scrape[3]`, `batch[2]/fetch[7]`, `poll#7`, `poll#2[3]/x`. It comes from the graph,
 * never from arrival order. Ids are percent-escaped where they hold a character that means something in a path.
 */
export function escapeId(id: string): string {
  return id.replace(/[^\p{L}\p{N}_.-]/gu, encode);
}

export function unescapeId(escaped: string): string {
  return decodeURIComponent(escaped);
}

export function stepPath(scope: string, escapedId: string, visit: number, item: number): string {
  let path = scope === "" ? escapedId : `${scope}/${escapedId}`;
  if (visit > 0) path += `#${visit}`;
  if (item >= 0) path += `[${item}]`;
  return path;
}

/** The last segment's step id and item. */
export function parseStepPath(path: string): { readonly stepId: string; readonly item: number | null } {
  const last = path.slice(path.lastIndexOf("/") + 1);
  const match = /^([^#[~]*)(?:#\d+)?(?:\[(\d+)\])?/.exec(last);
  return { stepId: unescapeId(match?.[1] ?? last), item: match?.[2] === undefined ? null : Number(match[2]) };
}

/** The step that a try, a `catch` or a `finally` belongs to: these exist only because of what came before them. */
export function outsideOfSides(path: string): string {
  const side = path.indexOf("~");
  return side === -1 ? path : path.slice(0, side);
}

// Surrogates come as pairs (the regex has the u flag), so that this cannot fail on one half.
function encode(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xd800 && code <= 0xdfff) return "%EF%BF%BD";
  return code < 128 ? `%${code.toString(16).toUpperCase().padStart(2, "0")}` : encodeURIComponent(char);
}
