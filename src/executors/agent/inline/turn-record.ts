import { isJsonObject, type Json } from "../../../core/json.ts";
import { readSpentRecord, toSpentRecord } from "../../models/spending.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import type { TurnPart } from "../../models/turn-part.ts";

const ENDS = ["whole", "tools", "cut", "filtered", "broken"] as const;

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
export function toTurnRecord(turn: ModelTurn): Json {
  const { parts, ended, model } = turn;
  return { parts, ended, ...toSpentRecord(turn), model };
}

export function readTurnRecord(record: Json | undefined): ModelTurn | undefined {
  if (!isJsonObject(record) || !Array.isArray(record["parts"])) return undefined;
  return {
    // This program wrote it.
    parts: record["parts"] as readonly TurnPart[],
    ended: ENDS.find((end) => end === record["ended"]) ?? "whole",
    ...readSpentRecord(record),
    model: typeof record["model"] === "string" ? record["model"] : "",
  };
}
