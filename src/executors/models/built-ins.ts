import type { BuiltIn } from "./models-options.ts";

interface BuiltInProvider {
  /** Where its key comes from. */
  readonly variable: string;
  /** How the names of its models begin. */
  readonly names: RegExp;
  /** For agents that name none. */
  readonly model: string;
}

/** Providers that need nothing but a key. */
export const BUILT_INS: Readonly<Record<BuiltIn, BuiltInProvider>> = {
  anthropic: { variable: "ANTHROPIC_API_KEY", names: /^claude-/, model: "claude-sonnet-5" },
  openai: { variable: "OPENAI_API_KEY", names: /^(?:gpt-|chatgpt-|o\d)/, model: "gpt-5-mini" },
  google: {
    variable: "GOOGLE_GENERATIVE_AI_API_KEY (or GEMINI_API_KEY)",
    names: /^gemini-/,
    model: "gemini-2.5-flash",
  },
};

/** Short names of published workflows. `models.aliases` goes before them. */
export const BUILT_IN_ALIASES: Readonly<Record<string, string>> = {
  sonnet: "anthropic:claude-sonnet-5",
  haiku: "anthropic:claude-haiku-4-5",
  opus: "anthropic:claude-opus-5",
};
