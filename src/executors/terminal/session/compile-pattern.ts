export type FindMatch = (text: string) => string | null;

/** Longer ones are no patterns but mistakes. */
const MAX_LENGTH = 10_000;

/**
 * Reads a regular expression in RE2's syntax: linear in time, so without look-around and back-references. `^` and `$`
 * hold at every line. Throws an error whose message says what is wrong with it.
 */
export async function compilePattern(pattern: string): Promise<FindMatch> {
  if (pattern.length > MAX_LENGTH) throw new Error(`it is longer than ${MAX_LENGTH} characters`);
  const { RE2JS } = await import("re2js");
  const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE);
  return (text) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? matcher.group() : null;
  };
}
