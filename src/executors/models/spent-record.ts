import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { TokenUsage } from "./price-call.ts";

/** What a model's turn has used and cost, as it is kept with the turn. */
interface Spent {
  readonly usage: TokenUsage;
  /** Null: nobody knows. */
  readonly costMicro: number | null;
}

export function toSpentRecord({ usage, costMicro }: Spent): JsonObject {
  const { input = null, output = null, cacheRead = null, cacheWrite = null } = usage;
  return { usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite }, cost_micro: costMicro };
}

export function readSpentRecord({ usage: kept, cost_micro: cost }: JsonObject): Spent {
  const usage: JsonObject = isJsonObject(kept) ? kept : {};
  return {
    usage: {
      input: readNumber(usage["input"]),
      output: readNumber(usage["output"]),
      cacheRead: readNumber(usage["cache_read"]),
      cacheWrite: readNumber(usage["cache_write"]),
    },
    costMicro: typeof cost === "number" ? cost : null,
  };
}

function readNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
