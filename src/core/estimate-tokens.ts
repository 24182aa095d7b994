/**
 * What a tokenizer makes at least a token of: a word, three digits, a run of signs or of spaces. Models differ; this counts
 * rather too many, most of all in prose.
 */
const PIECE = / ?[A-Z]*[a-z]+| ?[A-Z]+|\d{1,3}|[^\S\n]+|\n+|[^\sA-Za-z0-9\u0080-\uffff]{1,2}|[\u0080-\uffff]/g;

/** A word of the language is a token; what is longer is often none. */
const WORD = 7;
const LETTERS = 3;

/** About how many tokens a text is for a model. Stops counting when there are more than `most`. */
export function estimateTokens(text: string, most = Number.POSITIVE_INFINITY): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECE)) {
    const letters = /[A-Za-z]/.test(piece) ? piece.trimStart().length : 0;
    tokens += letters <= WORD ? 1 : Math.ceil(letters / LETTERS);
    if (tokens > most) break;
  }
  return tokens;
}
