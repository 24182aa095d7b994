import { isJsonObject, type Json } from "../../core/json.ts";
import type { ModelAnswer } from "../models/ask-model.ts";

const ENDS = ["whole", "cut", "filtered", "broken"] as const;

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
export function toTurnRecord({ text, ended, usage, costMicro }: ModelAnswer): Json {
  const { input = null, output = null, cacheRead = null, cacheWrite = null } = usage;
  return {
    text,
    ended,
    usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    cost_micro: costMicro,
  };
}

export function readTurnRecord(record: Json | undefined): ModelAnswer | undefined {
  if (!isJsonObject(record) || typeof record["text"] !== "string") return undefined;
  const usage = isJsonObject(record["usage"]) ? record["usage"] : {};
  const cost = record["cost_micro"];
  return {
    text: record["text"],
    ended: ENDS.find((end) => end === record["ended"]) ?? "whole",
    usage: {
      input: readNumber(usage["input"]),
      output: readNumber(usage["output"]),
      cacheRead: readNumber(usage["cache_read"]),
      cacheWrite: readNumber(usage["cache_write"]),
    },
    costMicro: typeof cost === "number" ? cost : null,
    warnings: [],
  };
}

function readNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
