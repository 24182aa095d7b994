import { existsSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { spawn } from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";
import { AT_ONCE, application } from "../support/application.ts";
import { pawl, pawlCommand } from "../support/pawl.ts";

const ASKS = `
name: asks
input_schema:
  type: object
  required: [topic, tone, count, tags, draft, language]
  properties:
    topic: {type: string, description: What it is about.}
    tone: {enum: [dry, warm]}
    count: {type: integer, minimum: 1}
    tags: {type: array, items: {type: string}}
    draft: {type: boolean}
    language: {type: string, default: en}
steps:
  - id: answer
    prompt: "{input.topic}"
`;

const RUN = ["run", "asks.yaml", "--agent", "simulated:script.yaml"];

function asking(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
  const folder = application({ "asks.yaml": ASKS, "script.yaml": AT_ONCE });
  const { command, env: bare } = pawlCommand([...RUN, ...args], { cwd: folder, env });
  const [program = "", ...rest] = command;
  const terminal = spawn(program, rest, { cwd: folder, cols: 100, rows: 40, env: { ...bare, TERM: "xterm", ...env } });
  onTestFinished(() => terminal.kill("SIGKILL"));
  let screen = "";
  terminal.onData((data) => {
    screen += stripVTControlCharacters(data);
  });
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => resolve(exitCode));
  });
  const seen = (text: string) => expect.poll(() => screen).toContain(text);
  return { folder, ended, seen, type: (text: string) => terminal.write(text), screen: () => screen };
}

test("a person at a terminal is asked for each input that is missing", async () => {
  const { folder, ended, seen, type } = asking();
  await seen("topic: What it is about.");
  type("Ferns\r");
  await seen("tone");
  type("\u001b[B\r");
  await seen("count");
  type("0\r");
  await seen("must be >= 1");
  type("\u007f3\r");
  await seen("tags");
  type('["green", "old"]\r');
  await seen("draft");
  type("y");
  expect(await ended).toBe(0);
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd: folder });
  const id = JSON.parse(stdout).data.items[0].run_id;
  const run = JSON.parse((await pawl(["runs", "show", id, "--json"], { cwd: folder })).stdout).data;
  expect(run.input_data).toEqual({
    topic: "Ferns",
    tone: "warm",
    count: 3,
    tags: ["green", "old"],
    draft: true,
    language: "en",
  });
});

test("Ctrl-C at a question ends with 130 and starts nothing", async () => {
  const { folder, ended, seen, type } = asking();
  await seen("topic");
  type("\u0003");
  expect(await ended).toBe(130);
  expect(existsSync(join(folder, ".pawl", "pawl.db"))).toBe(false);
});

const SILENT: readonly {
  readonly name: string;
  readonly env: Record<string, string>;
  readonly args: readonly string[];
}[] = [
  { name: "CI is set", env: { CI: "true" }, args: [] },
  { name: "a program reads the answer", env: {}, args: ["--json"] },
];

test.each(SILENT)("nobody is asked where $name", async ({ env, args }) => {
  const { ended, screen } = asking(env, args);
  expect(await ended).toBe(2);
  expect(screen()).toContain("INPUT_INVALID");
});

test("nobody is asked without a terminal", async () => {
  const cwd = application({ "asks.yaml": ASKS, "script.yaml": AT_ONCE });
  const { code, stderr } = await pawl(RUN, { cwd });
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("topic") });
});
