import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { SessionRecordings } from "../../src/executors/terminal/recording/session-recordings.ts";
import type { TerminalSession } from "../../src/executors/terminal/session/terminal-session.ts";
import { createTerminalSessions, type TerminalSessions } from "../../src/executors/terminal/terminal-sessions.ts";
import { LocalFileStorage } from "../../src/storage/files/local-file-storage.ts";
import { type Comparison, compare } from "../support/compare.ts";

const LINES = 300_000;
const FLOOR = "`cat` through a bare pty";

/** 2 MB of output through a terminal and its screen model, with and without somebody who waits for its last line. */
export async function benchTerminal(rounds: number): Promise<Comparison[]> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-bench-terminal-"));
  const file = join(folder, "numbers");
  writeFileSync(file, Array.from({ length: LINES }, (_, n) => `${n + 1}\n`).join(""));
  const terminals = openTerminals(folder);
  const shared = { floorName: FLOOR, rounds, floor: () => throughBarePty(file) };
  const plain = { name: "2 MB through a terminal and its screen model", ours: () => throughTerminal(terminals, file) };
  const awaited = {
    name: "the same, searched for its last line",
    ours: () => throughTerminal(terminals, file, "^300000"),
  };
  const recorded = {
    name: "the same without the search, recorded and looked through for a secret",
    ours: () => throughTerminal(terminals, file, "", "run"),
  };
  try {
    const all = [plain, awaited, recorded];
    const comparisons: Comparison[] = [];
    for (const each of all) comparisons.push(toTimed(await compare({ ...shared, ...each })));
    return comparisons;
  } finally {
    await terminals.close();
    rmSync(folder, { recursive: true });
  }
}

function toTimed(comparison: Comparison): Comparison {
  return { ...comparison, note: `limit 1,000 ms: ${comparison.oursMs < 1_000 ? "met" : "missed"}` };
}

function openTerminals(folder: string): TerminalSessions {
  const recordings = new SessionRecordings({
    dir: join(folder, "recordings"),
    files: async () => new LocalFileStorage(join(folder, "storage")),
    secrets: () => ({ spellings: ["sesame-4711"], mask: (text) => text }),
    maxBytes: 16 * 1024 * 1024,
    recordsRuns: true,
    recordsSessions: false,
    tell: (line) => console.error(line),
  });
  return createTerminalSessions(
    {
      level: "off",
      maxCallsPerMinute: 60,
      maxSessions: 10,
      defaultShell: "bash --norc",
      isolateHistory: true,
      columns: 120,
      rows: 30,
      scrollbackRows: 2_000,
      sweepAfterMs: 60_000,
    },
    {
      environment: process.env,
      currentDir: folder,
      homeDir: folder,
      temporaryDir: folder,
      mask: (text) => text,
      opened: (session) => recordings.opened(session),
    },
  );
}

/** From the keypress that lets the program begin to its end. */
async function throughBarePty(file: string): Promise<number> {
  const pty = spawn("bash", ["--norc", "-c", `echo ready; read; exec cat ${file}`], { cols: 120, rows: 30 });
  await new Promise<void>((resolve) => pty.onData(() => resolve()));
  const startedAt = performance.now();
  const ended = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  pty.write("\n");
  await ended;
  return performance.now() - startedAt;
}

async function throughTerminal(
  terminals: TerminalSessions,
  file: string,
  pattern = "",
  owner?: string,
): Promise<number> {
  const shell = `bash --norc -c 'echo ready; read; exec cat ${file}'`;
  const { session_id } = await terminals.call("open_terminal", { shell }, owner === undefined ? {} : { owner });
  const session = terminals.find(session_id);
  if (session === undefined) throw new Error("The session is gone.");
  const startedAt = performance.now();
  await session.type("\n");
  if (pattern !== "") {
    const { match_text } = await terminals.call("await_output", { session_id, pattern, timeout: 60 });
    if (match_text === null) throw new Error("The last line was not found.");
  } else await endOf(session);
  const durationMs = performance.now() - startedAt;
  await terminals.call("exit_terminal", { session_id });
  return durationMs;
}

function endOf(session: TerminalSession): Promise<void> {
  return new Promise((resolve, reject) => {
    // Terminals alone do not keep their process from ending.
    const limit = setTimeout(() => reject(new Error("The program does not end.")), 60_000);
    const stop = session.watch(() => {
      if (session.isRunning) return;
      stop();
      clearTimeout(limit);
      resolve();
    });
  });
}
