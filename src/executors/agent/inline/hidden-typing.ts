import type { JsonObject } from "../../../core/json.ts";
import { REDACTED } from "../../../core/trust/secret-names.ts";
import type { ModelTurn } from "../../models/model-turn.ts";
import type { ToolCallPart, TurnPart } from "../../models/turn-parts.ts";
import type { TranscriptTurn } from "./transcript.ts";

/** What a terminal's tool says where the terminal takes lines and does not show them, or stands behind a question for a secret. */
const ASKS_HIDDEN = /\bhidden_prompt"?: ?true\b/;

/** A shorter text would tear ordinary words apart. */
const MIN_LENGTH = 6;

/**
 * A turn as it may be kept: without what its calls type into a terminal that has said, when it was last heard of, that it asks for
 * something hidden. `before`: the turns before it.
 */
export function withoutHidden(said: ModelTurn, before: readonly TranscriptTurn[]): ModelTurn {
  const typed: string[] = [];
  const parts = said.parts.map((part): TurnPart => {
    if (part.type !== "call") return part;
    const kept = toKeptCall(part, before);
    if (kept !== part) typed.push(...linesOf(part.input));
    return kept;
  });
  const mask = (text: string) => typed.reduce((masked, line) => masked.replaceAll(line, REDACTED), text);
  const isText = (part: TurnPart) => part.type === "text" || part.type === "thinking";
  return { ...said, parts: parts.map((part) => (isText(part) ? { ...part, text: mask(part.text) } : part)) };
}

/** The same of all turns, with what was called in them. */
export function turnsWithoutHidden(turns: readonly TranscriptTurn[]): readonly TranscriptTurn[] {
  return turns.map((turn, index) => {
    const before = turns.slice(0, index);
    const results = turn.results.map((result) => ({ ...result, call: toKeptCall(result.call, before) }));
    return { ...turn, said: withoutHidden(turn.said, before), results };
  });
}

/** Itself, where it may be kept. */
export function toKeptCall(call: ToolCallPart, before: readonly TranscriptTurn[]): ToolCallPart {
  const { session_id: id, input_text: text, keys } = call.input;
  if (typeof id !== "string" || id === "" || typeof text !== "string") return call;
  const results = before.flatMap((turn) => turn.results);
  const last = results.findLast((result) => result.call.input["session_id"] === id || result.text.includes(id));
  if (last === undefined || !ASKS_HIDDEN.test(last.text)) return call;
  const hidden = { input_text: REDACTED, ...(Array.isArray(keys) ? { keys: keys.map(() => REDACTED) } : {}) };
  return { ...call, input: { ...call.input, ...hidden } };
}

/** Why a call of a turn that is on record cannot be made: what it was to type is not there any more. */
export function findForgotten({ input_text: text }: JsonObject): string | undefined {
  if (text !== REDACTED) return undefined;
  return "What this call types at a hidden prompt is not kept, and was not typed. Call the tool again, with the text.";
}

/** As they are typed: escapes that are written out end a line, too. */
function linesOf({ input_text: text }: JsonObject): readonly string[] {
  const lines = typeof text === "string" ? text.split(/[\r\n]|\\[rn]/) : [];
  return lines.filter((line) => line.length >= MIN_LENGTH);
}
