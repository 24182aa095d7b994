import type { ProviderModel } from "./language-model.ts";
import type { ProviderAccess } from "./provider-access.ts";

/** Loads the provider's package when a model is first asked: together they cost a tenth of a second and more. */
export async function openProvider(access: ProviderAccess, modelId: string): Promise<ProviderModel> {
  const { kind, name, baseUrl, apiKey, headers } = access;
  const common = { headers, fetch: fetchDirectly, baseURL: baseUrl, apiKey };
  switch (kind) {
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(common)(modelId);
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(common)(modelId);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(common)(modelId);
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({ ...common, name, baseURL: baseUrl ?? "" })(modelId);
    }
  }
}

/** Only `Authorization` would be taken off on the way to another host: keys and conversations go to the provider, and no further. */
const fetchDirectly: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "manual" });
