/**
 * The text of a saved workflow, `{"definition": {"name": ...}, ...}`, with another name in its definition; everything else
 * stays as it is written, down to how its numbers are. Undefined where that name is not there. The text must be valid JSON.
 */
export function renameDefinition(text: string, name: string): string | undefined {
  const found = findName(text);
  return found && text.slice(0, found.start) + JSON.stringify(name) + text.slice(found.end);
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
