import type { PawlError } from "../core/errors/pawl-error.ts";
import type { Grant } from "../core/trust/grant.ts";

/** What is known of models without a request. Prices are known without a key. */
export interface ModelPrices {
  /** `name` as a definition writes it; absent: the configured default. `forAgent`: else what agents take by themselves. */
  find(name: string | undefined, options: { readonly forAgent: boolean }): Promise<ModelPrice>;
  /** How a call of the model would be answered, or why it would be refused before it is sent. */
  reach(name: string | undefined, asking: ModelAsking): Promise<ModelReach>;
}

interface ModelAsking {
  readonly forAgent: boolean;
  /** Of the definition that names it: where scripts of mock models are. */
  readonly folder?: string;
  readonly grant?: Grant;
}

export interface ModelReach {
  /** As `provider:model`; as it is written where no provider is known for it. Undefined: none is named. */
  readonly model: string | undefined;
  /** The variable or the setting that holds its key. Undefined: it needs none. */
  readonly key?: string | undefined;
  /** The provider's own address, if it is configured. */
  readonly address?: string | undefined;
  readonly problem?: PawlError | undefined;
}

export type ModelPrice =
  /** `model`: as `provider:model`. */
  | { readonly kind: "priced"; readonly model: string; costMicro(tokens: TokenCount): Promise<number> }
  | { readonly kind: "unpriced"; readonly model: string }
  /** Its answers are made up and cost nothing. */
  | { readonly kind: "simulated"; readonly model: string }
  /** No provider is known for the name. */
  | { readonly kind: "unknown"; readonly reason: string };

/** What plans assume where a definition says nothing, in tokens. */
export const USUAL_TOKENS = { answer: 4_096, toolResult: 4_096, instructions: 3_000, bytesEach: 3 } as const;
export const USUAL_STEP_TURNS = 25;

/** The calls of a model that one try of a task makes at most. */
export interface TryCalls {
  readonly calls: number;
  /** Tokens of the first call. Undefined if nothing bounds them. */
  readonly inputTokens: number | undefined;
  /** Tokens of each answer. */
  readonly outputTokens: number;
  /** Tokens that each call adds to the next beside its answer. */
  readonly addedTokens: number;
  readonly maxTotalTokens?: number | undefined;
}

/** Conversations longer than this have no bound worth naming. */
const MOST_CALLS = 10_000;

/** Undefined: nothing bounds it. Every call sends again what was said before, at the full price: caches only make it cheaper. */
export async function costOfTry(
  { calls, inputTokens, outputTokens, addedTokens, maxTotalTokens }: TryCalls,
  price: Extract<ModelPrice, { kind: "priced" }>,
): Promise<number | undefined> {
  if (inputTokens === undefined || calls > MOST_CALLS) return undefined;
  let micro = 0;
  let tokens = 0;
  for (let call = 0; call < calls; call += 1) {
    const input = inputTokens + call * (outputTokens + addedTokens);
    micro += await price.costMicro({ input, output: outputTokens });
    tokens += input + outputTokens;
    // The limit is checked after each call.
    if (maxTotalTokens !== undefined && tokens >= maxTotalTokens) break;
  }
  return micro;
}

interface TokenCount {
  readonly input: number;
  readonly output: number;
}
