import { untilAborted } from "../../until-aborted.ts";
import type { TerminalSession } from "./terminal-session.ts";

/** So much of the text before a new piece is searched again, as a match may begin in it. */
const OVERLAP_LENGTH = 4 * 1024;
/** While output comes faster than it can be looked at, it is looked at in pieces of this length. */
const LOOK_EVERY_LENGTH = 16 * 1024;
/** Longer matches are looked for at intervals of about so much output, and when there is a moment of rest. */
const LONG_LENGTH = 256 * 1024;
const REST_MS = 20;

export interface Waiting {
  /** The first match in a text, or null. */
  find(text: string): string | null;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Waited {
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
