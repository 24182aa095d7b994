import { estimateTokens } from "../../core/estimate-tokens.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/** A resource is not put into a model's context by itself: what clients over stdio take (10 MB) bounds it. */
const RESOURCE_TOKENS = 500_000;

/** Lists keep so many entries, and texts at least so many characters, until the answer fits. */
const LEAST_CHARACTERS = 160;
const FORMS = [
  { entries: 400, characters: LEAST_CHARACTERS },
  { entries: 100, characters: LEAST_CHARACTERS },
  { entries: 40, characters: LEAST_CHARACTERS },
  { entries: 15, characters: 120 },
  { entries: 6, characters: 80 },
  { entries: 2, characters: 40 },
] as const;
/** Names that a schema may promise; maps of outputs have more. */
const FIELDS = 40;
const MAX_DEPTH = 30;
/** What is left for the note. */
const NOTE_TOKENS = 150;

/** Whether an answer is within a number of tokens as the text that a model reads. */
export function isWithin(answer: object, tokens: number): boolean {
  return estimateTokens(writeExact(answer), tokens) <= tokens;
}

/**
 * An answer of at most about so many tokens: texts and lists keep their heads and tails, and `note` says how much is left
 * out, and where it is.
 */
export function fitAnswer(
  answer: JsonObject,
  { tokens, whereRest }: { readonly tokens: number; readonly whereRest: string },
): JsonObject {
  if (isWithin(answer, tokens)) return answer;
  const shorten = (entries: number, characters: number): JsonObject => {
    const cutter = new Cutter(entries, characters);
    const shorter = cutter.cut(answer, 0);
    return { ...(isJsonObject(shorter) ? shorter : {}), note: `${cutter.told} ${whereRest}`.trim() };
  };
  const most = tokens - NOTE_TOKENS;
  for (const { entries, characters } of FORMS) {
    if (!isWithin(shorten(entries, characters), most)) continue;
    // As much of each text as there is room for.
    let fits: number = characters;
    let tooMany = tokens * MOST_CHARACTERS;
    while (tooMany - fits > fits / 10) {
      const middle = Math.round((fits + tooMany) / 2);
      if (isWithin(shorten(entries, middle), most)) fits = middle;
      else tooMany = middle;
    }
    return shorten(entries, fits);
  }
  return { note: `The answer is too long to be shown. ${whereRest}`.trim() };
}

export function writeResource(value: object): string {
  // Descriptions are plain data.
  const whereRest = "The CLI shows all of it: `pawl runs show RUN_ID --json --whole`.";
  return writeExact(fitAnswer(value as JsonObject, { tokens: RESOURCE_TOKENS, whereRest }), 2);
}

/** A list as it is where each text is cut to the least. */
export function cutTexts(list: readonly Json[]): readonly Json[] {
  const cutter = new Cutter(Number.POSITIVE_INFINITY, LEAST_CHARACTERS);
  return list.map((entry) => cutter.cut(entry, 0));
}

/** Of a token. */
const MOST_CHARACTERS = 8;

class Cutter {
  readonly #entries: number;
  readonly #characters: number;
  #cutEntries = 0;
  #cutCharacters = 0;

  constructor(entries: number, characters: number) {
    this.#entries = entries;
    this.#characters = characters;
  }

  get told(): string {
    const cut = [
      ...(this.#cutCharacters > 0 ? [`${this.#cutCharacters} characters of texts`] : []),
      ...(this.#cutEntries > 0 ? [`${this.#cutEntries} entries of lists`] : []),
    ];
    return `Left out here: ${cut.join(" and ") || "nothing"}.`;
  }

  cut(value: Json, depth: number): Json {
    if (typeof value === "string") return this.#cutText(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return "…";
    if (Array.isArray(value)) return this.#keep(value, this.#entries).map((entry) => this.cut(entry, depth + 1));
    const fields = this.#keep(Object.entries(value), Math.max(this.#entries, FIELDS));
    return Object.fromEntries(fields.map(([name, member]) => [this.#cutText(name), this.cut(member, depth + 1)]));
  }

  #keep<Entry>(entries: readonly Entry[], most: number): readonly Entry[] {
    if (entries.length <= most) return entries;
    this.#cutEntries += entries.length - most;
    return [...entries.slice(0, Math.ceil(most / 2)), ...entries.slice(entries.length - Math.floor(most / 2))];
  }

  #cutText(text: string): string {
    const out = text.length - this.#characters;
    if (out <= 0) return text;
    this.#cutCharacters += out;
    const half = this.#characters / 2;
    return `${whole(text.slice(0, Math.ceil(half)))}\n[… ${out} characters left out …]\n${whole(text.slice(text.length - Math.floor(half)))}`;
  }
}

/** Without the half of a character of two. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
