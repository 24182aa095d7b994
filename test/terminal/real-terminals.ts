import { homedir, tmpdir } from "node:os";
import { onTestFinished } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import { createTerminalExecutor } from "../../src/executors/terminal/terminal-executor.ts";
import type { TerminalOptions, TerminalSurroundings } from "../../src/executors/terminal/terminal-options.ts";
import { createTerminalSessions, type TerminalSessions } from "../../src/executors/terminal/terminal-sessions.ts";
import type { Executor, Outcome } from "../../src/ports/executor.ts";

export interface RealTerminals {
  readonly sessions: TerminalSessions;
  readonly executor: Executor<Outcome>;
  readonly clock: SystemClock;
}

/** Terminals of this process, closed when the test ends. */
export function realTerminals(
  options: Partial<TerminalOptions> = {},
  surroundings: Partial<TerminalSurroundings> = {},
): RealTerminals {
  const sessions = createTerminalSessions(
    {
      level: "off",
      maxCallsPerMinute: 60,
      maxSessions: 50,
      defaultShell: "bash",
      isolateHistory: true,
      columns: 120,
      rows: 30,
      scrollbackRows: 1_000,
      sweepAfterMs: 60_000,
      ...options,
    },
    {
      environment: process.env,
      currentDir: process.cwd(),
      homeDir: homedir(),
      temporaryDir: tmpdir(),
      mask: (text) => text,
      ...surroundings,
    },
  );
  const clock = new SystemClock();
  onTestFinished(async () => {
    clock.stop();
    await sessions.close();
  });
  return { sessions, executor: createTerminalExecutor(sessions), clock };
}
