import { readFile } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { EVERYTHING, type Grant } from "../../core/trust/grant.ts";
import type { AgentScript } from "../../ports/agent-script.ts";
import type { CapacityPool } from "../capacity/capacity-pool.ts";
import { BUILT_INS, isBuiltIn, type Searching } from "./built-ins.ts";
import { type FoundModel, findModel } from "./find-model.ts";
import type { AskedStep, ProviderModel } from "./language-model.ts";
import { type ModelsOptions, ownEntry, type ProviderKind } from "./models-options.ts";
import { priceCall, type TokenUsage } from "./price-call.ts";
import { accessProvider, openProvider } from "./provider-access.ts";

export interface Models {
  /** `name`: an alias, `provider:model`, or a known model; absent: the default. Throws `MODEL_UNKNOWN` and other `PawlError`s. */
  resolve(name: string | undefined, place?: ModelPlace): Promise<Model>;
}

/** The definition that names a model. */
interface ModelPlace {
  /** Its application. */
  readonly folder?: string;
  /** Absent: the operator's. */
  readonly grant?: Grant;
}

export interface Model {
  /** `provider:model`: what stands in records. */
  readonly id: string;
  /** The protocol of the provider. */
  readonly kind: ProviderKind | "mock" | "endpoint";
  /** True if the provider ignores keywords of a schema that it does not know, so that the schema can go with the request. */
  readonly takesSchemas: boolean;
  /** Must not stand in anything that is stored or shown. */
  readonly secrets: readonly string[];
  /** Absent: the provider has no search of its own. */
  readonly searching?: Searching | undefined;
  /** Calls wait in it until the provider takes them. Absent: they are sent at once. */
  readonly pool?: CapacityPool | undefined;
  /** The model of the AI SDK, for one call. */
  open(asked: AskedStep): Promise<ProviderModel>;
  /** Integer micro-dollars; `null`: unknown. `answeredBy`: the name that the answer gives. */
  priceMicro(usage: TokenUsage, answeredBy?: string): Promise<number | null>;
  hasPrice(): Promise<boolean>;
  /** The cost of an answer, of a mock model that knows it before. `null`: unknown. */
  costAhead?(asked: AskedStep, prompt: string): Promise<number | null>;
}

/** Nothing is loaded, read or resolved before a model is asked for. */
export function createModels(options: ModelsOptions): Models {
  return {
    async resolve(name, place = {}) {
      const { simulated } = options;
      const found = simulated === undefined ? findModel(name, options) : findMock(name, options);
      if (found.kind === "provider") return toProviderModel(found, options);
      if (!found.isConfigured && found.script !== "")
        refuseUngranted(place.grant ?? EVERYTHING, "folders", found.script);
      const folder = found.isConfigured ? options.folder : (place.folder ?? options.folder);
      const own = await loadScript(found, { folder, readScript: options.readScript });
      const script = own ?? simulated?.script;
      const { createMockModel, costAhead } = await import("./mock/mock-model.ts");
      return {
        id: `mock:${found.script}`,
        kind: "mock",
        takesSchemas: true,
        secrets: [],
        open: async (asked) => createMockModel(asked, { script, delayFactor: options.delayFactor }),
        // Its answers bring their own cost.
        priceMicro: async () => 0,
        hasPrice: async () => true,
        costAhead: (asked, prompt) => costAhead(asked, script, prompt),
      };
    },
  };
}

/** Whatever is no mock model becomes one. */
function findMock(name: string | undefined, options: ModelsOptions): FoundModel {
  try {
    const found = findModel(name, options);
    if (found.kind === "mock") return found;
  } catch (error) {
    if (!isPawlError(error)) throw error;
  }
  return { kind: "mock", script: "", isConfigured: true };
}

function toProviderModel(found: FoundModel & { readonly kind: "provider" }, options: ModelsOptions): Model {
  const { provider, modelId } = found;
  const access = accessProvider(provider, found.settings, options);
  const id = `${provider}:${modelId}`;
  const price = ownEntry(options.prices, id) ?? ownEntry(options.prices, modelId);
  const priceMicro: Model["priceMicro"] = (usage, answeredBy = modelId) =>
    priceCall(usage, { access, modelIds: [...new Set([modelId, answeredBy])], price });
  return {
    id,
    kind: access.kind,
    takesSchemas: access.kind === "openai",
    secrets: access.secrets,
    searching: isBuiltIn(access.kind) ? BUILT_INS[access.kind].searching : undefined,
    pool: options.capacity?.ofModel(provider, modelId),
    open: () => openProvider(access, modelId),
    priceMicro,
    hasPrice: async () => (await priceMicro({ input: 1, output: 1, cacheRead: 0, cacheWrite: 0 })) !== null,
  };
}

/** A definition may only name scripts of its own application. Throws `FILE_NOT_FOUND`, `FILE_OUTSIDE`, `SCRIPT_INVALID`. */
async function loadScript(
  { script, isConfigured }: FoundModel & { readonly kind: "mock" },
  { folder, readScript }: Pick<ModelsOptions, "folder" | "readScript">,
): Promise<AgentScript | undefined> {
  if (script === "") return undefined;
  if (!isConfigured && (isAbsolute(script) || script.split(/[\\/]/).includes("..")))
    throw new PawlError("FILE_OUTSIDE", { message: `\`mock:${script}\` leads out of the application's folder.` });
  const path = resolve(folder, script);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new PawlError("FILE_NOT_FOUND", { message: `There is no script of a mock model at ${path}.`, cause });
  });
  return readScript(text, script);
}
