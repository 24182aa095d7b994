import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentTool, ToolCallResult } from "../../ports/tools/agent-toolbox.ts";
import type { Sandbox, SandboxLimits, SandboxResult } from "../sandbox/sandbox.ts";
import { toErrorResult, toTextResult } from "./run-files.ts";

export interface BashOptions {
  sandbox(): Promise<Sandbox>;
  /** Absolute: the folder of the run on this machine, which the command works in and may change. */
  readonly folder: string;
  readonly limits: SandboxLimits;
}

const MAX_SHOWN_CHARS = 30_000;

/** One command in the sandbox: no network, nothing of this machine but its programs, and the folder of the run. */
export function createBash({ sandbox, folder, limits }: BashOptions): AgentTool {
  const maxSeconds = Math.floor(limits.timeoutMs / 1_000);
  return {
    name: "bash",
    tool: "bash",
    aliases: ["builtin.bash"],
    description:
      "Runs a bash command in a sandbox without network, in this run's folder: the files there are those of the other file " +
      "tools, and last. Nothing else that it changes lasts. Gives what it printed and its exit code.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", description: "As typed at a shell; several lines are possible." },
        timeout_seconds: { type: "integer", minimum: 1, maximum: maxSeconds, default: maxSeconds },
      },
      required: ["command"],
      additionalProperties: false,
    },
    isRepeatable: false,
    async call({ command, timeout_seconds: seconds }, { idempotencyKey }, signal) {
      await prepareFolder(folder);
      const timeoutMs = Math.min(typeof seconds === "number" ? seconds * 1_000 : limits.timeoutMs, limits.timeoutMs);
      const result = await (await sandbox()).runSandboxed(
        {
          command: "bash",
          args: ["-c", String(command)],
          env: { PAWL_IDEMPOTENCY_KEY: idempotencyKey },
          cwd: folder,
          visible: [{ kind: "writable", path: folder }],
          limits: { ...limits, timeoutMs },
        },
        signal,
      );
      return toResult(result, timeoutMs);
    },
  };
}

function toResult(result: SandboxResult, timeoutMs: number): ToolCallResult {
  const { ending, stdout, stderr } = result;
  const printed = [stdout, stderr].map((bytes) => bytes.toString("utf8").trimEnd()).filter((text) => text !== "");
  const text = [...printed.map(shorten), explain(ending, timeoutMs)].join("\n");
  if (ending.type === "exited" && ending.code === 0) return toTextResult(text);
  return { ...toErrorResult(text), ...(ending.type === "aborted" ? { outcomeUnknown: true } : {}) };
}

function explain(ending: SandboxResult["ending"], timeoutMs: number): string {
  switch (ending.type) {
    case "exited":
      return `[exit code ${ending.code}]`;
    case "killed":
      return `[killed by ${ending.signal}]`;
    case "timedOut":
      return `[stopped: it took longer than ${timeoutMs / 1_000} s]`;
    case "aborted":
      return "[stopped]";
    case "outOfMemory":
      return "[stopped: it used more memory than it may]";
    case "tooManyProcesses":
      return "[stopped: it started more processes than it may]";
    case "outputTooLarge":
      return "[stopped: it printed more than it may]";
    case "notStarted":
      return `[not started: ${ending.reason}]`;
    case "refused":
      return `[not started: ${ending.reason}. ${ending.remedy}]`;
  }
}

/** The beginning says what was done, the end what became of it. */
function shorten(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS) return text;
  const half = MAX_SHOWN_CHARS / 2;
  return `${text.slice(0, half)}\n[... ${text.length - MAX_SHOWN_CHARS} characters left out ...]\n${text.slice(-half)}`;
}

/** Makes the folder. Where we are root, programs run as another user and must be able to change it. Links are left alone. */
async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (process.getuid?.() === 0) await openUp(folder);
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o777);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openUp(path);
    else if (entry.isFile()) await chmod(path, 0o666);
  }
}
