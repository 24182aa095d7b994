import type { Json, JsonObject } from "../core/json.ts";
import type { Outcome } from "./executor.ts";
import type { FileStorage } from "./file-storage.ts";

/** Tools of this program, for steps and for other programs. */
export interface ToolSet {
  readonly tools: readonly OfferedTool[];
  /** Whether a call of this name is answered here, if only with an error. */
  has(name: string): boolean;
  /** Checks the arguments against the tool's schema first. Only a defect is thrown. */
  call(name: string, call: ToolCall, signal: AbortSignal): Promise<Outcome>;
}

export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** What a careful caller wants to know first. All four are always said, as the defaults are pessimistic. */
  readonly hints: {
    readonly readOnly: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly openWorld: boolean;
  };
}

export interface ToolCall {
  readonly arguments: Json;
  /** Whose values are read and written, where the arguments do not say. */
  readonly appId?: string | undefined;
  /** Absent: no step asks, but another program. */
  readonly step?: CallingStep;
  log(event: JsonObject): void;
}

/** For which step a tool is called: its budget holds for tools that cost money. */
export interface CallingStep {
  readonly stepId: string;
  readonly path: string;
  readonly attempt: number;
  /** Integer micro-dollars. */
  readonly maxCostMicro?: number | undefined;
  /** Whose run it is. Absent: the application's own. */
  readonly tenantId?: string | undefined;
  /** The stored files of whoever's run it is. */
  readonly files: FileStorage;
}
