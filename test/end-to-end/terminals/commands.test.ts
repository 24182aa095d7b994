import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ToolInput } from "../../../src/ports/terminals/terminal-tools.ts";
import { needs } from "../../support/needs.ts";
import { openSshServer } from "./open-ssh-server.ts";
import { openTerminal, openTerminals } from "./open-terminals.ts";

async function openShell(shell: string, terminals = openTerminals({ maxCallsPerMinute: 10_000 })) {
  const terminal = await openTerminal(terminals, shell);
  const { session_id } = terminal;
  const ask = (request: ToolInput<"run_command">) =>
    terminals.call("run_command", { session_id, timeout: 20, ...request });
  return {
    ...terminal,
    terminals,
    ask,
    run: (command: string, more: ToolInput<"run_command"> = {}) => ask({ command, ...more }),
  };
}

const SHELLS = ["bash", "zsh", "fish", "dash"] as const;
const POSIX = ["bash", "zsh", "dash"] as const;

function needsShell(shell: string): void {
  if (shell === "zsh" || shell === "fish") needs(shell);
}

describe.each(SHELLS)("in %s", (shell) => {
  needsShell(shell);

  test("a command answers with its exit code and exactly what it has put out", async () => {
    const { run } = await openShell(shell);
    const cases: readonly (readonly [command: string, exitCode: number, output: string])[] = [
      ["true", 0, ""],
      ["false", 1, ""],
      ["printf x", 0, "x"],
      ["printf 'a\\nb\\n\\n'", 0, "a\nb\n"],
      ["echo 'a b' \"c\" é 日本 😀", 0, "a b c é 日本 😀"],
      ["echo 'it'\"'\"'s !x'", 0, "it's !x"],
      ["# nothing", 0, ""],
      ["echo one\necho two\nsh -c 'exit 3'", 3, "one\ntwo"],
      ["cd /", 0, ""],
      ["pwd", 0, "/"],
      ["printf '\\033cone\\033[2Jtwo\\033[?1049hthree\\033[?1049l\\n'", 0, "one\ntwothree"],
      ["printf '10%%\\r20%%\\r\\033[Kdone\\n'", 0, "done"],
      ["stty -echo; echo silent; stty echo", 0, "silent"],
      ["printf '\\033]633;D;0;1;0\\007\\033]133;D;5\\007same\\n'", 0, "same"],
    ];
    expect(await run("no-such-program-here")).toMatchObject({ exit_code: 127 });
    expect(await run("sh -c 'kill -9 $$'")).toMatchObject({ exit_code: 137 });
    for (const [command, exit_code, output] of cases) {
      expect(await run(command), command).toMatchObject({ exit_code, output, exact: true, still_running: false });
    }
  });

  test("drawn exit codes are all right, and the next command sees the last status", async () => {
    const { run } = await openShell(shell);
    for (let index = 0; index < 60; index += 1) {
      const code = (index * 37 + 11) % 256;
      expect((await run(`sh -c 'exit ${code}'`)).exit_code).toBe(code);
      if (index % 20 === 0) {
        expect((await run(shell === "fish" ? "echo $status" : "echo $?")).output).toBe(String(code));
      }
    }
  });

  test("a command is broken off with its code, and the next one is right", async () => {
    const { run, ask, send } = await openShell(shell);
    const running = await run("sleep 60", { timeout: 0.5 });
    expect(running).toMatchObject({ still_running: true, exit_code: null, success: false });
    const refused = await run("echo no");
    expect(refused).toMatchObject({ success: false, error: expect.stringContaining("`sleep 60` (command 1)") });
    await send("", ["C-c"]);
    expect(await ask({})).toMatchObject({ exit_code: 130, still_running: false, command_id: 1 });
    expect(await run("echo yes")).toMatchObject({ exit_code: 0, output: "yes" });
  });

  test("a shell that ends says so, with its code", async () => {
    const { run } = await openShell(shell);
    expect(await run("exit 9")).toMatchObject({ exit_code: 9, shell_ended: true, still_running: false });
  });

  test("much output has a beginning and an end, and the rest can be read", async () => {
    const { run, terminals, session_id } = await openShell(shell);
    const { output, left_out, exit_code } = await run("seq 1 200000", { max_output_tokens: 400 });
    expect(exit_code).toBe(0);
    expect(output).toMatch(
      /^1\n2\n3\n[\d\n]*\[\d+ bytes, \d+ lines left out; read from offset \d+\]\n[\d\n]*199999\n200000$/,
    );
    const { offset = 0 } = left_out ?? {};
    const rest = await terminals.call("get_screen_content", { session_id, offset });
    const next = Number(output.split("\n[")[0]?.split("\n").at(-1)) + 1;
    expect(rest.screen_content?.startsWith(`${next}\n${next + 1}\n`)).toBe(true);
    expect(rest.next_offset).toBeGreaterThan(offset);
  });

  test("a long command comes whole", async () => {
    const { run } = await openShell(shell);
    expect((await run(`echo ${"x".repeat(9_000)} | wc -c`)).output.trim()).toBe("9001");
  });

  test("folder and variables are set, and stay", async () => {
    const { run } = await openShell(shell);
    const first = await run('echo "$PWD $A"', { cwd: "/usr", env: { A: "it's \\ $x" } });
    expect(first).toMatchObject({ output: "/usr it's \\ $x", cwd: "/usr" });
    expect((await run('echo "$PWD $A"')).output).toBe("/usr it's \\ $x");
    expect(await run("echo no", { cwd: "/no/such/folder" })).toMatchObject({
      success: false,
      exit_code: expect.any(Number),
    });
  });
});

