import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { application } from "../support/application.ts";
import { connectTerminal, gone, isThere, type TerminalClient } from "./terminal-client.ts";

/** A shell, and which process it is. */
async function openShell({ call }: TerminalClient) {
  const { session_id = null } = await call("open_terminal", { shell: "bash --norc" });
  await call("send_input", { session_id, input_text: "echo pid=$$\n" });
  const { match_text } = await call("await_output", { session_id, pattern: "pid=\\d+" });
  return { session_id, pid: Number(String(match_text).slice(4)) };
}

test("two servers on one data directory have the same sessions", async () => {
  const folder = application({});
  const owner = await connectTerminal(folder);
  const { session_id } = await openShell(owner);
  const guest = await connectTerminal(folder, { negotiation: { mode: { pin: "2026-07-28" } } });
  expect(await guest.call("list_terminal_sessions")).toMatchObject({ sessions: [{ session_id }] });
  await guest.call("send_input", { session_id, input_text: "expr from-1 : from\n" });
  expect(await owner.call("await_output", { session_id, pattern: "^4$" })).toMatchObject({ match_text: "4" });
  expect(await guest.refusal("send_input", { session_id, input_text: "sudo ls\n" })).toMatch(
    /^Security violation: Tool call rejected/,
  );
  const { session_id: second = null } = await guest.call("open_terminal");
  expect(await owner.call("exit_terminal", { session_id: second })).toMatchObject({ success: true });
  expect(JSON.parse(readFileSync(join(folder, ".pawl/lock.json"), "utf8"))).toMatchObject({ pid: owner.pid });
});

test("a guest's call that is cancelled is broken off in the owner", async () => {
  const folder = application({});
  const owner = await connectTerminal(folder);
  const { session_id } = await openShell(owner);
  const guest = await connectTerminal(folder);
  const stop = new AbortController();
  const waiting = guest.call("await_output", { session_id, pattern: "never", timeout: 600 }, { signal: stop.signal });
  waiting.catch(() => undefined);
  await stateOf(owner, "waiting");
  stop.abort();
  await stateOf(owner, "active");
  await expect(waiting).rejects.toThrow();
});

test("when the owner is killed its sessions are gone, and the guest goes on with its own", async () => {
  const folder = application({});
  const owner = await connectTerminal(folder);
  const { session_id, pid: shell } = await openShell(owner);
  const guest = await connectTerminal(folder);
  expect(await guest.call("list_terminal_sessions")).toMatchObject({ total_sessions: 1 });

  process.kill(owner.pid, "SIGKILL");
  await Promise.all([gone(owner.pid), gone(shell)]);

  expect(await guest.call("send_input", { session_id, input_text: "x" })).toMatchObject({
    success: false,
    message: "Session not found",
  });
  const own = await openShell(guest);
  expect(await guest.call("list_terminal_sessions")).toMatchObject({ sessions: [{ session_id: own.session_id }] });
  await guest.client.close();
  await Promise.all([gone(guest.pid), gone(own.pid)]);
});

test("a call that is under way when the owner dies is done by the next one", async () => {
  const folder = application({});
  const owner = await connectTerminal(folder);
  const { session_id } = await openShell(owner);
  const guest = await connectTerminal(folder);
  const waiting = guest.call("await_output", { session_id, pattern: "never", timeout: 600 });
  await stateOf(owner, "waiting");
  process.kill(owner.pid, "SIGKILL");
  expect(await waiting).toMatchObject({ success: false, error: expect.stringContaining("Session not found") });
});

test("an owner whose client has gone stays while a guest has sessions in it", async () => {
  const folder = application({});
  const first = await connectTerminal(folder);
  const { session_id, pid: shell } = await openShell(first);
  const guest = await connectTerminal(folder);
  await guest.call("list_terminal_sessions");
  const closing = first.client.close();
  expect(await guest.call("list_terminal_sessions")).toMatchObject({ sessions: [{ session_id }] });
  await guest.call("exit_terminal", { session_id });
  await closing;
  await Promise.all([gone(first.pid), gone(shell)]);
  expect(await guest.call("list_terminal_sessions")).toMatchObject({ total_sessions: 0 });
});

test("a workflow that a guest runs works in the owner, where its sessions are", async () => {
  const folder = application({});
  const owner = await connectTerminal(folder);
  await owner.call("list_terminal_sessions");
  const guest = await connectTerminal(folder);
  const ran = await guest.call("run_workflow", { workflow_definition: OPEN });
  expect(ran).toMatchObject({ success: true, session_id: expect.stringMatching(/^session_/) });
  const { session_id = null } = ran;
  expect(await owner.call("list_terminal_sessions")).toMatchObject({ sessions: [{ session_id }] });
  await guest.client.close();
  await gone(guest.pid);
  expect(await owner.call("exit_terminal", { session_id })).toMatchObject({ success: true });
});

test("a server that is told to end takes its terminals with it", async () => {
  const server = await connectTerminal(application({}));
  const { pid } = await openShell(server);
  process.kill(server.pid, "SIGTERM");
  await Promise.all([gone(server.pid), gone(pid)]);
  expect(isThere(pid)).toBe(false);
});

const OPEN: JsonObject = {
  name: "open_and_leave",
  initial_state: "open",
  states: { open: { action: { tool: "open_terminal", params: { shell: "bash --norc" } } } },
};

async function stateOf({ call }: TerminalClient, state: string): Promise<void> {
  for (;;) {
    const { sessions } = await call("list_terminal_sessions");
    const [session] = Array.isArray(sessions) ? (sessions as JsonObject[]) : [];
    if (session?.["state"] === state) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
