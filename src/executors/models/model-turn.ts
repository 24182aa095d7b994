import { isJsonObject, type Json } from "../../core/json.ts";
import type { Model } from "./create-models.ts";
import { type GenerateResult, KNOWN_COST } from "./language-model.ts";
import type { TokenUsage } from "./price-call.ts";
import { readSpentRecord, toSpentRecord } from "./spending.ts";
import { type EndedTurn, readRecordedEnd, readTurnEnd } from "./turn-end.ts";
import type { TurnPart } from "./turn-parts.ts";

export interface ModelTurn extends EndedTurn {
  readonly parts: readonly TurnPart[];
  readonly usage: TokenUsage;
  readonly costMicro: number | null;
  /** The model that answered, as the provider names it. */
  readonly model: string;
}

/** An answer of the SDK. */
export interface SaidTurn extends Pick<GenerateResult, "finishReason" | "usage" | "providerMetadata" | "warnings"> {
  readonly parts: readonly TurnPart[];
  /** The name that the answer gives. */
  readonly modelId: string | undefined;
}

export async function toModelTurn(said: SaidTurn, model: Model): Promise<ModelTurn> {
  const { parts, modelId } = said;
  const usage = readUsage(said.usage);
  const tokensMicro = await readCost({ ...said, usage }, model);
  const hasCalls = parts.some((part) => part.type === "call" && !part.isProviders);
  return {
    parts,
    ...readTurnEnd(said.finishReason, hasCalls),
    usage,
    costMicro: tokensMicro === null ? null : tokensMicro + searchFees(parts, model),
    model: modelId ?? model.id,
  };
}

function readUsage({ inputTokens, outputTokens }: GenerateResult["usage"]): TokenUsage {
  // Less than none: it was not told.
  const known = (count: number | undefined) => (count === undefined || count < 0 ? undefined : count);
  return {
    input: known(inputTokens.total),
    output: known(outputTokens.total),
    cacheRead: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite,
  };
}

/** Integer micro-dollars; `null`: unknown. */
async function readCost(
  { usage, modelId, providerMetadata }: Pick<SaidTurn, "modelId" | "providerMetadata"> & { readonly usage: TokenUsage },
  model: Model,
): Promise<number | null> {
  const known = providerMetadata?.[KNOWN_COST];
  if (isJsonObject(known)) return typeof known["costMicro"] === "number" ? known["costMicro"] : null;
  return model.priceMicro(usage, modelId);
}

/** A provider's own searches are charged beside the tokens. */
function searchFees(parts: readonly TurnPart[], { searching }: Model): number {
  if (searching === undefined) return 0;
  const searches = parts.filter((part) => part.type === "call" && part.isProviders).length;
  return Math.min(searches, searching.most) * searching.feeMicro;
}

/** What was said, without the blocks that only the model and its provider understand. */
export function textOf({ parts }: Pick<ModelTurn, "parts">): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
export function toTurnRecord(turn: ModelTurn): Json {
  const { parts, ended, model } = turn;
  return { parts, ended, ...toSpentRecord(turn), model };
}

export function readTurnRecord(record: Json | undefined): ModelTurn | undefined {
  if (!isJsonObject(record)) return undefined;
  const { parts, text, ended, model } = record;
  // Steps without tools kept only their text.
  const said = typeof text === "string" ? [{ type: "text", text }] : parts;
  if (!Array.isArray(said)) return undefined;
  return {
    // This program wrote it.
    parts: said as readonly TurnPart[],
    ended: readRecordedEnd(ended),
    ...readSpentRecord(record),
    model: typeof model === "string" ? model : "",
  };
}
