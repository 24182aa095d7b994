import type { AgentScript, ReadAgentScript } from "../../ports/agent-script.ts";
import type { CapacityPools } from "../capacity/capacity-pools.ts";

export type ProviderKind = "anthropic" | "openai" | "google" | "openai-compatible";

/** The configuration of models. Keys may hold `${NAME}`, which is resolved on use. */
export interface ModelsOptions {
  /** For steps that name no model. */
  readonly default?: string | undefined;
  /** Other names for `provider:model`, or for each other. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Beside `anthropic`, `openai` and `google`, or instead of them. */
  readonly providers: Readonly<Record<string, ConfiguredProvider>>;
  /** US dollars for a million tokens, by `provider:model` or model. */
  readonly prices: Readonly<Record<string, Price>>;
  readonly keys: Readonly<Partial<Record<BuiltIn, string | undefined>>>;
  /** Paths of mock scripts in the configuration are relative to it. */
  readonly folder: string;
  /** Scales the made-up delays of mock models; 0 answers at once. Default 1. */
  readonly delayFactor?: number;
  /** Limits the calls of all runs to what each model takes. Absent: every call is sent at once. */
  readonly capacity?: CapacityPools;
  /** Every model but mock models is made up, as the script says. */
  readonly simulated?: { readonly script: AgentScript | undefined };
  /** Of mock models. */
  readonly readScript: ReadAgentScript;
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

/** An entry of a map that users write: a name such as `constructor` is like any other. */
export function ownEntry<Value>(map: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}
