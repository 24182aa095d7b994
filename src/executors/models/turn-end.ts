import type { ErrorCode } from "../../core/errors/error-table.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Failed } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import type { GenerateResult } from "./language-model.ts";

/**
 * How a model's turn ends, for every provider and every executor. Only `done` completes a step, and tools are called only
 * after `tools`. Every other end fails the step with its code. An agent that has turns left goes on after `paused`, after
 * `miscalled`, and after a turn that was `cut` while it called tools.
 */
export type TurnEnd = keyof typeof ENDS;

export interface EndedTurn {
  readonly ended: TurnEnd;
  /** The provider's name for it. Absent: it gave none, or the turn is from a record. */
  readonly rawEnd?: string | undefined;
}

/** Names in lower case, of Anthropic, OpenAI, Google, and of servers that speak as one of them does. `%` is the model. */
function row(names: string, code: ErrorCode, message: string, retryable = false) {
  return { names: names.split(/\s+/), code, message, retryable };
}

const ENDS = {
  done: row("end_turn stop_sequence stop eos eos_token complete completed", "OUTPUT_EMPTY", "% said nothing."),
  tools: row(
    "tool_use tool_calls tool_call function_call",
    "OUTPUT_INVALID",
    "The model % called a tool, and has none.",
    true,
  ),
  /** The provider wants the turn back as it is, to go on with it. */
  paused: row("pause_turn", "OUTPUT_CUT", "The model % paused its turn again and again."),
  cut: row(
    "max_tokens length max_output_tokens continuation",
    "OUTPUT_CUT",
    "The answer of % was cut off at the token limit.",
  ),
  contextFull: row(
    "model_context_window_exceeded model_length",
    "MODEL_CONTEXT_TOO_LONG",
    "The answer of % was cut off: the conversation fills what the model can read.",
  ),
  refused: row("refusal", "MODEL_REFUSED", "The model % refused to answer."),
  filtered: row(
    `content_filter content_filtered safety recitation language blocklist prohibited_content spii model_armor sensitive
    image_safety image_prohibited_content image_recitation guardrail_intervened error_toxic`,
    "MODEL_REFUSED",
    "The content filter of % stopped the answer.",
  ),
  /** The provider could not read the call that the model wrote. */
  miscalled: row(
    "malformed_function_call malformed_tool_use malformed_response malformed_model_output unexpected_tool_call",
    "OUTPUT_INVALID",
    "The model % wrote a tool call that its provider could not read.",
    true,
  ),
  broken: row(
    "error abort aborted cancelled failed network_error insufficient_system_resource timeout",
    "MODEL_UNAVAILABLE",
    "The provider of % broke its answer off.",
    true,
  ),
  unknown: row("", "MODEL_END_UNKNOWN", "It is not known how the answer of % ended."),
};

const ALL = Object.keys(ENDS) as TurnEnd[];
const BY_NAME = new Map(ALL.flatMap((end) => ENDS[end].names.map((name) => [name, end] as const)));

/** Where the provider gives no name. One that filters has a name for it, so that a filtered text is a refusal. */
const UNNAMED: Readonly<Record<GenerateResult["finishReason"]["unified"], TurnEnd>> = {
  stop: "done",
  "tool-calls": "tools",
  length: "cut",
  "content-filter": "refused",
  error: "broken",
  interrupted: "broken",
  other: "unknown",
};

/** `hasCalls`: it has called tools that are not the provider's own. */
export function readTurnEnd({ unified, raw }: GenerateResult["finishReason"], hasCalls: boolean): EndedTurn {
  const name = raw?.toLowerCase() ?? "";
  // What the SDK makes of a name that the table lacks counts only where it is nothing good.
  const unlisted = unified === "content-filter" ? "filtered" : "unknown";
  const named = name === "" ? UNNAMED[unified] : (BY_NAME.get(name) ?? unlisted);
  // Some servers end a turn of calls with "stop", or with no reason.
  const isOpen = named === "done" || (named === "unknown" && name === "");
  if (named === "done" && unified === "content-filter") return { ended: "refused", rawEnd: raw };
  if (hasCalls && isOpen) return { ended: "tools", rawEnd: raw };
  return { ended: named === "tools" && !hasCalls ? "unknown" : named, rawEnd: raw };
}

const MAX_NAME_CHARS = 100;
const MAX_SHOWN_CHARS = 2_000;

/** The name of an end in outputs and logs: Anthropic's, where it has one. */
export function endName({ ended, rawEnd }: EndedTurn): string {
  return ENDS[ended].names[0] || (rawEnd?.slice(0, MAX_NAME_CHARS) ?? ended);
}

/** An end on record. Older records say `whole` for `done`. */
export function readRecordedEnd(kept: unknown): TurnEnd {
  return ALL.find((end) => end === kept) ?? (kept === "whole" ? "done" : "unknown");
}

/** The failure of a step whose last turn ended so. Asking changes nothing outside. */
export function toEndFailure({ ended, rawEnd }: EndedTurn, model: string, text: string): Failed {
  const { code, message, retryable } = ENDS[ended];
  const said = rawEnd === undefined ? "gave no reason" : `says ${writeExact(rawEnd.slice(0, MAX_NAME_CHARS))}`;
  return toFailed(code, {
    message: `${message.replace("%", () => model)} The provider ${said}.`,
    retryable,
    effect: "none",
    details: { ended, answer: text.slice(0, MAX_SHOWN_CHARS) },
  });
}
