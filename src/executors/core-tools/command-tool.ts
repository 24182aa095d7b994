import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { APP_ID, type CoreTool, objectOf, succeeded, text, textOf } from "./core-tool.ts";

interface CommandRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Runs a command in the sandbox. Throws `TIMEOUT`. */
export type RunCommand = (request: CommandRequest, signal: AbortSignal) => Promise<CommandResult>;

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 600;

/** `core.linux.executeCommand`; without `run` it refuses. */
export function commandTool(run: RunCommand | undefined): CoreTool {
  return {
    name: "core.linux.executeCommand",
    title: "Run a command",
    description: "Runs a program in a sandbox, without a shell, and returns what it printed.",
    inputSchema: objectOf(
      {
        ...APP_ID,
        command: { type: "string", minLength: 1, description: "The program." },
        args: { type: "array", items: { type: "string" }, description: "Passed as they are." },
        timeout_seconds: { type: "number", exclusiveMinimum: 0, maximum: MAX_SECONDS, description: "Default: 30." },
      },
      ["command"],
    ),
    outputSchema: objectOf(
      { stdout: text("What it printed."), stderr: text("What it complained."), exit_code: { type: "integer" } },
      ["stdout", "stderr", "exit_code"],
    ),
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    async run(args, _call, signal) {
      if (run === undefined) {
        throw new PawlError("COMMANDS_NOT_ALLOWED", { message: "`core.linux.executeCommand` is switched off." });
      }
      const { stdout, stderr, exitCode } = await run(toRequest(args), signal);
      return succeeded({ stdout, stderr, exit_code: exitCode });
    },
  };
}

function toRequest(given: JsonObject): CommandRequest {
  const { args, timeout_seconds: seconds } = given;
  return {
    command: textOf(given, "command"),
    args: Array.isArray(args) ? args.map(String) : [],
    timeoutMs: (typeof seconds === "number" ? seconds : DEFAULT_SECONDS) * 1_000,
  };
}
