import type { LanguageModel } from "ai";

/** A model of the AI SDK as its provider packages make it. A bare name is none: the SDK would send it to a hosted gateway. */
export type ProviderModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

export type CallOptions = Parameters<ProviderModel["doGenerate"]>[0];

export type GenerateResult = Awaited<ReturnType<ProviderModel["doGenerate"]>>;
