import type { LanguageModel } from "ai";

/** A model of the AI SDK as its provider packages make it. A bare name is none: the SDK would send it to a hosted gateway. */
export type ProviderModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

export type CallOptions = Parameters<ProviderModel["doGenerate"]>[0];

export type Prompt = CallOptions["prompt"];

/** A tool as a provider is told of it: a function of ours, or one that the provider has itself. */
export type ModelTool = NonNullable<CallOptions["tools"]>[number];

export type GenerateResult = Awaited<ReturnType<ProviderModel["doGenerate"]>>;

export type StreamPart =
  Awaited<ReturnType<ProviderModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
