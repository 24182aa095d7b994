import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { refuseUngranted } from "../../core/trust/check-grant.ts";
import { grantOf } from "../../core/trust/grant.ts";
import { appId, type CoreTool, defineCoreTool, succeeded } from "./core-tool.ts";

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

/** `core.linux.executeCommand`; without `run` it refuses. */
export function commandTool(run: RunCommand | undefined): CoreTool {
  return defineCoreTool(
    {
      name: "core.linux.executeCommand",
      title: "Run a command",
      description: "Runs a program in a sandbox, without a shell, and returns what it printed.",
      input: z.strictObject({
        ...appId,
        command: z.string().min(1).describe("The program."),
        args: z.array(z.string()).optional().describe("Passed as they are."),
        timeout_seconds: z.number().gt(0).max(600).nullish().describe("Default: 30."),
      }),
      output: z.strictObject({
        stdout: z.string().describe("What it printed."),
        stderr: z.string().describe("What it complained."),
        exit_code: z.int(),
      }),
      hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    },
    async ({ command, args = [], timeout_seconds: seconds }, call, signal) => {
      if (call.step !== undefined) refuseUngranted(grantOf(call.step.settings), "code", "sandbox");
      if (run === undefined) {
        throw new PawlError("COMMANDS_NOT_ALLOWED", { message: "`core.linux.executeCommand` is switched off." });
      }
      const { stdout, stderr, exitCode } = await run({ command, args, timeoutMs: (seconds ?? 30) * 1_000 }, signal);
      return succeeded({ stdout, stderr, exit_code: exitCode });
    },
  );
}
