import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { AT_ONCE, application, REVIEW } from "../support/application.ts";
import { pawl, pawlCommand } from "../support/pawl.ts";

/** util-linux's `script` gives a command a terminal; without it nobody can be asked. */
const SCRIPT = "script";
const hasScript = spawnSync(SCRIPT, ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

test.runIf(hasScript)("at a terminal the person is asked, and the answer goes on with the run", async () => {
  const cwd = application({ "review.yaml": REVIEW, "at-once.yaml": AT_ONCE });
  const { command, env } = pawlCommand(["run", "review.yaml", "--agent", "simulated:at-once.yaml"], { cwd });
  const quoted = command.map((word) => `'${word}'`).join(" ");
  const terminal = spawn(SCRIPT, ["-qec", quoted, "/dev/null"], { cwd, env: { ...env, TERM: "xterm" } });
  onTestFinished(() => {
    terminal.kill("SIGKILL");
  });

  let shown = "";
  for await (const chunk of terminal.stdout) {
    shown += String(chunk);
    if (shown.includes("[a]pprove") && !terminal.stdin.writableEnded) terminal.stdin.end("a\n");
  }
  if (terminal.exitCode === null) await once(terminal, "exit");

  expect(shown).toContain("Is it good?");
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  expect(JSON.parse(stdout).data.items).toMatchObject([{ status: "completed" }]);
});
