import { isJsonObject, type Json } from "../../core/json.ts";
import type { ModelAnswer } from "../models/ask-model.ts";
import { readSpentRecord, toSpentRecord } from "../models/spent-record.ts";

const ENDS = ["whole", "cut", "filtered", "broken"] as const;

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
export function toTurnRecord(answer: ModelAnswer): Json {
  const { text, ended } = answer;
  return { text, ended, ...toSpentRecord(answer) };
}

export function readTurnRecord(record: Json | undefined): ModelAnswer | undefined {
  if (!isJsonObject(record) || typeof record["text"] !== "string") return undefined;
  return {
    text: record["text"],
    ended: ENDS.find((end) => end === record["ended"]) ?? "whole",
    ...readSpentRecord(record),
    warnings: [],
  };
}
