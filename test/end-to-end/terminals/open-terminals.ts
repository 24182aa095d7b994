import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { PtyHolder } from "../../../src/executors/terminal/session/pty.ts";
import type { TerminalOptions, TerminalSurroundings } from "../../../src/executors/terminal/terminal-options.ts";
import { createTerminalSessions, type TerminalSessions } from "../../../src/executors/terminal/terminal-sessions.ts";
import { TmuxHolder } from "../../../src/executors/terminal/tmux/tmux-holder.ts";
import { programOf } from "../../support/needs.ts";

export interface TestTerminals extends TerminalSessions {
  readonly homeDir: string;
  readonly currentDir: string;
}

const OPTIONS: TerminalOptions = {
  level: "off",
  maxCallsPerMinute: 60,
  maxSessions: 50,
  defaultShell: "bash",
  isolateHistory: true,
  columns: 120,
  rows: 30,
  scrollbackRows: 2_000,
  sweepAfterMs: 60_000,
};

/** `TERMINAL_BACKEND=tmux vitest run test/end-to-end/terminals` runs all of these tests over tmux. */
const IS_TMUX = process.env["TERMINAL_BACKEND"] === "tmux";

/** Terminals of tmux servers whose sockets are in a folder. */
export function tmuxHolder(dir: string): PtyHolder {
  return new TmuxHolder({ program: programOf("tmux"), dir, scrollbackRows: 2_000, missesEnds: true });
}

/** For a test that fails before its sessions have ended. */
export function endTmuxServers(dir: string): void {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir)) {
    const { stdout } = spawnSync("tmux", ["-S", join(dir, name), "display-message", "-p", "#{pid}"], {
      encoding: "utf8",
    });
    // Programs hear of it when their terminals go away.
    if (/^\d+\n$/.test(stdout)) process.kill(Number(stdout), "SIGKILL");
  }
}

/** Ends every session, also where they outlive their process, and lets go of the terminals. */
async function endAll(terminals: TerminalSessions): Promise<void> {
  const { sessions } = await terminals.call("list_terminal_sessions", {}, { isInternal: true });
  await Promise.all(
    sessions.map(({ session_id }) => terminals.call("exit_terminal", { session_id }, { isInternal: true })),
  );
  await terminals.close();
}

/** Terminals in a home without settings of anyone. All that runs in them ends with the test. */
export function openTerminals(
  options: Partial<TerminalOptions> = {},
  surroundings: Partial<TerminalSurroundings> = {},
): TestTerminals {
  const folder = mkdtempSync(join(tmpdir(), "pawl-terminals-"));
  const homeDir = join(folder, "home");
  const currentDir = join(folder, "current");
  for (const path of [homeDir, currentDir]) mkdirSync(path);
  // Without one, zsh asks a new user questions.
  writeFileSync(join(homeDir, ".zshrc"), "PS1='zsh$ '\n");
  writeFileSync(join(homeDir, ".bashrc"), "PS1='bash$ '\n");
  const sessions = createTerminalSessions(
    { ...OPTIONS, ...options },
    {
      environment: process.env,
      homeDir,
      currentDir,
      temporaryDir: join(folder, "temporary"),
      mask: (text) => text,
      ...(IS_TMUX ? { holder: tmuxHolder(join(folder, "tmux")) } : {}),
      ...surroundings,
    },
  );
  // Hundreds of shells take longer to end on a busy machine than the fifteen seconds that a test has.
  onTestFinished(async () => {
    await endAll(sessions);
    rmSync(folder, { recursive: true });
  }, 60_000);
  return { ...sessions, homeDir, currentDir };
}

/** One terminal, with the tools bound to it. */
export async function openTerminal(terminals: TestTerminals, shell = "bash") {
  const opened = await terminals.call("open_terminal", { shell });
  if (!opened.success) throw new Error(`${shell} was not opened: ${opened.error}`);
  const { session_id } = opened;
  return {
    session_id,
    folder: terminals.currentDir,
    opened,
    send: (input_text: string, keys: string[] = []) => terminals.call("send_input", { session_id, input_text, keys }),
    wait: (pattern: string, timeout = 20) => terminals.call("await_output", { session_id, pattern, timeout }),
    sinceInput: async () =>
      (await terminals.call("get_screen_content", { session_id, content_mode: "since_input" })).screen_content ?? "",
    screen: async () => (await terminals.call("get_screen_content", { session_id })).screen_content ?? "",
    exit: () => terminals.call("exit_terminal", { session_id }),
  };
}
