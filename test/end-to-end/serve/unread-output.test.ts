import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { application, QUESTION } from "../support/application.ts";
import { pawlCommand } from "../support/pawl.ts";

test("a server whose log nobody reads any more goes on: `pawl serve 2>&1 | head -1`", async () => {
  const cwd = application({ "workflows/question.yaml": QUESTION });
  const { command, env } = pawlCommand(["serve", "--port", "0"], { cwd });
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd, env });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const [printed] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const [url = ""] = /http:\S+/.exec(printed) ?? [];
  child.stdout.destroy();
  child.stderr.destroy();
  // Each request writes a line.
  for (let n = 0; n < 5; n += 1) expect((await fetch(`${url}/health`)).status).toBe(200);
  child.kill("SIGTERM");
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(0);
});
