import { distance } from "fastest-levenshtein";

/** The candidate that a misspelt word most likely meant, if one is near enough. Never the word itself: it is misplaced, not misspelt. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length < SHORTEST_WORD || word.length > LONGEST_WORD) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const found = distanceOf(word.toLowerCase(), candidate.toLowerCase());
    if (found >= bestDistance || candidate === word) continue;
    best = candidate;
    bestDistance = found;
  }
  return best;
}

/** The same as a remedy. Undefined where nothing is near, so that another remedy can take its place. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const meant = didYouMean(word, candidates);
  return meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
}

/** The word is most likely a candidate, misspelt: two letters at most make the difference. */
export function isMisspelt(word: string, candidates: Iterable<string>): boolean {
  const meant = didYouMean(word, candidates);
  return meant !== undefined && distance(word.toLowerCase(), meant.toLowerCase()) <= 2;
}

/** Matches words that one letter too many, too few, wrong or swapped makes of a candidate: the most of what `isMisspelt` finds. */
export function toMisspeltPattern(candidates: readonly string[]): string {
  return `^(?=.{${SHORTEST_WORD}})(?:${candidates.map(misspelt).join("|")})$`;
}

/** The rest of a word with one mistake in it. */
function misspelt(word: string): string {
  const [first, second, ...others] = [...word].map(toPattern);
  if (first === undefined) return ".";
  const rest = word.slice(1);
  const swapped = second === undefined ? "" : `|${second}${first}${others.join("")}`;
  return `${first}(?:${misspelt(rest)})|.?${toPattern(rest)}|.${toPattern(word)}${swapped}`;
}

function toPattern(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/g, "\\$&");
}

const LONGEST_WORD = 60;
/** One wrong letter in two is no resemblance. */
const SHORTEST_WORD = 3;

// `depends` is nearer to `depends_on` than its edit distance says.
function distanceOf(word: string, candidate: string): number {
  const isStem = (stem: string, whole: string) => stem.length >= SHORTEST_WORD && whole.startsWith(stem);
  const isNear = isStem(word, candidate) || isStem(candidate, word) || isSwapped(word, candidate);
  return isNear ? 1 : distance(word, candidate);
}

/** Two neighbouring letters in the wrong order are one slip: `nmae`. */
function isSwapped(word: string, candidate: string): boolean {
  const at = [...word].findIndex((letter, index) => letter !== candidate[index]);
  const swapped = `${word.slice(0, at)}${word.slice(at + 1, at + 2)}${word.slice(at, at + 1)}${word.slice(at + 2)}`;
  return at !== -1 && swapped === candidate;
}
