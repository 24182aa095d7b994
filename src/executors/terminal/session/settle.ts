import { untilAborted } from "../../until-aborted.ts";
import type { TerminalSession } from "./terminal-session.ts";

/** No byte for so long: what was to come has come. */
const QUIET_MS = 50;

export interface Settling {
  /** Whether more than the repeated input is to be expected: a line has been sent. */
  readonly expectsAnswer: boolean;
  /** The wait for a first answer, while nothing or only the echo of the input has come. */
  readonly graceMs: number;
  readonly maxMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves as soon as the screen is quiet, the program has ended, or the time is over. */
export async function settle(
  session: TerminalSession,
  { expectsAnswer, graceMs, maxMs, signal }: Settling,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve: done } = Promise.withResolvers<void>();
  const hasAnswer = () => !expectsAnswer || session.readOutput().text !== "";
  const quiet = setTimeout(done, graceMs);
  const latest = setTimeout(done, maxMs);
  let quietAfterAnswer: NodeJS.Timeout | undefined;
  const stop = session.watch(() => {
    if (!session.isRunning) return done();
    if (!session.isCaughtUp) return;
    if (quietAfterAnswer !== undefined) quietAfterAnswer.refresh();
    else if (!hasAnswer()) quiet.refresh();
    else {
      clearTimeout(quiet);
      quietAfterAnswer = setTimeout(done, QUIET_MS);
    }
  });
  if (!session.isRunning) done();
  try {
    await untilAborted(promise, signal);
  } finally {
    stop();
    for (const timer of [quiet, latest, quietAfterAnswer]) clearTimeout(timer);
  }
}
