import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createMask } from "../../../src/config/create-mask.ts";
import { isPawlError } from "../../../src/core/errors/pawl-error.ts";
import type { TerminalOptions } from "../../../src/executors/terminal/terminal-options.ts";
import { openTerminal, openTerminals } from "./open-terminals.ts";

type Level = TerminalOptions["level"];
const LEVELS: readonly Level[] = ["off", "low", "medium", "high"];

describe.each(LEVELS)("at level %s", (level) => {
  const isRefusedFrom = (from: Level | "never") => from !== "never" && LEVELS.indexOf(level) >= LEVELS.indexOf(from);

  test("a terminal opens with shells only, and in the user's folders only, from medium on", async () => {
    const terminals = openTerminals({ level });
    symlinkSync("/usr", join(terminals.currentDir, "link"));
    mkdirSync(join(terminals.homeDir, "below"));
    const open = (request: { shell?: string; working_directory?: string }) =>
      terminals.call("open_terminal", request).then(({ success, error }) => (success ? "" : String(error)), ruleOf);

    expect({
      env: await open({ shell: "env" }),
      disguised: await open({ shell: "./bash" }),
      folder: await open({ working_directory: "/usr" }),
      link: await open({ working_directory: "link" }),
      below: await open({ working_directory: "~/below" }),
    }).toEqual({
      env: isRefusedFrom("medium") ? "shells" : "",
      disguised: isRefusedFrom("medium") ? "shells" : "Shell './bash' is not installed.",
      folder: isRefusedFrom("medium") ? "working-directory" : "",
      link: isRefusedFrom("medium") ? "working-directory" : "",
      below: "",
    });
  });

  test.each([
    ["PATH", "/tmp", "protected-environment"],
    ["LD_PRELOAD", "/tmp/x.so", "protected-environment"],
    ["BASH_ENV", "/tmp/x", "protected-environment"],
    ["PROMPT_COMMAND", "sudo ls", "other-user"],
  ])("the variable %s=%s cannot be set from low on", async (name, value, rule) => {
    const opening = openTerminals({ level }).call("open_terminal", {
      shell: "bash --norc",
      environment: { [name]: value },
    });

    expect(await opening.then(() => "", ruleOf)).toBe(isRefusedFrom("low") ? rule : "");
  });
});

test("a refusal says so, by which rule, and what to do", async () => {
  const { send } = await openTerminal(openTerminals({ level: "high" }));

  await expect(send("sudo ls\n")).rejects.toMatchObject({
    code: "TERMINAL_REFUSED",
    message:
      'Security violation: Tool call rejected by the rule "other-user": It runs as another user, or changes what users may do. ' +
      "Do it without, or lower the security level to low.",
  });
});

test("a command that is typed in parts is refused when it comes together", async () => {
  const { send, screen } = await openTerminal(openTerminals({ level: "high" }));

  await send("su");
  await expect(send("do ls\n")).rejects.toThrow(/^Security violation: Tool call rejected/);

  expect(await screen()).toBe("bash$ su");
  expect((await send("", ["C-u"])).success).toBe(true);
  expect((await send("do\\x7f\\x7f\n")).success).toBe(true);
});

test("nor is it let through in two calls at the same time", async () => {
  const { send } = await openTerminal(openTerminals({ level: "high" }));

  const outcomes = await Promise.allSettled([send("su"), send("do ls\n")]);

  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});

test("a line that is left open is not sent, neither to the shell nor by run_command; to another program it is", async () => {
  const terminals = openTerminals({ level: "high" });
  const { send, screen, session_id } = await openTerminal(terminals);
  await expect(send("echo 'open\n")).rejects.toMatchObject({ details: { rule: "unreadable" } });
  const run = (command: string) => terminals.call("run_command", { session_id, command });
  await expect(run("echo $(date")).rejects.toMatchObject({ details: { rule: "unreadable" } });
  expect((await run("cat <<E; echo 'a;b'\n\tit's\nE")).output).toBe("\tit's\na;b");
  await send("cat\n");
  expect((await send("don't\n")).success).toBe(true);
  expect(await screen()).toContain("don't\ndon't");
  await send("", ["C-d"]);
});

