export type ProviderKind = "anthropic" | "openai" | "google" | "openai-compatible";

/** What is configured about models. Keys are texts with `${NAME}` in them; they are resolved when they are used. */
export interface ModelsOptions {
  /** For steps that name no model. */
  readonly default?: string | undefined;
  /** Other names for `provider:model`, or for each other. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Beside `anthropic`, `openai` and `google`, or instead of them. */
  readonly providers: Readonly<Record<string, ConfiguredProvider>>;
  /** US dollars for a million tokens, by `provider:model` or model. */
  readonly prices: Readonly<Record<string, Price>>;
  /** Of the built-in providers. */
  readonly keys: Readonly<Partial<Record<BuiltIn, string | undefined>>>;
  /** What paths of mock scripts are relative to where the configuration names them. */
  readonly folder: string;
  /** Scales the made-up delays of mock models; 0 answers at once. Default 1. */
  readonly delayFactor?: number;
  env(name: string): string | undefined;
}

export type BuiltIn = Exclude<ProviderKind, "openai-compatible">;

export interface ConfiguredProvider {
  readonly kind: ProviderKind;
  readonly base_url?: string | undefined;
  readonly api_key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface Price {
  readonly input: number;
  readonly output: number;
}
