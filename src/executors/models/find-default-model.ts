import { BUILT_INS } from "./built-ins.ts";
import type { BuiltIn, ModelsOptions } from "./models-options.ts";

/** For agents that name no model where none is configured: of the first provider whose key is set. */
export function findDefaultModel(keys: ModelsOptions["keys"]): string | undefined {
  const providers = Object.keys(BUILT_INS) as BuiltIn[];
  const provider = providers.find((name) => (keys[name]?.trim() ?? "") !== "");
  return provider === undefined ? undefined : `${provider}:${BUILT_INS[provider].model}`;
}
