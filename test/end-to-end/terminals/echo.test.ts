import { describe, expect, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { openTerminal, openTerminals } from "./open-terminals.ts";

/** What each shell answers, but never what was typed to make it answer. */
describe.each(["bash", "zsh"])("in %s", (shell) => {
  if (shell === "zsh") needs("zsh");

  test("a pattern does not match the command that was typed", async () => {
    const { send, wait, sinceInput } = await openTerminal(openTerminals(), shell);

    await send("echo MARK | tr M P\n");

    expect(await wait("MARK|PARK")).toMatchObject({ match_text: "PARK" });
    expect(await sinceInput()).toBe(`PARK\n${shell}$ `);
  });

  test("nor a command that is longer than the screen is wide", async () => {
    const { send, wait, sinceInput } = await openTerminal(openTerminals(), shell);
    const words = "abcdefghi ".repeat(40);

    await send(`echo ${words}MARK | wc -w\n`);
    await wait("^\\s*41$");

    expect(await sinceInput()).toBe(`41\n${shell}$ `);
  });

  test("nor wide characters at the edge of the screen", async () => {
    const { send, wait, sinceInput } = await openTerminal(openTerminals(), shell);

    await send(`echo ${"日本語".repeat(40)}MARK | wc -w\n`);
    await wait("^\\s*1$");

    expect(await sinceInput()).toBe(`1\n${shell}$ `);
  });

  test("nor a command that was typed in parts", async () => {
    const { send, wait, sinceInput } = await openTerminal(openTerminals(), shell);

    await send("echo MA");
    await send("RK | tr M P");
    await send("\n");

    expect(await wait("MARK|PARK")).toMatchObject({ match_text: "PARK" });
    expect(await sinceInput()).toBe(`PARK\n${shell}$ `);
  });

  test("nor a command with a mistake that was corrected", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send("echo MAX\\x7fRK | tr M P\n");

    expect(await wait("MA|PARK")).toMatchObject({ match_text: "PARK" });
  });

  test("nor several lines at once", async () => {
    const { send, wait, sinceInput } = await openTerminal(openTerminals(), shell);

    await send("for n in 1 2\ndo echo MARK$n | tr M P\ndone\n");

    expect(await wait("MARK|PARK2")).toMatchObject({ match_text: "PARK2" });
    expect(await sinceInput()).not.toContain("MARK");
  });

  test("nor what is typed while another command still runs", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send("read line\n");
    await send("go\necho MARK | tr M P\n");

    expect(await wait("MARK|PARK")).toMatchObject({ match_text: "PARK" });
  });

  test("nor a command that is called back from the history", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);
    await send("echo MARK | tr M P\n");
    await wait("PARK");

    await send("", ["Up", "Enter"]);

    expect(await wait("MARK|PARK")).toMatchObject({ match_text: "PARK" });
  });

  test("what a program repeats of the input is output", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send("cat\n");
    await send("a line\n");

    expect(await wait("a line")).toMatchObject({ match_text: "a line" });
  });

  test("so is an answer with the words of the input in it", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send("echo 'Your name?'; read name; echo \"Hello, $name\"\n");
    await wait("Your name\\?");
    await send("Bob Smith\n");

    expect(await wait(".*Bob.*")).toMatchObject({ match_text: "Hello, Bob Smith" });
  });

  test("so is a password that a program prints though it did not show the typing", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send('stty -echo; echo pass:; read word; stty echo; echo "got $word"\n');
    await wait("^pass:");
    await send("swordfish\n");

    expect(await wait(".*swordfish")).toMatchObject({ match_text: "got swordfish" });
  });

  test("what was cleared away at once was output, and what comes after it", async () => {
    const { send, wait, sinceInput, screen } = await openTerminal(openTerminals(), shell);
    await send("seq 1 5\n");

    await send("echo SEEN | tr S B; clear; echo AFTER | tr F B\n");

    expect(await wait("ABTER")).toMatchObject({ match_text: "ABTER" });
    expect(await wait("BEEN")).toMatchObject({ match_text: "BEEN" });
    expect(await sinceInput()).toBe(`BEEN\nABTER\n${shell}$ `);
    expect(await screen()).toBe(`ABTER\n${shell}$ `);
  });

  test("what is overwritten at once was output, while somebody waits for it", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send("read line; printf '10%%\\r50%%\\r99%%\\r'; echo ok\n");
    const waiting = wait("50%");
    await send("\n");

    expect(await waiting).toMatchObject({ match_text: "50%" });
  });

  test("the prompt that comes after is output", async () => {
    const { send, wait } = await openTerminal(openTerminals(), shell);

    await send("cd /\n");

    expect(await wait("\\$ $")).toMatchObject({ match_text: "$ " });
  });
});

test("lines in Python are told from what they print", async () => {
  needs("python3");
  const { send, wait, sinceInput } = await openTerminal(openTerminals(), "python3 -q");
  await wait(">>> ");

  await send("for n in range(2):\n    print('MARK'.replace('M', 'P'), n)\n\n");

  expect(await wait("MARK|PARK 1")).toMatchObject({ match_text: "PARK 1" });
  expect(await sinceInput()).toMatch(/^[. \n]*PARK 0\nPARK 1\n>>> $/);
});

test("what scrolled away since the input is still searched and read", async () => {
  const { send, wait, sinceInput } = await openTerminal(openTerminals());

  await send("seq 1 500; echo END\n");
  await wait("^END");

  expect((await wait("^1$")).match_text).toBe("1");
  expect(await sinceInput()).toBe(`${Array.from({ length: 500 }, (_, n) => n + 1).join("\n")}\nEND\nbash$ `);
});
