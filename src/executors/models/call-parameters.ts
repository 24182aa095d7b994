import { isNumber, type Json, type JsonObject } from "../../core/json.ts";
import type { CallOptions } from "./language-model.ts";

/** Call settings of a step or a prompt file. */
export interface CallParameters {
  readonly settings: Partial<CallOptions>;
  /** In front of the conversation. */
  readonly system?: string;
  /** Parameters that were ignored, and why. */
  readonly warnings: readonly string[];
}

interface Reader {
  readonly names: readonly string[];
  /** `undefined`: the value is of another type. */
  read(value: Json): Partial<CallOptions> | undefined;
}

const REASONING = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const READERS: readonly Reader[] = [
  number(["temperature"], (temperature) => ({ temperature })),
  number(["max_tokens", "maxTokens", "max_output_tokens", "maxOutputTokens"], (maxOutputTokens) => ({
    maxOutputTokens,
  })),
  number(["top_p", "topP"], (topP) => ({ topP })),
  number(["top_k", "topK"], (topK) => ({ topK })),
  number(["presence_penalty", "presencePenalty"], (presencePenalty) => ({ presencePenalty })),
  number(["frequency_penalty", "frequencyPenalty"], (frequencyPenalty) => ({ frequencyPenalty })),
  // Providers take 64 bits, and it is written into their requests as it is.
  { names: ["seed"], read: (value) => (isNumber(value) ? { seed: value as number } : undefined) },
  { names: ["stop", "stop_sequences", "stopSequences"], read: readStops },
  { names: ["reasoning", "reasoning_effort", "reasoningEffort"], read: readReasoning },
];

/** Reads the parameters of a step or a prompt file. Every provider's spelling is known. */
export function readCallParameters(parameters: JsonObject): CallParameters {
  const warnings: string[] = [];
  let settings: Partial<CallOptions> = {};
  const { system, ...others } = parameters;
  for (const [name, value] of Object.entries(others)) {
    if (value === null) continue;
    const reader = READERS.find(({ names }) => names.includes(name));
    const read = reader?.read(value);
    if (reader === undefined) warnings.push(`The parameter \`${name}\` is not known and was left out.`);
    else if (read === undefined)
      warnings.push(`The parameter \`${name}\` has a value of the wrong type and was left out.`);
    settings = { ...settings, ...read };
  }
  if (system !== undefined && typeof system !== "string") warnings.push("The parameter `system` must be a text.");
  return { settings, ...(typeof system === "string" ? { system } : {}), warnings };
}

function number(names: readonly string[], read: (value: number) => Partial<CallOptions>): Reader {
  return { names, read: (value) => (typeof value === "number" ? read(value) : undefined) };
}

function readStops(value: Json): Partial<CallOptions> | undefined {
  const stops: readonly Json[] = Array.isArray(value) ? value : [value];
  const texts = stops.filter((stop) => typeof stop === "string");
  return texts.length === stops.length ? { stopSequences: texts } : undefined;
}

function readReasoning(value: Json): Partial<CallOptions> | undefined {
  const reasoning = REASONING.find((effort) => effort === value);
  return reasoning === undefined ? undefined : { reasoning };
}
