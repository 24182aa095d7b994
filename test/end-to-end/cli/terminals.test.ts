import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createPawlClient } from "../../../src/client/pawl-client.ts";
import { needs } from "../../support/needs.ts";
import { connectTerminal, gone, type TerminalClient } from "../mcp-terminal/terminal-client.ts";
import { application } from "../support/application.ts";
import { pawl, pawlCommand } from "../support/pawl.ts";
import { endTmuxServers, openTerminal, openTerminals } from "../terminals/open-terminals.ts";

/** An owner with one shell in it, and a person at a terminal of another size. */
async function world(size = { columns: 90, rows: 16 }) {
  const folder = application({});
  const owner = await connectTerminal(folder);
  const id = await openShell(owner);
  const person = openTerminals(size);
  const at = await openTerminal(person, "bash --norc");
  const command = (...args: string[]) =>
    [...pawlCommand(["terminals", ...args]).command, "--app", folder].map((word) => `'${word}'`).join(" ");
  return { folder, owner, id, person, at, command };
}

async function openShell({ call }: TerminalClient): Promise<string> {
  const { session_id } = await call("open_terminal", { shell: "bash --norc" });
  return String(session_id);
}

test("a person attaches, types, detaches, and has his terminal back", async () => {
  const { owner, id, at, command } = await world();
  await owner.call("send_input", { session_id: id, input_text: "PS1='inner> '; echo was-here\n" });

  await at.send(`stty -g > before; ${command("attach", id)}; echo code=$?; stty -g | cmp - before && echo as-before\n`);
  await sees(at, "Ctrl-\\] detaches");
  expect(await at.screen()).toContain("was-here");
  expect(await at.screen()).toMatch(new RegExp(` Ctrl-\\] detaches  ${id}  bash --norc  120x30`));
  await at.send("expr 40 + 2; read -p 'more: ' x; echo got-$x\r");
  await sees(at, "more: ");
  await at.send("", ["a", "Enter"]);
  await sees(at, "got-a");
  await at.send("sudo\r");
  await sees(at, "Security violation");
  await at.send("\\x1d");

  await sees(at, "code=0.*as-before");
  const screen = await at.screen();
  expect(screen).toContain(`pawl: detached from ${id}, which goes on`);
  expect(screen).not.toContain("was-here");
  expect(await owner.call("get_screen_content", { session_id: id })).toMatchObject({
    screen_content: expect.stringMatching(/42.*got-a.*inner> $/s),
  });
});

test("who only looks types nothing, sees a window that follows the cursor, and hears of the end", async () => {
  const { owner, id, at, command } = await world({ columns: 40, rows: 8 });
  await at.send(`${command("attach", "--view", id.slice("session_".length, -2))}; echo code=$?\n`);
  await sees(at, "Ctrl-\\] detaches  view only");
  await at.send("echo typed\r");
  const far = `${"x".repeat(60)}END`;
  await owner.call("send_input", { session_id: id, input_text: `clear; seq 1 20; printf ${far}\n` });
  await sees(at, "END");
  const shown = (await at.screen()).split("\n");
  expect(shown.length).toBeLessThanOrEqual(8);
  expect(shown.join("\n")).not.toContain("typed");

  await owner.call("send_input", { session_id: id, input_text: "\nexit 4\n" });

  await sees(at, "ended with exit code 4.*code=0");
});

test("a window that changes its size is filled anew, and the program keeps its own", async () => {
  const { owner, id, at, person, command } = await world();
  await owner.call("send_input", { session_id: id, input_text: "PS1='inner> '; clear\n" });
  await at.send(`${command("attach", id)}\n`);
  await sees(at, "Ctrl-\\] detaches");
  person.find(at.session_id)?.resize(70, 40);
  await at.send("stty size\r");
  await sees(at, "30 120");
  const rows = (await at.screen()).split("\n");
  expect(rows.filter((row) => row.includes("Ctrl-]"))).toHaveLength(1);
  expect(rows.at(-1)).toContain("Ctrl-]");
  expect(rows).toHaveLength(40);
});

test.each([
  ["SIGTERM", 130],
  ["SIGHUP", 130],
] as const)("after %s the terminal is as it was", async (signal, code) => {
  const { id, at, command } = await world();
  await at.send(
    `stty -g > before; (echo $BASHPID > pid; exec ${command("attach", id)}); echo code=$?; stty -g | cmp - before && echo as-before\n`,
  );
  await sees(at, "Ctrl-\\] detaches");
  const shell = await at.screen();
  expect(shell).toContain("detaches");
  const pid = Number(readFileSync(join(at.folder, "pid"), "utf8"));
  process.kill(pid, signal);
  await sees(at, `code=${code}.*as-before`);
});

test("when the owner is killed, the person is told and has his terminal back", async () => {
  const { owner, id, at, command } = await world();
  await at.send(`stty -g > before; ${command("attach", id)}; echo code=$?; stty -g | cmp - before && echo as-before\n`);
  await sees(at, "Ctrl-\\] detaches");
  process.kill(owner.pid, "SIGKILL");
  await gone(owner.pid);
  await sees(at, "OWNER_GONE.*code=1.*as-before");
});

