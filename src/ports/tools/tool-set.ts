import type { Json, JsonObject } from "../../core/json.ts";
import type { Outcome, Task } from "../executor.ts";

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
  /** A result that is told as a text, and as nothing else. Absent: it is structured. */
  toText?(result: JsonObject): string;
  /** Its arguments are the input of a workflow: none of them has another meaning. */
  readonly takesInput?: true;
  /** Hints for a careful caller. All four are always given, because the defaults are pessimistic. */
  readonly hints: {
    readonly readOnly: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly openWorld: boolean;
  };
}

export interface ToolCall {
  readonly arguments: Json;
  /** The tenant whose values are read and written if the arguments do not say. */
  readonly appId?: string | undefined;
  /** Absent: no step asks, but another program. */
  readonly step?: CallingStep;
  log(event: JsonObject): void;
}

/** For which step a tool is called: its budget holds for tools that cost money, and its run's turn for those that wait. */
export type CallingStep = Pick<
  Task,
  | "runId"
  | "stepId"
  | "path"
  | "attempt"
  | "isLimited"
  | "reserve"
  | "settings"
  | "tenantId"
  | "priority"
  | "files"
  | "emit"
>;
