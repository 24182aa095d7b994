import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { openTerminal, openTerminals } from "./open-terminals.ts";

test("vim edits a file on a screen of its own", async () => {
  needs("vim");
  const terminals = openTerminals();
  const file = join(terminals.currentDir, "note.txt");
  writeFileSync(join(terminals.homeDir, ".vimrc"), "set nocompatible showmode\n");
  const { send, wait, screen, sinceInput } = await openTerminal(terminals);

  await send(`vim ${file}\n`);
  await wait("~");
  await send("i");
  expect(await wait("-- INSERT --")).toMatchObject({ match_text: "-- INSERT --" });
  await send("héllo wörld");
  expect(await screen()).toMatch(/^héllo wörld\n/);
  await send("\\e:wq\n");

  expect(await wait("\\$ $")).toMatchObject({ match_text: "$ " });
  expect(readFileSync(file, "utf8")).toBe("héllo wörld\n");
  expect(await screen()).toBe(`bash$ vim ${file}\nbash$ `);
  expect(await sinceInput()).not.toContain("INSERT");
});

test("what is typed into a full-screen program is no output where it stands alone in its row", async () => {
  needs("vim");
  const { send, wait } = await openTerminal(openTerminals(), "vim");
  await wait("~");

  await send(":echo 'MA' . 'RK'");
  expect(await wait("MA' . 'RK", 0.2)).toMatchObject({ match_text: null, timed_out: true });
  await send("\n");

  expect(await wait("MARK")).toMatchObject({ match_text: "MARK" });
});

test("vim as the program of a terminal ends with its exit code", async () => {
  needs("vim");
  const { send, wait } = await openTerminal(openTerminals(), "vim");
  await wait("~");

  await send(":cquit 4\n");

  expect(await wait("never")).toMatchObject({ process_running: false, exit_code: 4 });
});

test("Python takes lines and blocks, and its programs can ask", async () => {
  needs("python3");
  const { send, wait, sinceInput } = await openTerminal(openTerminals(), "python3 -q");
  await wait(">>> ");

  await send("name = input('Name? ')\n");
  await wait("Name\\? ");
  await send("Ann\n");
  await wait(">>> ");
  await send("print('hi', name)\n");
  await wait("hi Ann");

  expect(await sinceInput()).toBe("hi Ann\n>>> ");
  await send("exit(5)\n");
  expect(await wait("never")).toMatchObject({ exit_code: 5 });
});

test("pdb steps through a program", async () => {
  needs("python3");
  const terminals = openTerminals();
  writeFileSync(join(terminals.currentDir, "script.py"), "x = 1\ny = x + 41\nprint('sum', y)\n");
  const { send, wait } = await openTerminal(terminals, "pdb script.py");

  await wait("\\(Pdb\\)");
  await send("n\n");
  expect((await wait("-> .*")).match_text).toBe("-> y = x + 41");
  await send("n\n");
  await wait("\\(Pdb\\)");
  await send("p y * 2\n");
  expect((await wait("^\\d+")).match_text).toBe("84");
  await send("q\n");

  expect(await wait("never")).toMatchObject({ process_running: false });
});

test("programs hear of a new size", async () => {
  const terminals = openTerminals();
  const { send, wait, session_id } = await openTerminal(terminals);

  await send("stty size\n");
  await wait("30 120");
  terminals.find(session_id)?.resize(100, 40);
  await send("stty size\n");

  expect((await wait("\\d+ \\d+")).match_text).toBe("40 100");
});

test("wide characters, accents and colours read as text", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("printf '\\\\e[1;31mred\\\\e[0m 日本語 😀 e\u0301\\\\n'\n");

  expect((await wait("^red.*")).match_text).toBe("red 日本語 😀 e\u0301");
});

test("an emoji is as wide for the screen as for the shell, so that a line can be edited after it", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("echo 😀x", ["Left", "y", "Enter"]);

  expect((await wait("^😀.*")).match_text).toBe("😀yx");
});

test("a program that asks where the cursor is gets an answer", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("clear; printf 'ab\\\\e[6n'; IFS=';' read -s -d R -p '' row column; echo \"at $column\"\n");

  expect((await wait("at \\d+")).match_text).toBe("at 3");
});