describe.each(POSIX)("in %s, the hard ones:", (shell) => {
  needsShell(shell);

  test.each([
    ["an open quote", "echo 'open", (code: number | null) => code !== 0],
    ["an open here-document", "cat <<END\nx", () => true],
    ["an output that goes elsewhere", "exec >/dev/null 2>&1", (code: number | null) => code === 0],
    ["set -u and an unset variable", 'set -u; echo "$no_such_variable_here"', (code: number | null) => code !== 0],
    ["set -x", "set -x", (code: number | null) => code === 0],
    ["IFS", "IFS=0", (code: number | null) => code === 0],
    ["functions named as ours are", "printf() { echo x; }; eval() { echo y; } 2>/dev/null; true", () => true],
    ["aliases", "alias printf=false; alias eval=false", (code: number | null) => code === 0],
    ["no prompt command", "PROMPT_COMMAND=; precmd_functions=; PS1='$ '", (code: number | null) => code === 0],
  ])("%s", async (_, command, isRight) => {
    const { run } = await openShell(shell);
    const first = await run(command);
    expect([first.still_running, isRight(first.exit_code)]).toEqual([false, true]);
    if (first.shell_ended === true) return;
    for (const code of [5, 0]) {
      expect(await run(`sh -c 'exit ${code}'`)).toMatchObject({ exit_code: code, still_running: false });
    }
  });

  test("what a job in the background prints later is seen, and ends nothing", async () => {
    const { run } = await openShell(shell);
    await run("(sleep 0.2; echo late) &");
    const { exit_code, output } = await run("sleep 0.5; echo end");
    expect([exit_code, output.includes("late"), output.includes("end")]).toEqual([0, true, true]);
  });
});

test("bytes that are no text are kept as they are", async () => {
  const { run, terminals, session_id, folder } = await openShell("bash");
  const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, index) => (index * 7919 + (index >> 3)) % 256));
  writeFileSync(join(folder, "bytes"), bytes);
  expect((await run("stty -onlcr; cat bytes; stty onlcr")).exit_code).toBe(0);
  const { stream } = terminals.find(session_id) ?? {};
  expect(stream?.read(0).includes(bytes)).toBe(true);
});

test("a shell that takes its time to begin is waited for", async () => {
  const terminals = openTerminals();
  writeFileSync(join(terminals.homeDir, ".bashrc"), "sleep 2; read -t 0.1 stolen; PS1='bash$ '\n");
  const result = await terminals.call("run_command", { command: "echo ready", timeout: 20 });
  expect(result).toMatchObject({ exit_code: 0, output: "ready", session_id: expect.stringMatching(/^session_/) });
});

test("without a session one is opened in the folder, and kept", async () => {
  const terminals = openTerminals();
  const { session_id, cwd } = await terminals.call("run_command", { command: "A=1", cwd: terminals.homeDir });
  expect(cwd).toBe(terminals.homeDir);
  const { output } = await terminals.call("run_command", { command: 'echo "$A"', session_id });
  expect(output).toBe("1");
});

