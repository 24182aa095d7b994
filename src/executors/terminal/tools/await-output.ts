import { awaitMatch } from "../session/await-match.ts";
import { lookAt, SESSION_NOT_FOUND, type ToolHandler } from "./tool-parts.ts";

const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 3_600;

export const awaitOutput: ToolHandler<"await_output"> = async ({ gate, table }, request, call) => {
  const { session_id, pattern, timeout = DEFAULT_TIMEOUT_SECONDS } = request;
  gate.admit(call, { tool: "await_output", session_id, pattern, timeout });
  const startedAt = performance.now();
  const session = table.find(session_id);
  const fail = (error: string) => ({
    success: false,
    match_text: null,
    timed_out: false,
    elapsed_time: 0,
    ...lookAt(session),
    error,
  });
  if (session === undefined) return fail(`${SESSION_NOT_FOUND}: there is no session '${session_id}'.`);
  if (!(timeout >= 0 && timeout <= MAX_TIMEOUT_SECONDS)) {
    return fail(`The timeout must be from 0 to ${MAX_TIMEOUT_SECONDS} seconds.`);
  }
  const compiled = await tryCompile(pattern);
  if ("problem" in compiled) return fail(`Invalid pattern: ${compiled.problem}`);

  const waited = await awaitMatch(session, { find: compiled.find, timeoutMs: timeout * 1000, signal: call.signal });
  return {
    success: true,
    match_text: waited.match,
    timed_out: waited.isTimedOut,
    elapsed_time: Math.round(performance.now() - startedAt) / 1000,
    ...lookAt(session),
    error: null,
  };
};

async function tryCompile(pattern: string): Promise<{ readonly find: FindMatch } | { readonly problem: string }> {
  try {
    return { find: await compilePattern(pattern) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

type FindMatch = (text: string) => string | null;

/** Longer ones are no patterns but mistakes. */
const MAX_LENGTH = 10_000;

/**
 * Reads a regular expression in RE2's syntax: linear in time, so without look-around and back-references. `^` and `$`
 * hold at every line. Throws an error whose message says what is wrong with it.
 */
async function compilePattern(pattern: string): Promise<FindMatch> {
  if (pattern.length > MAX_LENGTH) throw new Error(`it is longer than ${MAX_LENGTH} characters`);
  const { RE2JS } = await import("re2js");
  const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE);
  return (text) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? matcher.group() : null;
  };
}
