import type { BuiltIn } from "./models-options.ts";

/** Providers that need nothing but a key: where it comes from, and how the names of their models begin. */
export const BUILT_INS: Readonly<Record<BuiltIn, { readonly variable: string; readonly names: RegExp }>> = {
  anthropic: { variable: "ANTHROPIC_API_KEY", names: /^claude-/ },
  openai: { variable: "OPENAI_API_KEY", names: /^(?:gpt-|chatgpt-|o\d)/ },
  google: { variable: "GOOGLE_GENERATIVE_AI_API_KEY (or GEMINI_API_KEY)", names: /^gemini-/ },
};