test("a shell within the shell takes commands, and its end is the outer command's", async () => {
  const { run, ask } = await openShell("bash");
  expect(await run("bash", { timeout: 1 })).toMatchObject({ still_running: true, command_id: 1 });
  expect(await run("echo inside; sh -c 'exit 4'")).toMatchObject({ output: "inside", exit_code: 4, command_id: 2 });
  expect(await run("exit 6")).toMatchObject({ shell_ended: true });
  expect(await run("echo outside")).toMatchObject({ output: "outside", exit_code: 0 });
  expect(await ask({})).toMatchObject({ command_id: 4 });
});

test.each([
  ["zsh", "bash"],
  ["bash", "zsh"],
  ["bash", "dash"],
  ["fish", "bash"],
  ["dash", "fish"],
] as const)("in %s a %s runs commands of its own", async (outer, inner) => {
  for (const shell of [outer, inner]) needsShell(shell);
  const { run } = await openShell(outer);
  expect((await run("true")).exit_code).toBe(0);
  expect(await run(inner, { timeout: 2 })).toMatchObject({ still_running: true });
  expect(await run("echo inside; sh -c 'exit 4'")).toMatchObject({ output: "inside", exit_code: 4, exact: true });
  expect(await run("echo again")).toMatchObject({ output: "again", exit_code: 0 });
  expect(await run("exit 6")).toMatchObject({ shell_ended: true });
  expect(await run("echo outside")).toMatchObject({ output: "outside", exit_code: 0 });
});

/** `script` has a terminal of its own for its shell, which from outside is seen as little as one on another machine. */
describe.each(SHELLS)("in a %s beyond another terminal", (shell) => {
  needs("script");
  needsShell(shell);

  test("commands have exit codes and exact output, and are broken off", async () => {
    const { run, ask, send, folder } = await openShell("bash");
    expect(await run(`SHELL=$(command -v ${shell}) script -q /dev/null`, { timeout: 1 })).toMatchObject({
      command_id: 1,
    });
    expect(await run("echo 'é  x'; sh -c 'exit 4'")).toMatchObject({ output: "é  x", exit_code: 4, exact: true });
    expect((await run(shell === "fish" ? "echo $status" : "echo $?")).output).toBe("4");
    expect(await run("cd /; pwd")).toMatchObject({ output: "/", exit_code: 0, cwd: "/" });
    const { output, exit_code } = await run("seq 1 20000", { max_output_tokens: 25_000 });
    expect([exit_code, output.startsWith("1\n2\n3\n"), output.endsWith("\n20000")]).toEqual([0, true, true]);
    expect(await run("sleep 60", { timeout: 0.5 })).toMatchObject({ still_running: true });
    expect((await run("echo no")).error).toContain("The shell is busy: `sleep 60`");
    await send("", ["C-c"]);
    expect(await ask({})).toMatchObject({ exit_code: 130 });
    expect(await run("echo end")).toMatchObject({ output: "end", exit_code: 0 });
    await run("exit", { timeout: 5 });
    expect(await run("pwd")).toMatchObject({ output: folder, exit_code: 0 });
  });
});

test("on another machine too, and what is no shell there has no exit code", async () => {
  const { run, send, wait } = await openShell("bash");
  const { command } = await openSshServer();
  await run(command, { timeout: 3 });
  expect(await run("echo far; sh -c 'exit 5'")).toMatchObject({ output: "far", exit_code: 5, exact: true });
  await send("exec cat\n");
  await wait("cat");
  expect((await run("echo no", { timeout: 2 })).exit_code).toBeNull();
}, 60_000);

test("in a window of tmux the screen is all there is: nothing is exact, and no exit code is guessed", async () => {
  needs("tmux");
  const { run, send, wait, folder } = await openShell("bash");
  await send(`tmux -S ${join(folder, "socket")} -f /dev/null new-session 'PS1=in-tmux: bash --norc'\n`);
  await wait("in-tmux:");
  const { exit_code, exact, output } = await run("echo shown; false");
  expect([exit_code, exact, output.includes("shown")]).toEqual([null, false, true]);
  await send("exit\n");
  await wait("exited");
});

