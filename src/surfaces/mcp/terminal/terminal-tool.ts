import type { z } from "zod";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Application } from "../../../operations/application/application.ts";
import type { WorkflowLibrary } from "../../../ports/terminals/workflow-library.ts";
import { type DefinedTool, readToolInput } from "../../../ports/tools/defined-tool.ts";
import type { OfferedTool } from "../../../ports/tools/tool-set.ts";
import type { PerformedCall } from "../add-tools.ts";

export interface PerformingParts {
  readonly app: Application;
  readonly library: WorkflowLibrary;
}

/** A listed tool with what it does. Throws `REQUEST_INVALID`, `TERMINAL_REFUSED` and what the operations throw. */
export interface TerminalTool {
  readonly offered: OfferedTool;
  perform(parts: PerformingParts, args: JsonObject, call: PerformedCall): Promise<object>;
}

export function withReader<Input extends z.ZodObject>(
  tool: DefinedTool<Input>,
  perform: (parts: PerformingParts, input: z.output<Input>) => Promise<object>,
): TerminalTool {
  return {
    offered: tool,
    async perform(parts, args) {
      const read = readToolInput(tool.input, args);
      if ("problem" in read) throw new PawlError("REQUEST_INVALID", { message: read.problem });
      return perform(parts, read.input);
    },
  };
}
