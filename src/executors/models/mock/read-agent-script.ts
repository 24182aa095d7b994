import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { AgentScript } from "./agent-script.ts";
import { parseAgentScript } from "./parse-agent-script.ts";

/** A script for whoever cannot go on without it. Throws `SCRIPT_INVALID` with every problem and its place. */
export function readAgentScript(text: string, file: string): AgentScript {
  const parsed = parseAgentScript(text, file);
  if (parsed.ok) return parsed.script;
  const lines = parsed.problems.map(({ place, message }) => {
    return place === undefined ? message : `${file}:${place.line}:${place.column} ${message}`;
  });
  throw new PawlError("SCRIPT_INVALID", { message: lines.join("\n"), details: lines });
}
