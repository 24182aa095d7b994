import type { JsonObject } from "../../../core/json.ts";
import type { Ports } from "../../../operations/application/ports.ts";
import type { WorkflowLibrary } from "../../../ports/terminals/workflow-library.ts";
import type { OfferedTool } from "../../../ports/tools/tool-set.ts";
import type { PerformedCall } from "../add-tools.ts";

export interface PerformingParts {
  readonly app: Ports;
  readonly library: WorkflowLibrary;
}

/** A listed tool with what it does. Throws `REQUEST_INVALID`, `TERMINAL_REFUSED` and what the operations throw. */
export interface TerminalTool {
  readonly offered: OfferedTool;
  perform(parts: PerformingParts, args: JsonObject, call: PerformedCall): Promise<object>;
}
