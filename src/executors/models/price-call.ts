import { orElse } from "../../core/or-else.ts";
import type { Price } from "./models-options.ts";
import type { ProviderAccess } from "./provider-access.ts";

/** Tokens of one call; the input includes what was read from a cache. */
export interface TokenUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
}

type PricedAccess = Pick<ProviderAccess, "kind" | "name" | "baseUrl">;

/** The cost of a call in integer micro-dollars. `null`: the price or the used tokens are unknown. */
export async function priceCall(
  usage: TokenUsage,
  model: { readonly access: PricedAccess; readonly modelIds: readonly string[]; readonly price: Price | undefined },
): Promise<number | null> {
  const { input, output } = usage;
  if (input === undefined || output === undefined) return null;
  // Dollars for a million tokens are micro-dollars for one.
  if (model.price !== undefined) return Math.round(input * model.price.input + output * model.price.output);
  for (const modelId of model.modelIds) {
    const usd = await readPriceList({ ...usage, input, output }, model.access, modelId);
    if (usd !== undefined) return Math.round(usd * 1_000_000);
  }
  return null;
}

async function readPriceList(
  usage: TokenUsage & { readonly input: number; readonly output: number },
  access: PricedAccess,
  modelId: string,
): Promise<number | undefined> {
  if (isLocal(access)) return undefined;
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  const provider =
    access.kind === "openai-compatible"
      ? (findProvider({ providerId: access.name }) ?? findProvider({ providerApiUrl: access.baseUrl ?? "" }))
      : findProvider({ providerId: access.kind });
  // A model's name alone says nothing about what another host takes for it.
  if (provider === undefined) return undefined;
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage;
  const tokens = {
    input_tokens: input,
    output_tokens: output,
    ...(cacheRead === 0 ? {} : { cache_read_tokens: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cache_write_tokens: cacheWrite }),
  };
  // Numbers that contradict each other: more was cached than read.
  return orElse(() => calcPrice(tokens, modelId, { provider })?.total_price, undefined);
}

/** Ollama, vLLM and the like: free or not, there is no price list for them. */
function isLocal({ kind, baseUrl = "" }: PricedAccess): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  return kind === "openai-compatible" && /^(?:localhost|127\.[\d.]+|\[::1\]|.*\.localhost)$/.test(host);
}
