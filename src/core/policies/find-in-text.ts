import type { BuiltInPattern, PolicyTrigger } from "../graph/policy.ts";

/** Everything that a regular expression matches. Undefined: it cannot be searched for in a text this long. */
export type FindAll = (text: string, pattern: string) => readonly Found[] | undefined;

export interface FoundKind extends Found {
  /** The name as people read it. */
  readonly kind: string;
}

/** The matches of a trigger in one text, in order, without overlaps. Undefined: the text cannot be searched. */
export function findInText(
  { patterns = [], contains = [] }: PolicyTrigger,
  text: string,
  findAll: FindAll,
): readonly FoundKind[] | undefined {
  const found: FoundKind[] = [];
  for (const pattern of patterns) {
    const places = pattern.kind === "regex" ? findAll(text, pattern.pattern) : findBuiltIn(pattern.kind, text);
    if (places === undefined) return undefined;
    const kind = pattern.kind === "regex" ? pattern.name : pattern.kind;
    for (const place of places) if (place.end > place.start) found.push({ ...place, kind });
  }
  for (const part of contains) found.push(...findPart(text, part));
  return withoutOverlaps(found);
}

export function replaceFound(text: string, found: readonly FoundKind[], replacement: string | undefined): string {
  let replaced = "";
  let from = 0;
  for (const { start, end, kind } of found) {
    replaced += text.slice(from, start) + (replacement ?? `[${kind}]`);
    from = end;
  }
  return replaced + text.slice(from);
}

function findPart(text: string, part: string): readonly FoundKind[] {
  const [low, wanted] = [text.toLowerCase(), part.toLowerCase()];
  // Letters whose small form is longer would move what comes after them: then their own case is searched for.
  const [place, sought] = low.length === text.length ? [low, wanted] : [text, part];
  const found: FoundKind[] = [];
  for (let at = place.indexOf(sought); at !== -1; at = place.indexOf(sought, at + sought.length)) {
    found.push({ start: at, end: at + sought.length, kind: "text" });
  }
  return found;
}

/** Overlapping matches become one: nothing of either may stay. */
function withoutOverlaps(found: readonly FoundKind[]): readonly FoundKind[] {
  const kept: FoundKind[] = [];
  for (const next of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || next.start >= last.end) kept.push(next);
    else if (next.end > last.end) kept[kept.length - 1] = { ...last, end: next.end };
  }
  return kept;
}

const KEYS = [
  // Keys of many vendors. Words that are joined by hyphens have neither digits nor capitals.
  String.raw`(?:sk|pk|rk)[-_](?=[a-z_-]{0,80}[A-Z0-9])[\w-]{16,9000}`,
  "(?:AKIA|ASIA)[0-9A-Z]{16}",
  "gh[pousr]_[A-Za-z0-9]{20,9000}",
  String.raw`github_pat_\w{20,9000}`,
  String.raw`glpat-[\w-]{20,9000}`,
  String.raw`xox[abeoprs]-[\w-]{10,9000}`,
  String.raw`AIza[\w-]{35,9000}`,
  String.raw`ya29\.[\w-]{20,9000}`,
  "npm_[A-Za-z0-9]{36,9000}",
  "hf_[A-Za-z0-9]{30,9000}",
  String.raw`whsec_[\w+/=-]{20,9000}`,
  String.raw`SG\.[\w-]{16,9000}\.[\w-]{16,9000}`,
  String.raw`pawl_[0-9a-f]{12}_[\w-]{43,9000}`,
  // A JSON web token.
  String.raw`(?<!-)eyJ[\w-]{8,16000}\.eyJ[\w-]{8,16000}\.[\w-]{8,9000}`,
].join("|");

const PEM = String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\s\S]{0,8000}?-----END [A-Z ]{0,30}PRIVATE KEY-----|[\s\S]{0,8000})`;

/**
 * A search takes time in proportion to the length of any text: repetitions are bounded. In doubt
 * they take more: what surrounds a find is cheaper to lose than to show.
 */
const PATTERNS: Readonly<Record<Exclude<BuiltInPattern, "card">, RegExp>> = {
  // The local part is looked for from the sign: from its own beginning every letter would be one.
  email:
    /@(?<=([\p{L}\p{N}._%+-]{1,64})@)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}(?:xn--[a-z0-9-]{2,59}|\p{L}{2,24})/giu,
  // With a country code, or parted as people write it: a bare row of digits is more often something else.
  phone: new RegExp(
    [
      String.raw`\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}(?!\d)`,
      String.raw`(?<![\d.+]|[A-Za-z])(?:\(\d{2,4}\) ?\d{3,4}[ .-]\d{3,5}|\d{3}[ .-]\d{3,4}[ .-]\d{3,5}|0\d(?:[ .-]\d{2}){4}|0\d{2,4}[ /-]\d{5,8})(?!\d|\.\d)`,
    ].join("|"),
    "gu",
  ),
  secret: new RegExp(String.raw`(?<![A-Za-z0-9])(?:${KEYS})|(?<=\b[Bb]earer )[\w.~+/-]{16,9000}={0,4}|${PEM}`, "gu"),
};

export function findBuiltIn(kind: BuiltInPattern, text: string): readonly Found[] {
  if (kind === "card") return findCards(text);
  const found: Found[] = [];
  for (const { 0: match, 1: before = "", index } of text.matchAll(PATTERNS[kind]))
    found.push({ start: index - before.length, end: index + match.length });
  return found;
}

/** Neither part of a word or of a longer number, nor places behind a point. */
const GROUP = /(?<![A-Za-z0-9]|\d\.)\d{1,19}(?![A-Za-z0-9])/gu;

/** The first digits of cards. */
const ISSUED = /[2-6]/u;

const MIN_DIGITS = 13;
const MAX_DIGITS = 19;

/**
 * Numbers of payment cards: 13 to 19 digits, in groups with a space or a hyphen between them; a first digit that issuers have (so that
 * times are none), and the check digit of Luhn. Other numbers may stand before or behind: every group may be the first, and every one the last.
 */
function findCards(text: string): readonly Found[] {
  const groups = Array.from(text.matchAll(GROUP), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }));
  const found: Found[] = [];
  let last = -1;
  for (const [index, { start }] of groups.entries()) {
    if (index <= last) continue;
    const card = longestCard(text, groups, index);
    if (card === undefined) continue;
    found.push({ start, end: groups[card]?.end ?? start });
    last = card;
  }
  return found;
}

/** The last group of the longest card that begins with this one. */
function longestCard(text: string, groups: readonly Found[], from: number): number | undefined {
  if (!ISSUED.test(text[groups[from]?.start ?? 0] ?? "")) return undefined;
  let digits = "";
  let last: number | undefined;
  for (let next = from; digits.length < MAX_DIGITS; next += 1) {
    const [before, group] = [groups[next - 1], groups[next]];
    if (group === undefined) break;
    if (next > from && before !== undefined && !isGap(text.slice(before.end, group.start))) break;
    digits += text.slice(group.start, group.end);
    if (digits.length >= MIN_DIGITS && digits.length <= MAX_DIGITS && isCard(digits)) last = next;
  }
  return last;
}

function isGap(between: string): boolean {
  return between === " " || between === "-";
}

function isCard(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The place of a match in a text. The end is exclusive. */
interface Found {
  readonly start: number;
  readonly end: number;
}
