import { writeExact } from "../core/exact-json.ts";
import { escapeBackslashes, escapeRegex } from "../core/expressions/to-text.ts";
import { REDACTED } from "../core/trust/secret-names.ts";

/** Masking a shorter one would tear ordinary words apart. */
const MIN_SECRET_LENGTH = 6;

/**
 * Takes known secrets out of a text: as they are, inside JSON, inside a URL, in a regular expression and in text to
 * type, and where the edge of a screen breaks them. Longer ones go first, so that one that contains another leaves
 * nothing behind.
 */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const ordered = toSecretSpellings(secrets);
  if (ordered.length === 0) return (text) => text;
  const broken = ordered.map(toBroken);
  return (text) => {
    let masked = text;
    for (const spelling of ordered) if (masked.includes(spelling)) masked = masked.replaceAll(spelling, REDACTED);
    if (!/\n|\\n/.test(masked)) return masked;
    for (const pattern of broken) masked = masked.replace(pattern, REDACTED);
    return masked;
  };
}

/** Masks a text that comes in pieces: each call answers what is certain so far, and the end answers the rest. */
export interface PieceMask {
  push(piece: string): string;
  end(): string;
}

/** Makes a mask for each text that comes in pieces. It holds back a possible beginning of a secret until it is clear. */
export function createPieceMask(secrets: readonly string[]): () => PieceMask {
  const spellings = toSecretSpellings(secrets);
  const mask = createMask(secrets);
  return () => {
    let kept = "";
    return {
      push: (piece) => {
        const text = kept + piece;
        const cut = findCut(text, spellings);
        kept = text.slice(cut);
        return mask(text.slice(0, cut));
      },
      end: () => {
        const rest = mask(kept);
        kept = "";
        return rest;
      },
    };
  };
}

/** Finds the place where an unfinished secret may begin. It is never inside a secret that is complete. */
function findCut(text: string, spellings: readonly string[]): number {
  let cut = text.length - Math.max(0, ...spellings.map((spelling) => lengthOfBeginning(text, spelling)));
  for (let before = -1; before !== cut; ) {
    before = cut;
    for (const spelling of spellings) {
      const at = text.indexOf(spelling, Math.max(0, cut - spelling.length + 1));
      if (at !== -1 && at < cut) cut = at;
    }
  }
  return cut;
}

function lengthOfBeginning(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1);
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length -= 1;
  return length;
}

/** Every way in which a secret is recognised, the longest first. */
export function toSecretSpellings(secrets: readonly string[]): string[] {
  const spellings = new Set(secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH).flatMap(spellingsOf));
  return [...spellings].sort((a, b) => b.length - a.length);
}

function spellingsOf(secret: string): string[] {
  const inTexts = [secret, escapeRegex(secret), escapeBackslashes(secret)];
  const inJson = inTexts.map(toJsonText);
  return [
    ...inTexts,
    ...inJson,
    ...inJson.map(toJsonText),
    ...inJson.map(toJsonText).map(toJsonText),
    encodeURIComponent(secret),
  ];
}

/** Escapes a text for JSON. It is applied twice for JSON inside a JSON text, such as an echoed request in an answer. */
function toJsonText(text: string): string {
  return writeExact(text).slice(1, -1);
}

/** Rows of a screen are joined by a line feed, which inside JSON is written out. */
function toBroken(spelling: string): RegExp {
  const characters = Array.from(spelling, (character) => escapeRegex(character));
  return new RegExp(characters.join("(?:\\n|\\\\n)?"), "g");
}
