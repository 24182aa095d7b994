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
export function findCards(text: string): readonly Found[] {
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
export interface Found {
  readonly start: number;
  readonly end: number;
}
