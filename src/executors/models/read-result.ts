import { isJsonObject } from "../../core/json.ts";
import type { Model } from "./create-models.ts";
import { type GenerateResult, KNOWN_COST } from "./language-model.ts";
import type { TokenUsage } from "./price-call.ts";

export function readUsage({ inputTokens, outputTokens }: GenerateResult["usage"]): TokenUsage {
  return {
    input: inputTokens.total,
    output: outputTokens.total,
    cacheRead: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite,
  };
}

export interface Answered {
  readonly usage: TokenUsage;
  /** The name that the answer gives. */
  readonly modelId: string | undefined;
  readonly metadata: GenerateResult["providerMetadata"];
}

/** Integer micro-dollars; `null`: unknown. */
export async function readCost({ usage, modelId, metadata }: Answered, model: Model): Promise<number | null> {
  const known = metadata?.[KNOWN_COST];
  if (isJsonObject(known)) return typeof known["costMicro"] === "number" ? known["costMicro"] : null;
  return model.priceMicro(usage, modelId);
}

export function describeWarning(warning: GenerateResult["warnings"][number]): string {
  switch (warning.type) {
    case "unsupported":
    case "compatibility": {
      const details = warning.details === undefined ? "" : ` ${warning.details}`;
      return `The provider does not support \`${warning.feature}\`.${details}`;
    }
    case "deprecated":
      return `\`${warning.setting}\` is deprecated. ${warning.message}`;
    case "other":
      return warning.message;
  }
}
