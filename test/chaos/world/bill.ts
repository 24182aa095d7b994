/** US dollars for a million tokens. */
export const MODEL_PRICES = { input: 3, output: 15 };

/** What a provider would write on its bill: each request that reached it, whatever became of the answer. */
export class Bill {
  /** In micro-dollars, by the label of the run. */
  readonly byLabel = new Map<string, number>();

  /** A byte is a token at most. */
  add(label: string, usage: { readonly input: number; readonly output: number }): typeof usage {
    const micro = Math.round(usage.input * MODEL_PRICES.input + usage.output * MODEL_PRICES.output);
    this.byLabel.set(label, (this.byLabel.get(label) ?? 0) + micro);
    return usage;
  }
}
