import { PawlError } from "../../core/errors/pawl-error.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { ModelPrice, ModelPrices } from "../../ports/model-prices.ts";
import { findDefaultModel } from "./built-ins.ts";
import { type FoundModel, findModel } from "./find-model.ts";
import { type ModelsOptions, ownEntry } from "./models-options.ts";
import { priceCall } from "./price-call.ts";

/** Prices as calls are priced, without opening a provider: no key is needed, nothing is sent. */
export function createModelPrices(options: ModelsOptions): ModelPrices {
  return {
    async find(name, { forAgent }) {
      const asked = name ?? options.default ?? (forAgent ? findDefaultModel(options.keys) : undefined);
      try {
        return await toPrice(findModel(asked, options), options);
      } catch (error) {
        if (error instanceof PawlError) return { kind: "unknown", reason: error.message };
        throw error;
      }
    },
  };
}

async function toPrice(found: FoundModel, options: ModelsOptions): Promise<ModelPrice> {
  if (found.kind === "mock") return { kind: "simulated", model: `mock:${found.script}` };
  const { provider, modelId, settings } = found;
  const model = `${provider}:${modelId}`;
  const baseUrl = settings.base_url === undefined ? undefined : resolveEnv(settings.base_url, options.env);
  const access = { kind: settings.kind, name: provider, baseUrl };
  const price = ownEntry(options.prices, model) ?? ownEntry(options.prices, modelId);
  const costMicro = (input: number, output: number) =>
    priceCall({ input, output, cacheRead: 0, cacheWrite: 0 }, { access, modelIds: [modelId], price });
  if ((await costMicro(1, 1)) === null) return { kind: "unpriced", model };
  return {
    kind: "priced",
    model,
    // A list that knows the model knows it for every number of tokens.
    costMicro: async ({ input, output }) => (await costMicro(input, output)) ?? Number.POSITIVE_INFINITY,
  };
}
