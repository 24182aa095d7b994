import type { JsonObject } from "../../../core/json.ts";
import type { Exchange } from "../../../ports/conversations.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import type { ToolCallPart } from "../../models/turn-part.ts";

/** Everything that was said between an agent and those whom it talks to, in order. */
export interface Transcript {
  readonly system: string | undefined;
  /** Of the session, before this one. */
  readonly history: readonly Exchange[];
  /** The message, and the files that come with it. */
  readonly opening: readonly string[];
  readonly turns: readonly TranscriptTurn[];
}

export interface TranscriptTurn {
  readonly said: ModelTurn;
  /** What came back for each call of a tool, in the order of the calls. */
  readonly results: readonly ToolResult[];
  /** What the agent was told because its answer did not fit. */
  readonly objection?: string;
}

export interface ToolResult {
  readonly call: ToolCallPart;
  /** As the model sees it: cut where it was too long. */
  readonly text: string;
  readonly isError: boolean;
  /** What a person has put in the place of the arguments. */
  readonly edited?: JsonObject | undefined;
  readonly server?: string | undefined;
}
