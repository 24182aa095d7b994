import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type {
  AwaitOutputRequest,
  ContentMode,
  ExitTerminalRequest,
  GetScreenContentRequest,
  OpenTerminalRequest,
  SendInputRequest,
} from "./tool-types.ts";

export type ToolRequest =
  | { readonly tool: "open_terminal"; readonly request: OpenTerminalRequest }
  | { readonly tool: "send_input"; readonly request: SendInputRequest }
  | { readonly tool: "await_output"; readonly request: AwaitOutputRequest }
  | { readonly tool: "get_screen_content"; readonly request: GetScreenContentRequest }
  | { readonly tool: "list_terminal_sessions" }
  | { readonly tool: "exit_terminal"; readonly request: ExitTerminalRequest };

/** The parameters of a state, of which anybody may have written anything. Numbers that variables have made are texts. */
export function readRequest(tool: string, params: JsonObject): ToolRequest | { readonly problem: string } {
  try {
    return toRequest(tool, new Params(params));
  } catch (error) {
    if (error instanceof BadParameter) return { problem: error.message };
    throw error;
  }
}

function toRequest(tool: string, params: Params): ToolRequest {
  switch (tool) {
    case "open_terminal":
      return {
        tool,
        request: {
          shell: params.text("shell"),
          working_directory: params.text("working_directory"),
          environment: params.texts("environment"),
        },
      };
    case "send_input": {
      const keys = params.names("keys");
      return {
        tool,
        request: { session_id: params.required("session_id"), input_text: params.required("input_text"), keys },
      };
    }
    case "await_output": {
      const timeout = params.number("timeout");
      return {
        tool,
        request: { session_id: params.required("session_id"), pattern: params.required("pattern"), timeout },
      };
    }
    case "get_screen_content":
      return {
        tool,
        request: {
          session_id: params.required("session_id"),
          content_mode: params.contentMode("content_mode"),
          line_count: params.number("line_count"),
        },
      };
    case "list_terminal_sessions":
      return { tool };
    case "exit_terminal":
      return { tool, request: { session_id: params.required("session_id") } };
    default:
      throw new BadParameter(`There is no tool \`${tool}\`.`);
  }
}

class BadParameter extends Error {}

const CONTENT_MODES: readonly ContentMode[] = ["screen", "since_input", "history", "tail"];

/** A parameter that is null counts as absent. */
class Params {
  readonly #params: JsonObject;

  constructor(params: JsonObject) {
    this.#params = params;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined || typeof value === "string") return value;
    throw new BadParameter(`\`${name}\` must be a text.`);
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new BadParameter(`\`${name}\` is missing.`);
    return value;
  }

  number(name: string): number | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
    throw new BadParameter(`\`${name}\` must be a number.`);
  }

  names(name: string): readonly string[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.every((item: Json) => typeof item === "string");
    if (isList) return value as readonly string[];
    throw new BadParameter(`\`${name}\` must be a list of texts.`);
  }

  texts(name: string): { readonly [key: string]: string } | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const isMap = isJsonObject(value) && Object.values(value).every((item) => typeof item === "string");
    if (isMap) return value as { readonly [key: string]: string };
    throw new BadParameter(`\`${name}\` must be a map of texts.`);
  }

  contentMode(name: string): ContentMode | undefined {
    const value = this.text(name);
    const mode = CONTENT_MODES.find((known) => known === value);
    if (value === undefined || mode !== undefined) return mode;
    throw new BadParameter(`\`${name}\` is one of ${CONTENT_MODES.join(", ")}.`);
  }

  #value(name: string): Json | undefined {
    const value = Object.hasOwn(this.#params, name) ? this.#params[name] : undefined;
    return value === null ? undefined : value;
  }
}
