import type { JsonObject } from "../../core/json.ts";
import type { AgentTool } from "./agent-toolbox.ts";

/** Tools of this program that an agent has only where it names them. */
export interface BuiltInTools {
  /** In an order that does not change. A name may stand for several tools, as `files` does. Unknown names offer nothing. */
  offer(wanted: BuiltInRequest, signal: AbortSignal): Promise<readonly AgentTool[]>;
}

interface BuiltInRequest {
  readonly names: readonly string[];
  /** The run whose folder the tools work in. */
  readonly runId: string;
  readonly path: string;
  /** Relative path -> text: what lies in the folder when the agent begins, unless it is there already. */
  readonly files?: JsonObject;
}
