import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TerminalOptions } from "../../../src/executors/terminal/terminal-options.ts";
import { needs } from "../../support/needs.ts";
import { liveView } from "../../terminal-view/live-view.ts";
import { endTmuxServers, openTerminal, openTerminals, tmuxHolder } from "./open-terminals.ts";

function socketDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "pawl-tmux-"));
  onTestFinished(() => {
    endTmuxServers(dir);
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** The one mode that bash sets and tmux before 3.6 does not tell of; bash sets it again at its next prompt. */
const PASTED_TEXT_IS_MARKED = "\u001b[?2004h";

/** Terminals of one of the processes that follow each other on the same data. */
function inTmux(dir: string, options: Partial<TerminalOptions> = {}) {
  return openTerminals(options, { holder: tmuxHolder(dir) });
}

test("a session outlives its process with its id, screen, history, program and variables", async () => {
  const dir = socketDir();
  const first = inTmux(dir);
  const { session_id, send, wait } = await openTerminal(first);
  await send("mark=kept; seq 1 100; printf '\\\\e[31mred\\\\e[0m 日本 \\\\\\\\ %s\\\\n' ';'\n");
  // With the prompt: what has not come yet is not on the screen that is compared.
  await wait("日本 .*;\\s+bash\\$ $");
  const before = first.find(session_id);
  const [screen, history] = [before?.screen.serialize(), before?.screen.readHistory()];
  await first.close();

  const second = inTmux(dir);
  await second.takeUp();
  expect((await second.call("list_terminal_sessions", {})).sessions).toMatchObject([
    { session_id, command: "bash", state: "active", created_at: before?.facts.createdAt.toISOString() },
  ]);
  expect(second.find(session_id)?.screen.readHistory()).toBe(history);
  expect(second.find(session_id)?.screen.serialize()).toBe(screen?.replace(PASTED_TEXT_IS_MARKED, ""));
  expect(second.find(session_id)?.readOutput().text).toMatch(/^1\n2\n(?:\d+\n)+100\nred 日本 .*;\nbash\$ $/);
  await second.call("send_input", { session_id, input_text: "echo still $mark\n" });
  expect(await second.call("await_output", { session_id, pattern: "^still \\w+" })).toMatchObject({
    match_text: "still kept",
  });
});

test("what has come while nobody was there counts as output since the last input, and the echo does not", async () => {
  const dir = socketDir();
  const first = inTmux(dir);
  const { session_id } = await openTerminal(first);
  const input_text = "until [ -e go ]; do sleep 0.05; done; echo result 42\n";
  await first.call("send_input", { session_id, input_text });
  await first.close();
  const { currentDir } = first;
  writeFileSync(join(currentDir, "go"), "");

  const second = inTmux(dir);
  await second.takeUp();
  expect(await second.call("await_output", { session_id, pattern: "result.*" })).toMatchObject({
    match_text: "result 42",
  });
});

test("a full-screen program is found as it was", async () => {
  needs("vim");
  const dir = socketDir();
  const first = inTmux(dir);
  const { session_id, send, wait } = await openTerminal(first);
  await send("vim -u NONE -c 'set mouse=a'\n");
  await send("ihello");
  await wait("hello");
  const screen = first.find(session_id)?.screen.serialize();
  expect(screen).toContain("\u001b[?1006h");
  await first.close();

  const second = inTmux(dir);
  await second.takeUp();
  expect(second.find(session_id)?.screen.serialize()).toBe(screen?.replace(PASTED_TEXT_IS_MARKED, ""));
  await second.call("send_input", { session_id, input_text: "\\e:q!\n" });
  expect(await second.call("await_output", { session_id, pattern: "bash\\$ " })).toMatchObject({ timed_out: false });
});

test("a session that has been found again is shown in browsers, takes what is typed there, and tells of its end", async () => {
  const dir = socketDir();
  const first = inTmux(dir);
  const { session_id, send, wait } = await openTerminal(first);
  await send("mark=kept; echo shown before\n");
  await wait("shown before");
  await first.close();

  const view = await liveView({ canType: true }, {}, { holder: tmuxHolder(dir) });
  await view.terminals.takeUp();
  const watcher = view.watch(session_id);
  await watcher.until("shown before");
  await watcher.type("echo still-$mark\r");
  await watcher.until("still-kept");
  await watcher.type("exit 5\r");
  await watcher.ended;
  expect(watcher.events.at(-1)).toMatchObject({ event: "ended", data: { exit_code: 5 } });
});

test("a program that never stops printing is found again, and ended", async () => {
  const dir = socketDir();
  const first = inTmux(dir);
  const { session_id, send } = await openTerminal(first);
  await send("yes\n");
  await first.close();
  const second = inTmux(dir);
  await second.takeUp();
  expect((await second.call("list_terminal_sessions", {})).total_sessions).toBe(1);
  await second.call("exit_terminal", { session_id });
  expect(readdirSync(dir)).toEqual([]);
});

test("input is literal, whatever it looks like", async () => {
  const terminals = inTmux(socketDir());
  const { send, wait, screen } = await openTerminal(terminals, "cat");
  const lines = ["Enter;", "C-c \\\\; #{pane_id} %end 1 1 1", "日本語 é $(x) `y` '\"", "-l -H 41", "%output %0 x"];
  for (const line of lines) await send(`${line}\n`);
  await send(`${"long ".repeat(700)}end;\n`);
  await wait("end;");
  const shown = await screen();
  expect(shown).toContain("end;");
  await send("last;\n");
  for (const line of ["%end 1 1 1", "-l -H 41"])
    expect(
      terminals
        .find((await terminals.call("list_terminal_sessions", {})).sessions[0]?.session_id ?? "")
        ?.screen.readHistory(),
    ).toContain(line);
});

test("an exit code is known, also of a program that ended while nobody was there, and exit leaves nothing", async () => {
  const dir = socketDir();
  const first = inTmux(dir);
  const gone = await openTerminal(first);
  const killed = await openTerminal(first);
  const left = await openTerminal(first);
  await gone.send("exit 7\n");
  expect(await gone.wait("never", 5)).toMatchObject({ process_running: false, exit_code: 7, timed_out: false });
  await killed.send("kill -9 $$\n");
  expect(await killed.wait("never", 5)).toMatchObject({ process_running: false, exit_code: 137, timed_out: false });
  await left.send("(sleep 0.3; kill $$) & trap '' HUP; sleep 1000 & exit 3\n");
  await first.close();

  const second = inTmux(dir);
  await second.takeUp();
  expect((await second.call("list_terminal_sessions", {})).total_sessions).toBe(3);
  const { session_id } = left;
  expect(await second.call("await_output", { session_id, pattern: "never", timeout: 5 })).toMatchObject({
    exit_code: 3,
  });
  for (const each of (await second.call("list_terminal_sessions", {})).sessions)
    await second.call("exit_terminal", each);
  expect(readdirSync(dir)).toEqual([]);
});

test("sessions of an earlier process count against the limit, and what is no session is cleared away", async () => {
  const dir = socketDir();
  const first = inTmux(dir);
  const { session_id } = await openTerminal(first);
  await first.close();
  writeFileSync(join(dir, "session_00000000"), "");
  const second = inTmux(dir, { maxSessions: 1 });
  await second.takeUp();
  await expect(second.call("open_terminal", {})).rejects.toMatchObject({ code: "TERMINAL_REFUSED" });
  await second.call("exit_terminal", { session_id });
  expect(readdirSync(dir)).toEqual([]);
});
