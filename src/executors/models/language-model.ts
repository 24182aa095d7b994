import type { AnthropicProvider } from "@ai-sdk/anthropic";
import type { JsonObject } from "../../core/json.ts";

/** A model of the AI SDK as all of its provider packages make it. */
export type ProviderModel = ReturnType<AnthropicProvider>;

export type CallOptions = Parameters<ProviderModel["doGenerate"]>[0];

export type Prompt = CallOptions["prompt"];

/** A tool as a provider is told of it: a function of ours, or one that the provider has itself. */
export type ModelTool = NonNullable<CallOptions["tools"]>[number];

export type GenerateResult = Awaited<ReturnType<ProviderModel["doGenerate"]>>;

export type StreamPart =
  Awaited<ReturnType<ProviderModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

/** Under this name a provider that knows its cost says it in the metadata of an answer, as a mock model does. */
export const KNOWN_COST = "pawl";

/** The step that asks a model. Only mock models read it. */
export interface AskedStep {
  readonly stepId: string;
  readonly path: string;
  /** The name of the agent. A script may name the step by it. */
  readonly agent?: string | undefined;
  /** Counts how often the step has asked, from 1: tries, and further turns of a try. Of an agent: its turns, and tries of a turn. */
  readonly attempt: number;
  readonly format: "json" | "text" | "xml" | "yaml";
  readonly schema?: JsonObject | undefined;
}
