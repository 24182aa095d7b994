import { awaitMatch } from "../session/await-match.ts";
import { compilePattern, type FindMatch } from "../session/compile-pattern.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { AwaitOutputRequest, AwaitOutputResult, ToolCall } from "../tool-types.ts";
import { SESSION_NOT_FOUND, toProcessFields } from "./process-fields.ts";
import type { ToolParts } from "./tool-parts.ts";

const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 3_600;

export async function awaitOutput(
  { gate, table }: ToolParts,
  request: AwaitOutputRequest,
  call: ToolCall,
): Promise<AwaitOutputResult> {
  const { session_id, pattern, timeout = DEFAULT_TIMEOUT_SECONDS } = request;
  gate.admit(call, { tool: "await_output", session_id, pattern, timeout });
  const startedAt = performance.now();
  const session = table.find(session_id);
  if (session === undefined) return toFailure(`${SESSION_NOT_FOUND}: there is no session '${session_id}'.`, undefined);
  if (!(timeout >= 0 && timeout <= MAX_TIMEOUT_SECONDS)) {
    return toFailure(`The timeout must be from 0 to ${MAX_TIMEOUT_SECONDS} seconds.`, session);
  }
  const compiled = await tryCompile(pattern);
  if ("problem" in compiled) return toFailure(`Invalid pattern: ${compiled.problem}`, session);

  const waited = await awaitMatch(session, { find: compiled.find, timeoutMs: timeout * 1000, signal: call.signal });
  return {
    success: true,
    match_text: waited.match,
    timed_out: waited.isTimedOut,
    screen_content: session.screen.readScreen(),
    elapsed_time: toSeconds(performance.now() - startedAt),
    timestamp: new Date().toISOString(),
    ...toProcessFields(session),
    error: null,
  };
}

async function tryCompile(pattern: string): Promise<{ readonly find: FindMatch } | { readonly problem: string }> {
  try {
    return { find: await compilePattern(pattern) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function toSeconds(durationMs: number): number {
  return Math.round(durationMs) / 1000;
}

function toFailure(error: string, session: TerminalSession | undefined): AwaitOutputResult {
  return {
    success: false,
    match_text: null,
    timed_out: false,
    screen_content: session?.screen.readScreen() ?? null,
    elapsed_time: 0,
    timestamp: new Date().toISOString(),
    ...(session === undefined ? { process_running: false } : toProcessFields(session)),
    error,
  };
}
