import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { ModelPrice, ModelPrices, ModelReach } from "../../ports/model-prices.ts";
import { findDefaultModel } from "./built-ins.ts";
import { createModels } from "./create-models.ts";
import { type FoundModel, findModel, knownNames } from "./find-model.ts";
import { type ModelsOptions, ownEntry } from "./models-options.ts";
import { priceCall } from "./price-call.ts";
import { keyNameOf } from "./provider-access.ts";

/** Prices as calls are priced, and models as calls find them, without opening a provider: nothing is sent. */
export function createModelPrices(options: ModelsOptions): ModelPrices {
  const models = createModels(options);
  const usual = (forAgent: boolean) => options.default ?? (forAgent ? findDefaultModel(options.keys) : undefined);
  return {
    async reach(name, { forAgent, folder, grant }) {
      const asked = name ?? usual(forAgent);
      try {
        const place = { ...(folder === undefined ? {} : { folder }), ...(name === undefined ? {} : { grant }) };
        await models.resolve(asked, place);
        return describeReach(asked, options);
      } catch (error) {
        if (!isPawlError(error)) throw error;
        const problem = error.code === "MODEL_UNKNOWN" ? await withLikely(error, asked ?? "", options) : error;
        return { ...describeReach(asked, options), problem };
      }
    },
    async find(name, { forAgent }) {
      try {
        return await toPrice(findModel(name ?? usual(forAgent), options), options);
      } catch (error) {
        if (isPawlError(error)) return { kind: "unknown", reason: error.message };
        throw error;
      }
    },
  };
}

/** With the name that was likely meant. */
async function withLikely(error: PawlError, asked: string, options: ModelsOptions): Promise<PawlError> {
  const { nearestName } = await import("../output/near-names.ts");
  const { providers, aliases } = knownNames(options);
  const [provider = "", ...rest] = asked.split(":");
  const near = nearestName(provider, rest.length > 0 ? providers : aliases);
  if (near === undefined) return error;
  const remedy = `Did you mean \`${[near, ...rest].join(":")}\`? ${error.remedy}`;
  return new PawlError(error.code, { message: error.message, remedy });
}

function describeReach(asked: string | undefined, options: ModelsOptions): ModelReach {
  try {
    const found = findModel(asked, options);
    if (found.kind === "mock") return { model: `mock:${found.script}` };
    const { provider, modelId, settings } = found;
    const address = settings.base_url === undefined ? undefined : resolveEnv(settings.base_url, options.env);
    return { model: `${provider}:${modelId}`, key: keyNameOf(provider, settings), address };
  } catch (error) {
    if (isPawlError(error)) return { model: asked };
    throw error;
  }
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
