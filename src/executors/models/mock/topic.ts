import type { Random } from "./random.ts";

/** What a prompt seems to be about, so that simulated answers can speak of it. */
export interface Topic {
  /** A name that stands in the prompt, or an invented one. */
  readonly name: string;
  readonly urls: readonly string[];
  /** Longer words of the prompt, in lower case. */
  readonly words: readonly [string, ...string[]];
}

const NAME =
  /\b(?:company|customer|client|name|product|lead|for|about)\b\s*:?\s+"?([A-Z][\w&-]*(?:\.\w+)*(?: [A-Z&][\w&-]*){0,3})/;
const URL_IN_TEXT = /https?:\/\/[^\s"'<>(){}[\]]+[^\s"'<>(){}[\].,;:!?]/g;
const INVENTED = ["Northwind Labs", "Bluebird Systems", "Harbor Analytics", "Cedar & Finch", "Lumen Works"] as const;
// Words of instructions, which say nothing about what the prompt is about.
const COMMON = new Set(
  "about their there these those which where while would should return valid output matching schema following scrape website company extract find information using include score customer please write given based".split(
    " ",
  ),
);
const MAX_READ_CHARS = 20_000;
const MAX_WORDS = 40;

export function readTopic(prompt: string, random: Random): Topic {
  const text = prompt.slice(0, MAX_READ_CHARS);
  const words = new Set(
    text
      .replace(URL_IN_TEXT, " ")
      .toLowerCase()
      .match(/\b[a-z]{5,14}\b/g) ?? [],
  );
  const [first = "platform", ...rest] = [...words].filter((word) => !COMMON.has(word)).slice(0, MAX_WORDS);
  return {
    name: NAME.exec(text)?.[1] ?? random.pick(INVENTED),
    urls: text.match(URL_IN_TEXT) ?? [],
    words: [first, ...rest],
  };
}
