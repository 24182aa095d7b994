import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { gone, isThere } from "../mcp-terminal/terminal-client.ts";
import { application } from "../support/application.ts";

const PROGRAM = process.env["PAWL_TEST_PROGRAM"] ?? new URL("../../../bin/pawl.cjs", import.meta.url).pathname;

/** The environment without what npm tells the programs below it: these tests run below one. */
const OUTSIDE = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

const SLEEP = "name: nap\nsteps:\n  - id: nap\n    type: wait\n    duration: 10m\n";

const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  ["serve", "--port", "0"],
  ["dev", "--port", "0"],
  ["mcp", "terminal", "--http"],
  ["run", "nap.yaml"],
];

const KILLS = {
  "SIGINT to its group": (npm: number) => process.kill(-npm, "SIGINT"),
  "SIGTERM to npm": (npm: number) => process.kill(npm, "SIGTERM"),
  "SIGKILL to npm": (npm: number) => process.kill(npm, "SIGKILL"),
};

for (const command of COMMANDS) {
  test.each(Object.entries(KILLS))(`\`npx pawl ${command[0]}\` leaves nothing behind after %s`, async (_name, kill) => {
    const folder = application({ "package.json": '{"private": true}', "nap.yaml": SLEEP });
    mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
    symlinkSync(PROGRAM, join(folder, "node_modules/.bin/pawl"));
    const npm = spawn("npm", ["exec", "--", "pawl", ...command], { cwd: folder, detached: true, env: OUTSIDE });
    const pids = await startedBelow(npm);
    onTestFinished(() => pids.filter(isThere).forEach((pid) => void process.kill(pid, "SIGKILL")));
    expect(pids.length).toBeGreaterThan(1);
    kill(npm.pid ?? 0);
    await Promise.all(pids.map(gone));
  });
}

/** All that npm has started, when the last of them has said something. */
async function startedBelow(npm: ChildProcess): Promise<number[]> {
  const { stdout, stderr } = npm;
  if (stdout === null || stderr === null) throw new Error("npm has no output.");
  await Promise.any([said(stdout), said(stderr)]);
  const pids: number[] = [];
  for (let at: readonly number[] = [npm.pid ?? 0]; at.length > 0; at = at.flatMap(childrenOf)) pids.push(...at);
  return pids;
}

/** The first line that is not npm's. */
async function said(input: Readable): Promise<void> {
  for await (const line of createInterface({ input }))
    if (!line.startsWith("npm ")) {
      input.resume();
      return;
    }
  throw new Error("It ended without a word.");
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}
