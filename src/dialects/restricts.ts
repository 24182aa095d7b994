const WORDS = new Set(
  "allow allowed allowlist whitelist deny denied denylist blacklist block blocked exclude excluded exclusions disallow disallowed forbid forbidden restrict restricted restrictions only max maximum limit limits limited budget quota cap readonly sandbox sandboxed".split(
    " ",
  ),
);

/** Whether a key forbids or limits something, by its words: `allowed_tools`, `maxCalls`, `exclude_components`. */
export function restricts(key: string): boolean {
  const words = key.replace(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase();
  return words.split(/[^a-z]+/).some((word) => WORDS.has(word));
}
