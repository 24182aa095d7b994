/**
 * Replaces an object under one of a JSON object's own keys. The rest of the text stays, down to the spelling of numbers.
 * Undefined if the key is missing or holds no object. The text must be valid JSON.
 */
export function replaceObject(text: string, key: string, replacement: string): string | undefined {
  const range = findObject(text, JSON.stringify(key));
  return range === undefined ? undefined : text.slice(0, range.start) + replacement + text.slice(range.end);
}

/**
 * Replaces the name in a saved workflow's text, `{"definition": {"name": ...}, ...}`. The rest of the text stays. Undefined
 * if the name is missing. The text must be valid JSON.
 */
export function renameDefinition(text: string, name: string): string | undefined {
  const found = findName(text);
  return found && text.slice(0, found.start) + JSON.stringify(name) + text.slice(found.end);
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

/** Brackets and whole strings, so that brackets inside strings do not count. */
function* tokensOf(text: string): Generator<{ readonly token: string; readonly at: number; readonly end: number }> {
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    const [token] = match;
    yield { token, at: match.index, end: match.index + token.length };
  }
}

/** If a key occurs twice the last one counts, as it does for JSON parsers. */
function findName(text: string): { readonly start: number; readonly end: number } | undefined {
  const keys: string[] = [];
  let depth = 0;
  let found: { start: number; end: number } | undefined;
  for (const match of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[[\]{}]/gs)) {
    const [token, string, colon] = match;
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (colon !== undefined) {
      keys[depth - 1] = string ?? "";
      keys.length = depth;
    } else if (depth === 2 && keys[0] === '"definition"' && keys[1] === '"name"')
      found = { start: match.index, end: match.index + token.length };
  }
  return found;
}
