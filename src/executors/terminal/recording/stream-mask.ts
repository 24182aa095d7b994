const ESC = "\u001b";
const SEQUENCE = `${ESC}\\[[0-9;?]*[A-Za-z]`;
/** How a shell goes on in the next row: with the letter that comes then, or a blank, and back. */
const BREAK = "(.)\\r(?=\\1)| ?\\r(?!\\n)";
/** More of these may be to come. */
const BEGUN = `${ESC}\\[[0-9;?]*$|${ESC}$| $`;

/** The sequences that may come between two adjacent letters of the screen, such as a line break or a colour. */
const BETWEEN_LETTERS = new RegExp(`${SEQUENCE}|${BREAK}|${BEGUN}`, "g");
const NEEDS_LOOK = new RegExp(`${ESC}|\\r(?!\\n)| $`);
const SEQUENCES = new RegExp(SEQUENCE, "g");

/** A secret that is longer than this is not waited for. */
const MAX_HELD_LENGTH = 64 * 1024;

export interface Secrets {
  /** Every way in which one may be spelled. */
  readonly spellings: readonly string[];
  mask(text: string): string;
}

/** Masks secrets in output that comes in pieces: the end of a piece is held back while it may begin a secret, also across a shell's line breaks. */
export class StreamMask {
  readonly #secrets: Secrets;
  #held = "";

  constructor({ spellings, mask }: Secrets) {
    this.#secrets = { spellings: [...spellings].sort((a, b) => b.length - a.length), mask };
  }

  /** The text that can be shown by now and has not been returned yet. */
  push(piece: string): string {
    if (this.#secrets.spellings.length === 0) return piece;
    const text = this.#held + piece;
    const visible = toVisible(text);
    const found = this.#find(visible.text);
    const cut = this.#placeToHold(visible, found);
    this.#held = text.slice(cut);
    return this.#replace(text.slice(0, cut), visible, found);
  }

  /** The rest: no more will come. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    const visible = toVisible(rest);
    return this.#replace(rest, visible, this.#find(visible.text));
  }

  #find(text: string): readonly Found[] {
    const all: Found[] = [];
    for (const secret of this.#secrets.spellings) {
      for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
        all.push({ from: at, to: at + secret.length, secret });
      }
    }
    return all.length < 2 ? all : merge(all.sort((a, b) => a.from - b.from || b.to - a.to));
  }

  /** The start of the part that may become a secret. A whole secret is not torn apart for it. */
  #placeToHold(visible: Visible, found: readonly Found[]): number {
    const { text } = visible;
    const longest = Math.max(...this.#secrets.spellings.map((secret) => lengthOfBeginning(text, secret)));
    if (longest === 0) return visible.placeOf(text.length);
    const at = text.length - longest;
    const torn = found.find(({ from, to }) => from < at && at < to);
    const place = visible.placeOf(torn?.from ?? at);
    return visible.placeOf(text.length) - place > MAX_HELD_LENGTH ? visible.placeOf(text.length) : place;
  }

  #replace(text: string, { placeOf }: Visible, found: readonly Found[]): string {
    let masked = "";
    let done = 0;
    for (const { from, to, secret } of found) {
      const [begin, end] = [placeOf(from), placeOf(to - 1) + 1];
      if (end > text.length) break;
      const sequences = text.slice(begin, end).match(SEQUENCES) ?? [];
      masked += text.slice(done, begin) + this.#secrets.mask(secret) + sequences.join("");
      done = end;
    }
    return masked + text.slice(done);
  }
}

interface Found {
  readonly from: number;
  readonly to: number;
  readonly secret: string;
}

/** A text as it reads on the screen, with the places of its letters in what was sent. */
interface Visible {
  readonly text: string;
  placeOf(index: number): number;
}

function toVisible(text: string): Visible {
  if (!NEEDS_LOOK.test(text)) return { text, placeOf: (index) => index };
  const kept: { readonly at: number; readonly place: number }[] = [];
  let visible = "";
  let done = 0;
  const keep = (to: number) => {
    if (to > done) kept.push({ at: visible.length, place: done });
    visible += text.slice(done, to);
  };
  for (const { index, 0: skipped } of text.matchAll(BETWEEN_LETTERS)) {
    keep(index);
    done = index + skipped.length;
  }
  keep(text.length);
  const placeOf = (index: number) => {
    if (index >= visible.length) return text.length;
    const part = kept[lastAtMost(kept, index)];
    return part === undefined ? index : part.place + index - part.at;
  };
  return { text: visible, placeOf };
}

function lastAtMost(parts: readonly { readonly at: number }[], index: number): number {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((parts[middle]?.at ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}

function merge(found: readonly Found[]): Found[] {
  const merged: Found[] = [];
  for (const next of found) {
    const last = merged.at(-1);
    if (last === undefined || next.from >= last.to) merged.push(next);
    else if (next.to > last.to) merged[merged.length - 1] = { ...last, to: next.to };
  }
  return merged;
}

/** How much of the end of a text is the beginning of a secret, and not all of it. */
function lengthOfBeginning(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
    if (secret[length - 1] === text.at(-1) && secret.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