test("without an owner there are no terminals, and none is started", async () => {
  const cwd = application({});
  expect(await pawl(["terminals", "ls"], { cwd })).toMatchObject({ code: 0, stdout: "No terminal is open.\n" });
  expect(JSON.parse((await pawl(["terminals", "ls", "--json"], { cwd })).stdout).data).toEqual({
    items: [],
    next_cursor: null,
  });
  expect(await pawl(["terminals", "kill", "--all"], { cwd })).toMatchObject({ code: 0 });
  expect(await pawl(["terminals", "kill", "session_1"], { cwd })).toMatchObject({ code: 5 });
  expect(await pawl(["terminals", "kill"], { cwd })).toMatchObject({ code: 2 });
  expect(await pawl(["terminals", "attach", "session_1"], { cwd })).toMatchObject({ code: 2 });
});

test("terminals are listed with where to watch them, and ended", async () => {
  const cwd = application({});
  const owner = await connectTerminal(cwd, { options: ["--web"] });
  const ids = [await openShell(owner), await openShell(owner), await openShell(owner)];
  const { stdout } = await pawl(["terminals", "ls"], { cwd });
  expect(stdout).toMatch(/^ID +STATE +SIZE +OPEN FOR +QUIET FOR +PROGRAM\n/);
  for (const id of ids) expect(stdout).toContain(id);
  const [, listUrl = "", token = ""] =
    /In a browser: (http:\/\/127\.0\.0\.1:\d+\/ui\/terminals\?token=(\S+))/.exec(stdout) ?? [];
  expect(await (await fetch(listUrl)).text()).toContain("<script");
  const { call } = createPawlClient({ url: new URL(listUrl).origin, apiKey: token });
  expect((await call("GET /terminals")).items).toHaveLength(3);
  await expect(call("GET /runs")).rejects.toMatchObject({ code: "FORBIDDEN" });
  const { sessions } = await owner.call("list_terminal_sessions");
  expect(sessions).toMatchObject([{ session_id: ids[0], web_url: listUrl.replace("?", `/${ids[0]}?`) }, {}, {}]);

  const [first = ""] = ids;
  expect(await pawl(["terminals", "kill", first], { cwd })).toMatchObject({ code: 0, stderr: `Ended ${first}.\n` });
  const all = await pawl(["terminals", "kill", "--all", "--json"], { cwd });
  expect(JSON.parse(all.stdout)).toEqual({ data: { killed: ids.slice(1) }, error: null });
  expect(await owner.call("list_terminal_sessions")).toMatchObject({ total_sessions: 0 });
});

test("terminals that have outlived their owner are listed, attached to and ended without one", async () => {
  needs("tmux");
  const cwd = application({ "pawl.yaml": "terminal: {backend: tmux}" });
  onTestFinished(() => endTmuxServers(join(cwd, ".pawl/terminals")));
  const first = await connectTerminal(cwd);
  const [id, other] = [await openShell(first), await openShell(first)];
  await first.call("send_input", { session_id: id, input_text: "mark=kept\n" });
  process.kill(first.pid, "SIGKILL");
  await gone(first.pid);

  const { stdout } = await pawl(["terminals", "ls", "--json"], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ data: { items: expect.anything() } });
  const { items } = JSON.parse(stdout).data;
  expect(items.map(({ session_id }: { session_id: string }) => session_id).toSorted()).toEqual([id, other].toSorted());
  expect(await pawl(["terminals", "kill", other], { cwd })).toMatchObject({ code: 0 });
  expect(readdirSync(join(cwd, ".pawl/terminals"))).toEqual([id]);
  await expect.poll(() => tmuxServersOf(cwd)).toHaveLength(1);
  const at = await openTerminal(openTerminals({ columns: 90, rows: 16 }), "bash --norc");
  const words = [...pawlCommand(["terminals", "attach", id]).command, "--app", cwd].map((word) => `'${word}'`);
  await at.send(`${words.join(" ")}; echo code=$?\n`);
  await sees(at, "Ctrl-\\] detaches");
  await at.send("echo still-$mark\r");
  await sees(at, "still-kept");
  await at.send("\\x1d");
  await sees(at, "code=0");

  const next = await connectTerminal(cwd, { options: ["--web"] });
  expect(await next.call("list_terminal_sessions")).toMatchObject({
    sessions: [{ session_id: id, web_url: expect.stringContaining(`/ui/terminals/${id}?token=`) }],
  });
  await next.call("exit_terminal", { session_id: id });
  expect(readdirSync(join(cwd, ".pawl/terminals"))).toEqual([]);
  await expect.poll(() => tmuxServersOf(cwd)).toEqual([]);
});

/** By their command lines, so that one that has lost its socket is found as well. */
function tmuxServersOf(folder: string): string[] {
  const { stdout } = spawnSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(`${folder}/`) && line.includes(" start-server "));
}

async function sees({ wait }: Awaited<ReturnType<typeof openTerminal>>, pattern: string): Promise<void> {
  expect((await wait(`(?s)${pattern}`)).match_text, pattern).not.toBeNull();
}
