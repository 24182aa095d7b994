/** Rough prices in dollars per million tokens, which is micro-dollars per token. Good for demos, not for accounts. */
interface Price {
  readonly input: number;
  readonly output: number;
}

const PRICES = {
  haiku: { input: 1, output: 5 },
  sonnet: { input: 3, output: 15 },
  opus: { input: 5, output: 25 },
} as const;
const CHARS_PER_TOKEN = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Integer micro-dollars. A model that we do not know costs like sonnet. */
export function estimateCostMicro(model: string, tokens: { readonly input: number; readonly output: number }): number {
  const price = priceOf(model);
  return Math.round(tokens.input * price.input + tokens.output * price.output);
}

function priceOf(model: string): Price {
  if (model.includes("haiku")) return PRICES.haiku;
  return model.includes("opus") ? PRICES.opus : PRICES.sonnet;
}
