/**
 * Whether a name fits a pattern with `*` (any characters) and `?` (one), whatever the case. Whoever saves a definition writes the
 * pattern: it takes no longer than the lengths of the two multiplied.
 */
export function matchesGlob(name: string, pattern: string): boolean {
  const [text, glob] = [[...name.toLowerCase()], [...pattern.toLowerCase()]];
  let at = 0;
  let inGlob = 0;
  let star: { readonly inGlob: number; at: number } | undefined;
  while (at < text.length) {
    if (glob[inGlob] === "*") {
      star = { inGlob, at };
      inGlob += 1;
    } else if (inGlob < glob.length && (glob[inGlob] === "?" || glob[inGlob] === text[at])) {
      at += 1;
      inGlob += 1;
    } else if (star !== undefined) {
      // The last star now matches one character more.
      star.at += 1;
      at = star.at;
      inGlob = star.inGlob + 1;
    } else return false;
  }
  return glob.slice(inGlob).every((sign) => sign === "*");
}
