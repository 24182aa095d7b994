import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { SandstormDocument } from "./document-decoder.ts";

const USAGE_TOKENS = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
const USAGE_TOTALS = ["num_turns", "duration_ms", "duration_api_ms"];

const MAX_BUDGET = "error_max_budget_usd";

// Another try would end at the same limit and cost the same again.
const LIMIT_SUBTYPES: ReadonlySet<Json | undefined> = new Set(["error_max_turns", MAX_BUDGET]);

const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Both say so: either alone occurs on failures too. */
export function isSuccess(result: SandstormDocument): boolean {
  return result["subtype"] === "success" && !result["is_error"];
}

/** It has spent what it was allowed. One that has spent less has come to a limit of its server's own. */
export function isOutspent(result: SandstormDocument, maxCostMicro: number | undefined): boolean {
  if (result["subtype"] !== MAX_BUDGET || maxCostMicro === undefined) return false;
  return (readCostMicro(result) ?? maxCostMicro) >= maxCostMicro;
}

/** Integer micro-dollars; null when the server did not say. */
export function readCostMicro(result: SandstormDocument): number | null {
  const cost = result["total_cost_usd"];
  return typeof cost === "number" && cost >= 0 ? Math.round(cost * 1_000_000) : null;
}

export function readUsage(result: SandstormDocument): JsonObject {
  const tokens = isJsonObject(result["usage"]) ? result["usage"] : {};
  return { ...pickNumbers(tokens, USAGE_TOKENS), ...pickNumbers(result, USAGE_TOTALS) };
}

/** The agent's own words about why it gave up. */
export function describeFailure(result: SandstormDocument): string {
  const errors = listErrors(result).filter((error) => typeof error === "string");
  const said = typeof result["result"] === "string" ? result["result"] : "";
  const subtype = typeof result["subtype"] === "string" ? result["subtype"] : "no subtype";
  return errors.join("; ") || said || subtype;
}

export function listErrors(result: SandstormDocument): readonly Json[] {
  return Array.isArray(result["errors"]) ? result["errors"] : [];
}

/** A run that broke may go better the next time. One that ended as it must, or was refused, will not. */
export function isWorthRetrying(result: SandstormDocument): boolean {
  if (LIMIT_SUBTYPES.has(result["subtype"])) return false;
  if (result["subtype"] !== "success") return true;
  const status = result["api_error_status"];
  if (typeof status === "number") return status === TOO_MANY_REQUESTS || status >= SERVER_ERROR;
  return /overloaded|rate.?limit|\b(429|5\d\d)\b/i.test(describeFailure(result));
}

function pickNumbers(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (typeof from[name] === "number" ? [[name, from[name]]] : [])));
}
