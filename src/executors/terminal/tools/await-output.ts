import { untilAborted } from "../../until-aborted.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
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
  if (!(timeout >= 0 && timeout <= MAX_TIMEOUT_SECONDS))
    return fail(`The timeout must be from 0 to ${MAX_TIMEOUT_SECONDS} seconds.`);
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

/** Reads a regular expression in RE2's syntax, which is linear in time. `^` and `$` match at every line. Throws an error that explains the fault. */
async function compilePattern(pattern: string): Promise<FindMatch> {
  if (pattern.length > MAX_LENGTH) throw new Error(`it is longer than ${MAX_LENGTH} characters`);
  const { RE2JS } = await import("re2js");
  const compiled = RE2JS.compile(pattern, RE2JS.MULTILINE);
  return (text) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? matcher.group() : null;
  };
}

/** So much of the text before a new piece is searched again, as a match may begin in it. */
const OVERLAP_LENGTH = 4 * 1024;
/** While output comes faster than it can be looked at, it is looked at in pieces of this length. */
const LOOK_EVERY_LENGTH = 16 * 1024;
/** Longer matches are looked for at intervals of about so much output, and when there is a moment of rest. */
const LONG_LENGTH = 256 * 1024;
const REST_MS = 20;

interface Waiting {
  /** The first match in a text, or null. */
  find(text: string): string | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Waited {
  readonly match: string | null;
  readonly isTimedOut: boolean;
}

/** Waits until something stands in the output since the last input. Resolves without it at the end of time or program. */
export async function awaitMatch(session: TerminalSession, waiting: Waiting): Promise<Waited> {
  waiting.signal?.throwIfAborted();
  await session.flush();
  // From now on a listener hears of it, but not of what came in the meantime.
  waiting.signal?.throwIfAborted();
  const match = waiting.find(session.readOutput().text);
  if (match !== null || !session.isRunning) return { match, isTimedOut: false };
  return watchForMatch(session, waiting);
}

async function watchForMatch(session: TerminalSession, { find, timeoutMs, signal }: Waiting): Promise<Waited> {
  const { promise, resolve } = Promise.withResolvers<Waited>();
  const look = (length: number) => find(session.readOutputEnd(length));
  const settleWith = (match: string | null) => {
    if (match !== null || !session.isRunning) resolve({ match, isTimedOut: false });
  };
  const timer = setTimeout(() => {
    const match = look(LONG_LENGTH);
    resolve({ match, isTimedOut: match === null });
  }, timeoutMs);
  const rest = setTimeout(() => settleWith(look(LONG_LENGTH)), REST_MS);
  let unseen = 0;
  let unseenAtLength = 0;
  const stop = session.watchClosely((piece) => {
    unseen += piece.length;
    unseenAtLength += piece.length;
    const isOverwrittenNext = piece.endsWith("\r");
    if (!session.isCaughtUp && unseen < LOOK_EVERY_LENGTH && !isOverwrittenNext) return;
    const isLong = unseenAtLength >= LONG_LENGTH / 2 || !session.isRunning;
    const match = look(isLong ? LONG_LENGTH : unseen + OVERLAP_LENGTH);
    unseen = 0;
    if (isLong) unseenAtLength = 0;
    rest.refresh();
    settleWith(match);
  });
  try {
    return await untilAborted(promise, signal);
  } finally {
    stop();
    clearTimeout(timer);
    clearTimeout(rest);
  }
}