test("a command that the shell has completed is judged by what the shell shows", async () => {
  const terminals = openTerminals({ level: "high" });
  writeFileSync(join(terminals.currentDir, "sudo"), "", { mode: 0o700 });
  const { send, wait } = await openTerminal(terminals);

  await send("./su\t");
  await wait("sudo");

  await expect(send("\n")).rejects.toThrow(/^Security violation: Tool call rejected/);
});

test("more than 10,000 characters are refused at every level", async () => {
  for (const level of LEVELS) {
    const { send } = await openTerminal(openTerminals({ level }));
    expect(await send("x".repeat(10_001)).catch(ruleOf)).toBe("input-length");
  }
});

test("calls of a minute are counted, those of workflows are not, and refused ones neither", async () => {
  const terminals = openTerminals({ level: "low", maxCallsPerMinute: 3 });
  const list = () => terminals.call("list_terminal_sessions", {}).then(() => "", ruleOf);

  for (let n = 0; n < 10; n += 1) await terminals.call("list_terminal_sessions", {}, { isInternal: true });

  expect([await list(), await list(), await list(), await list(), await list()]).toEqual([
    ...["", "", ""],
    ...["calls-per-minute", "calls-per-minute"],
  ]);
});

test("only so many sessions run at once, also when they are opened together", async () => {
  const terminals = openTerminals({ maxSessions: 2 });

  const opened = await Promise.all([1, 2, 3].map(() => terminals.call("open_terminal", {}).then(() => "", ruleOf)));
  const [first] = (await terminals.call("list_terminal_sessions", {})).sessions;
  await terminals.call("exit_terminal", { session_id: first?.session_id ?? "" });

  expect(opened).toEqual(["", "", "sessions"]);
  expect((await terminals.call("open_terminal", {})).success).toBe(true);
});

test("a tenant has so many of them, also when they are opened together, and others have theirs", async () => {
  const terminals = openTerminals({ maxSessionsOfTenant: 1 });
  const open = (tenantId?: string) =>
    terminals.call("open_terminal", {}, tenantId === undefined ? {} : { tenantId }).then(
      ({ success }) => success,
      (error: unknown) => isPawlError(error) && error.code,
    );

  expect(await Promise.all([open("a"), open("a"), open("b"), open(), open()])).toEqual([
    ...[true, "QUOTA_EXCEEDED", true],
    ...[true, true],
  ]);
});

test("every call is recorded with its outcome, and secrets are masked", async () => {
  const auditLogPath = join(openTerminals().currentDir, "logs", "audit.jsonl");
  const mask = createMask(["hunter2-hunter2"]);
  const terminals = openTerminals({ level: "high", auditLogPath }, { mask });
  const { session_id } = await terminals.call("open_terminal", { environment: { TOKEN: "abc" } });

  await terminals.call("send_input", { session_id, input_text: "echo hunter2-hunter2\n" });
  await terminals.call("send_input", { session_id, input_text: "sudo ls\n" }).catch(() => undefined);
  await terminals.call("exit_terminal", { session_id }, { isInternal: true });

  const lines = readFileSync(auditLogPath, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ tool: "open_terminal", environment: ["TOKEN"], outcome: "allowed", caller: "client" }),
    expect.objectContaining({ tool: "send_input", session_id, input_text: "echo [redacted]\n", outcome: "allowed" }),
    expect.objectContaining({ input_text: "sudo ls\n", outcome: "refused", details: { rule: "other-user" } }),
    expect.objectContaining({ tool: "exit_terminal", session_id, outcome: "allowed", caller: "workflow" }),
  ]);
  expect(statSync(auditLogPath).mode & 0o777).toBe(0o600);
});

test("what a person types into a view follows the same rules", async () => {
  const terminals = openTerminals({ level: "high" });
  const { session_id, wait } = await openTerminal(terminals);

  await terminals.views.type(session_id, "echo live | tr l L\r");
  expect((await wait("Live")).match_text).toBe("Live");

  await expect(terminals.views.type(session_id, "sudo ls\r")).rejects.toThrow(/^Security violation/);
});

function ruleOf(error: unknown): string {
  const { details } = error as { details?: { rule: string } };
  return details?.rule ?? String(error);
}
