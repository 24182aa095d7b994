/**
 * A JSON object's text with another object for one of its own keys; everything else stays as it is written, down to how
 * its numbers are. Undefined where the key is not there, or holds no object. The text must be valid JSON.
 */
export function replaceObject(text: string, key: string, replacement: string): string | undefined {
  const range = findObject(text, JSON.stringify(key));
  return range === undefined ? undefined : text.slice(0, range.start) + replacement + text.slice(range.end);
}

function findObject(text: string, key: string): { readonly start: number; readonly end: number } | undefined {
  let depth = 0;
  let start: number | undefined;
  let isNext = false;
  for (const { token, at, end } of tokensOf(text)) {
    if (token === "{" || token === "[") {
      if (isNext && token === "{") start = at;
      depth += 1;
    } else if (token === "}" || token === "]") {
      depth -= 1;
      if (start !== undefined && depth === 1) return { start, end };
    }
    isNext = start === undefined && depth === 1 && token === key && /^\s*:\s*\{/.test(text.slice(end, end + 100));
  }
  return undefined;
}

/** Brackets and whole strings: what a bracket inside a string means is nothing. */
function* tokensOf(text: string): Generator<{ readonly token: string; readonly at: number; readonly end: number }> {
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    const [token] = match;
    yield { token, at: match.index, end: match.index + token.length };
  }
}
