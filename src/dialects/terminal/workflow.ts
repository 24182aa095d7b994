import type { JsonObject } from "../../core/json.ts";
import type { TerminalToolName } from "../../ports/terminal-tools.ts";

/** A terminal workflow as its text holds it, once its structure has been checked. */
export interface TerminalWorkflow {
  readonly name: string;
  readonly description?: string;
  readonly initial_state: string;
  readonly states: { readonly [name: string]: State };
}

export interface State {
  readonly action: { readonly tool: ToolName; readonly params: JsonObject };
  readonly transitions?: readonly StateTransition[];
  /** Seconds. */
  readonly timeout?: number;
  readonly on_timeout?: string;
}

export interface StateTransition {
  readonly condition: Condition;
  readonly next_state: string;
}

/** All that are there must hold. */
export interface Condition {
  readonly success?: boolean;
  readonly pattern_match?: string;
  readonly pattern_not_match?: string;
  readonly field_equals?: JsonObject;
  readonly field_contains?: JsonObject;
  readonly timeout_occurred?: boolean;
}

export type ToolName = TerminalToolName | "run_workflow";
