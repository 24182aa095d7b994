import { ERRORS } from "../../core/errors/error-table.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { OfferedTool, ToolCall, ToolSet } from "../../ports/tools/tool-set.ts";
import { toFailed, toRefused } from "../output/failure.ts";
import { describeKnown } from "../output/near-names.ts";
import { commandTool, type RunCommand } from "./command-tool.ts";
import type { CoreTool } from "./core-tool.ts";
import { DefinitionFolder } from "./definition-folder.ts";
import { definitionTools } from "./definition-tools.ts";
import { frameworkTools } from "./framework-tools.ts";
import { type Generate, llmTool } from "./llm-tool.ts";
import { StoredValues, valueTools } from "./value-tools.ts";

export interface CoreToolsOptions {
  /** The application. */
  readonly folder: string;
  /** Places in it that no tool may touch: the data directory. */
  readonly forbidden: readonly string[];
  /** The storage for values of callers that are no steps. */
  files(): Promise<FileStorage>;
  /** All that `core.framework.getConfigValue` may read. */
  readonly configuration: JsonObject;
  /** Absent: there is no model to ask, and the tool is not there. */
  readonly generate?: Generate;
  /** Absent: commands are not allowed. */
  readonly runCommand?: RunCommand;
}

const RESERVED = ["core.", "community.database.simple_kv."];

/** The tools that every application has without configuring a server. */
export function createCoreTools(options: CoreToolsOptions): ToolSet {
  const { files, generate } = options;
  return new CoreTools([
    ...definitionTools(new DefinitionFolder(options.folder, options.forbidden)),
    ...valueTools({
      values: new StoredValues(files, "runtime-values"),
      set: "core.state.setRuntimeValue",
      get: "core.state.getRuntimeValue",
      remove: "core.state.deleteRuntimeValue",
      what: "runtime value",
    }),
    ...(generate === undefined ? [] : [llmTool(generate)]),
    commandTool(options.runCommand),
    ...frameworkTools(options.configuration),
    ...valueTools({
      values: new StoredValues(files, "simple-kv"),
      set: "community.database.simple_kv.set",
      get: "community.database.simple_kv.get",
      remove: "community.database.simple_kv.delete",
      what: "value",
    }),
  ]);
}

class CoreTools implements ToolSet {
  readonly #tools: ReadonlyMap<string, CoreTool>;

  constructor(tools: readonly CoreTool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get tools(): readonly OfferedTool[] {
    return [...this.#tools.values()];
  }

  has(name: string): boolean {
    return this.#tools.has(name) || RESERVED.some((prefix) => name.startsWith(prefix));
  }

  async call(name: string, call: ToolCall, signal: AbortSignal): Promise<Outcome> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return this.#unknown(name);
    try {
      return await tool.run(call.arguments, call, signal);
    } catch (error) {
      if (signal.aborted) return stopped();
      return toRefusal(error, tool);
    }
  }

  #unknown(name: string): Failed {
    const message = `There is no tool \`${name}\`. ${describeKnown(name, [...this.#tools.keys()])}`;
    return toRefused("MCP_TOOL_UNKNOWN", message);
  }
}

function stopped(): Failed {
  return toFailed("INTERRUPTED", {
    message: "The call was cancelled.",
    retryable: true,
    effect: "unknown",
    costMicro: 0,
  });
}

/** Errors that a user can do something about become failures; anything else is a defect and is thrown on. */
function toRefusal(error: unknown, { hints }: CoreTool): Failed {
  if (!isPawlError(error)) throw error;
  const { code, message, remedy, details } = error;
  return toFailed(code, {
    // The remedy of the table is shown with the code; one that knows better would be lost.
    message: remedy === ERRORS[code].remedy ? message : `${message} ${remedy}`,
    retryable: false,
    effect: hints.openWorld ? "unknown" : "none",
    costMicro: 0,
    details,
  });
}
