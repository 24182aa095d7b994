import type { ModelTool } from "./language-model.ts";
import type { BuiltIn, ModelsOptions } from "./models-options.ts";

interface BuiltInProvider {
  /** The environment variable with its key. */
  readonly variable: string;
  /** Matches the names of its models. */
  readonly names: RegExp;
  /** The model of agents that name none. */
  readonly model: string;
  readonly webSearch: ModelTool;
  readonly searching: Searching;
}

/** The most that a provider's own search can add to the cost of one turn. */
export interface Searching {
  /** Searches in one turn. */
  readonly most: number;
  /** Integer micro-dollars for each, beside the tokens. */
  readonly feeMicro: number;
  /** What it has found is read as input: up to the model's window, in tokens. */
  readonly window: number;
}

const MOST_SEARCHES = 5;

/** Providers that need nothing but a key. */
export const BUILT_INS: Readonly<Record<BuiltIn, BuiltInProvider>> = {
  anthropic: {
    variable: "ANTHROPIC_API_KEY",
    names: /^claude-/,
    model: "claude-sonnet-5",
    webSearch: {
      type: "provider",
      id: "anthropic.web_search_20250305",
      name: "web_search",
      args: { maxUses: MOST_SEARCHES },
    },
    searching: { most: MOST_SEARCHES, feeMicro: 10_000, window: 200_000 },
  },
  openai: {
    variable: "OPENAI_API_KEY",
    names: /^(?:gpt-|chatgpt-|o\d)/,
    model: "gpt-5-mini",
    webSearch: { type: "provider", id: "openai.web_search", name: "web_search", args: {} },
    searching: { most: MOST_SEARCHES, feeMicro: 10_000, window: 400_000 },
  },
  google: {
    variable: "GOOGLE_GENERATIVE_AI_API_KEY (or GEMINI_API_KEY)",
    names: /^gemini-/,
    model: "gemini-2.5-flash",
    webSearch: { type: "provider", id: "google.google_search", name: "google_search", args: {} },
    // Charged once for a turn that searches, however often it does.
    searching: { most: 1, feeMicro: 35_000, window: 1_048_576 },
  },
};

/** Short names of published workflows. `models.aliases` goes before them. */
export const BUILT_IN_ALIASES: Readonly<Record<string, string>> = {
  sonnet: "anthropic:claude-sonnet-5",
  haiku: "anthropic:claude-haiku-4-5",
  opus: "anthropic:claude-opus-5",
};

export function isBuiltIn(name: string): name is BuiltIn {
  return Object.hasOwn(BUILT_INS, name);
}

/** The model of agents that name none, if none is configured: that of the first provider whose key is set. */
export function findDefaultModel(keys: ModelsOptions["keys"]): string | undefined {
  const provider = Object.keys(BUILT_INS)
    .filter(isBuiltIn)
    .find((name) => (keys[name]?.trim() ?? "") !== "");
  return provider === undefined ? undefined : `${provider}:${BUILT_INS[provider].model}`;
}
