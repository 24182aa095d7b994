import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openTerminal, openTerminals } from "./open-terminals.ts";

test("2 MB of output go through, and the last line is found", async () => {
  const { send, wait, sinceInput } = await openTerminal(openTerminals());

  await send("seq 1 300000; echo DO''NE\n");

  expect(await wait("^DONE", 60)).toMatchObject({ match_text: "DONE" });
  expect(await sinceInput()).toMatch(/\n299999\n300000\nDONE\nbash\$ $/);
});

test("what is far back in a flood is found on its way", async () => {
  const { send, wait } = await openTerminal(openTerminals());

  await send("read line; seq 1 300000\n");
  const waiting = wait("^150000$", 60);
  await send("\n");

  expect(await waiting).toMatchObject({ match_text: "150000" });
});

test("the whole output of a program that ends at once is there", async () => {
  const terminals = openTerminals();

  const { session_id } = await terminals.call("open_terminal", { shell: "bash -c 'seq 1 100000; exit 9'" });
  const { match_text, exit_code } = await terminals.call("await_output", { session_id, pattern: "never", timeout: 60 });

  expect([match_text, exit_code]).toEqual([null, 9]);
  const tail = await terminals.call("get_screen_content", { session_id, content_mode: "tail", line_count: 1 });
  expect(tail.screen_content).toBe("100000");
});

test("a program that never stops printing does not fill the memory, and can be interrupted", async () => {
  const { send, wait } = await openTerminal(openTerminals());
  const before = process.memoryUsage().rss;

  await send("yes\n");
  await wait("never", 3);
  const grown = process.memoryUsage().rss - before;
  await send("", ["C-c"]);

  expect(grown).toBeLessThan(200e6);
  expect(await wait("bash\\$ $", 60)).toMatchObject({ match_text: "bash$ " });
});

test("a program that does not read its input holds up nobody", async () => {
  const terminals = openTerminals();
  const deaf = await openTerminal(terminals);
  await deaf.send("stty raw -echo; exec sleep 1000\n");
  let answer = await deaf.send("");
  for (let n = 0; n < 60 && answer.success; n += 1) answer = await deaf.send("x".repeat(10_000));

  const other = await openTerminal(terminals);
  await other.send("echo still | tr s S\n");

  expect(answer).toMatchObject({ success: false, error: "The program does not read its input." });
  expect(await other.wait("Still")).toMatchObject({ match_text: "Still" });
});

test("200 sessions at once", async () => {
  const terminals = openTerminals({ maxSessions: 200, maxCallsPerMinute: 10_000 });
  const opened = await Promise.all(Array.from({ length: 200 }, () => openTerminal(terminals, "bash --norc")));
  const numbers = await Promise.all(
    opened.map(async ({ send, wait }, n) => {
      await send(`echo number $((${n} + 1000))\n`);
      return (await wait("number \\d+", 60)).match_text;
    }),
  );

  expect(numbers).toEqual(opened.map((_, n) => `number ${n + 1000}`));
});

test("sessions that do nothing cost no time", async () => {
  const terminals = openTerminals({ maxCallsPerMinute: 10_000 });
  const opened = await Promise.all(Array.from({ length: 20 }, () => openTerminal(terminals)));
  const shell = terminals.find(opened[0]?.session_id ?? "")?.pid ?? 0;
  const before = [
    process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
    cpuTicks(hostOf(shell)),
  ];

  await opened[0]?.wait("never", 2);

  // Two seconds are 200 ticks.
  const after = [process.getActiveResourcesInfo().filter((name) => name === "Timeout").length, cpuTicks(hostOf(shell))];
  expect(after[0]).toBe(before[0]);
  expect((after[1] ?? 0) - (before[1] ?? 0)).toBeLessThan(10);
});

function hostOf(pid: number): number {
  return Number(/\nPPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** Hundredths of a second that a process has used. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