test("a shell that has become another one is taught anew", async () => {
  const { run } = await openShell("bash");
  await run("true");
  await run("exec bash", { timeout: 1 });
  expect(await run("echo new")).toMatchObject({ output: "new", exit_code: 0 });
});

test("a program that is no shell has no exit code", async () => {
  needs("python3");
  const { run } = await openShell("python3");
  expect(await run("print(6 * 7)")).toMatchObject({
    exit_code: null,
    exact: false,
    output: expect.stringMatching(/^42/),
  });
});

test("a command is an input: the same rules hold, and what is refused is not typed and opens nothing", async () => {
  const terminals = openTerminals({ level: "high" });
  const call = (request: ToolInput<"run_command">) => terminals.call("run_command", request);
  await expect(call({ command: "sudo id" })).rejects.toMatchObject({ code: "TERMINAL_REFUSED" });
  await expect(call({ command: "true", env: { LD_PRELOAD: "x" } })).rejects.toMatchObject({ code: "TERMINAL_REFUSED" });
  await expect(call({ command: "x".repeat(10_001) })).rejects.toMatchObject({ code: "TERMINAL_REFUSED" });
  expect((await terminals.call("list_terminal_sessions", {})).total_sessions).toBe(0);
});

test("a line that the kernel would cut is not typed, and one that a line editor reads is", async () => {
  const { run, send, sinceInput, wait } = await openShell("bash");
  await send("cat >/dev/null\n");
  await wait("");
  const refused = await send(`${"x".repeat(5_000)}\n`);
  expect(refused).toMatchObject({ success: false, error: expect.stringContaining("at most 4095 bytes") });
  expect(await sinceInput()).not.toContain("xxx");
  await send("", ["C-c"]);
  expect((await run("true")).exit_code).toBe(0);
  await send(`echo ${"y".repeat(5_000)} | wc -c\n`);
  expect((await wait("^5001$")).match_text).toBe("5001");
});

test("a pasted text is taken as it is, and its lines are not sent one by one where a program marks pastes", async () => {
  const { terminals, session_id, wait, screen } = await openShell("bash");
  const paste = (input_text: string, keys: string[] = []) =>
    terminals.call("send_input", { session_id, input_text, keys, paste: true });
  await paste("printf '<%s>\\n' a\necho two");
  expect(await screen()).not.toContain("<a>");
  await paste("", ["Enter"]);
  expect((await wait("^<a>\ntwo$")).match_text).toBe("<a>\ntwo");
  expect((await paste("\u001b[201~rm x")).error).toContain("cannot be pasted");
});

test("the mouse is told to a program that asks for it, in the form that it asks for, and a terminal gets another size", async () => {
  const { terminals, session_id, send, wait, run, screen } = await openShell("bash");
  expect((await send("", ["Click:3,4"])).error).toContain("has not asked for the mouse");
  expect((await terminals.call("send_input", { session_id, input_text: "", size: "100x20" })).success).toBe(true);
  expect((await run("stty size")).output).toBe("20 100");
  expect((await terminals.call("send_input", { session_id, input_text: "", size: "100" })).error).toContain(
    "COLUMNSxROWS",
  );
  await run("printf '\\033[?1000h\\033[?1006h'");
  await send("stty -icanon -echo; echo sgr; cat -v\n");
  await wait("^sgr$");
  await send("", ["Click:5,7", "WheelDown:1,2", "Enter"]);
  expect(await screen()).toContain("\n^[[<0;5;7M^[[<0;5;7m^[[<65;1;2M");
  await send("", ["C-c"]);
  await run("stty sane; printf '\\033[?1006l'");
  await send("stty -icanon -echo; echo plain; cat -v\n");
  await wait("^plain$");
  await send("", ["RightClick:5,7", "Enter"]);
  expect(await screen()).toContain("\n^[[M\"%'^[[M#%'");
  expect((await send("", ["Click:200,7"])).error).toContain("beyond");
});

test("at a hidden prompt nothing is run, and a begun line is not mixed with a command", async () => {
  const { run, send, wait } = await openShell("bash");
  await send("echo half");
  expect((await run("echo no")).error).toContain("A line has been begun");
  await send("", ["C-u"]);
  await send("read -s -p 'Password: ' x\n");
  await wait("Password");
  expect((await run("echo no")).error).toContain("does not show");
});
