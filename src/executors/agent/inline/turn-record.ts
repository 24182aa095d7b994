import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import type { TurnPart } from "../../models/turn-part.ts";

const ENDS = ["whole", "tools", "cut", "filtered", "broken"] as const;

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
export function toTurnRecord({ parts, ended, usage, costMicro, model }: ModelTurn): Json {
  const { input = null, output = null, cacheRead = null, cacheWrite = null } = usage;
  return {
    parts,
    ended,
    usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    cost_micro: costMicro,
    model,
  };
}

export function readTurnRecord(record: Json | undefined): ModelTurn | undefined {
  if (!isJsonObject(record) || !Array.isArray(record["parts"])) return undefined;
  const usage: JsonObject = isJsonObject(record["usage"]) ? record["usage"] : {};
  const cost = record["cost_micro"];
  return {
    // As it was written by this program.
    parts: record["parts"] as readonly TurnPart[],
    ended: ENDS.find((end) => end === record["ended"]) ?? "whole",
    usage: {
      input: readNumber(usage["input"]),
      output: readNumber(usage["output"]),
      cacheRead: readNumber(usage["cache_read"]),
      cacheWrite: readNumber(usage["cache_write"]),
    },
    costMicro: typeof cost === "number" ? cost : null,
    model: typeof record["model"] === "string" ? record["model"] : "",
  };
}

function readNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
