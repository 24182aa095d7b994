import { writeExact } from "../../../core/exact-json.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Exchange } from "../../../ports/conversations.ts";
import type { ToolCallResult } from "../../../ports/tools/agent-toolbox.ts";
import type { ModelTurn } from "../../models/model-turn.ts";
import type { ToolCallPart } from "../../models/turn-parts.ts";
import { toShownText } from "../../output/shown-text.ts";
import type { ToolMedia } from "./tool-media.ts";

/** Everything that was said between an agent and those whom it talks to, in order. */
export interface Transcript {
  readonly system: string | undefined;
  /** Earlier exchanges of the session. */
  readonly history: readonly Exchange[];
  /** The message, and the files that come with it. */
  readonly opening: readonly string[];
  readonly turns: readonly TranscriptTurn[];
}

export interface TranscriptTurn {
  readonly said: ModelTurn;
  /** The results of the tool calls, in the order of the calls. */
  readonly results: readonly ToolResult[];
  /** The message to the agent when its answer did not fit. */
  readonly objection?: string;
}

export interface ToolResult {
  readonly call: ToolCallPart;
  /** The text that the model sees. It is cut if it is too long. */
  readonly text: string;
  readonly isError: boolean;
  /** Images and sounds, for models that take them. */
  readonly media: readonly ToolMedia[];
  /** The arguments, if a person has changed them. */
  readonly edited?: JsonObject | undefined;
  readonly server?: string | undefined;
}

/** The longest result that the model sees. The run keeps all of it. */
const MAX_CHARS = 64 * 1024;

/** The text that the model gets for a result: without what acts or hides, and cut, with a note that says so, where it is longer than a model should read. */
export function toToolText({
  text,
  structured,
  isError,
}: Pick<ToolCallResult, "text" | "structured" | "isError">): string {
  const said = toShownText(text !== "" || structured === undefined ? text : writeExact(structured));
  if (said === "") return isError ? "The tool reported an error and said nothing else." : "(no output)";
  if (said.length <= MAX_CHARS) return said;
  // Never between the halves of one character.
  const end = isHighSurrogate(said.charCodeAt(MAX_CHARS - 1)) ? MAX_CHARS - 1 : MAX_CHARS;
  return `${said.slice(0, end)}\n\n[Cut here: ${said.length - end} more of ${said.length} characters. Ask the tool for less at a time.]`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
