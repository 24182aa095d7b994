/** Prices of models, known without a request and without a key. */
export interface ModelPrices {
  /** `name` as a definition writes it; absent: the configured default. `forAgent`: else what agents take by themselves. */
  find(name: string | undefined, options: { readonly forAgent: boolean }): Promise<ModelPrice>;
}

export type ModelPrice =
  /** `model`: as `provider:model`. */
  | { readonly kind: "priced"; readonly model: string; costMicro(tokens: TokenCount): Promise<number> }
  | { readonly kind: "unpriced"; readonly model: string }
  /** Its answers are made up and cost nothing. */
  | { readonly kind: "simulated"; readonly model: string }
  /** No provider is known for the name. */
  | { readonly kind: "unknown"; readonly reason: string };

interface TokenCount {
  readonly input: number;
  readonly output: number;
}
