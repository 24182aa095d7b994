import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { spawn } from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";
import { completionScript } from "../../../src/surfaces/cli/commands/completion.ts";
import { buildProgram } from "../../../src/surfaces/cli/program.ts";
import { needs } from "../../support/needs.ts";
import { application } from "../support/application.ts";

async function scriptFor(shell: "bash" | "zsh" | "fish"): Promise<string> {
  const program = await buildProgram(
    [],
    () => Promise.reject(new Error("Nothing is opened.")),
    () => undefined,
  );
  return completionScript(shell, program);
}

test("bash completes verbs and options from the verbs that there are", async () => {
  const folder = application({ "pawl.bash": await scriptFor("bash") });
  const ask = async (...words: readonly string[]) => {
    const all = "$" + "{COMPREPLY[*]}";
    const script = `source pawl.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pawl; echo "${all}"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", script, "bash", ...words], { cwd: folder });
    return stdout.trim().split(" ");
  };
  expect(await ask("pawl", "sched")).toEqual(["schedules"]);
  expect(await ask("pawl", "runs", "w")).toEqual(["watch"]);
  expect(await ask("pawl", "dead-letter", "")).toEqual(["ls", "retry", "resolve"]);
  // What stands between a verb and its own does not matter.
  expect(await ask("pawl", "runs", "--data", "x", "logs", "--fol")).toEqual(["--follow"]);
  expect(await ask("pawl", "")).not.toContain("own");
});

test("zsh completes a verb that is typed into it", async () => {
  needs("zsh");
  const folder = application({ "pawl.zsh": await scriptFor("zsh") });
  const dump = join(folder, "dump");
  const terminal = spawn("zsh", ["-f", "-i"], {
    cwd: folder,
    cols: 100,
    rows: 30,
    env: { ...process.env, TERM: "xterm" },
  });
  onTestFinished(() => terminal.kill("SIGKILL"));
  let screen = "";
  const seen = (text: string) =>
    new Promise<void>((resolve) => {
      const look = terminal.onData(() => {
        if (!screen.includes(text)) return;
        look.dispose();
        resolve();
      });
    });
  terminal.onData((data) => {
    screen += data;
  });
  const ready = seen("is-ready");
  terminal.write(`autoload -U compinit; compinit -u -d ${dump}; source ./pawl.zsh; print is''-ready\r`);
  await ready;
  const completed = seen("runs watch");
  terminal.write("pawl runs wat\t");
  await completed;
});

test("fish gets a line for each verb and option", async () => {
  const script = await scriptFor("fish");
  expect(script).toContain("__pawl_at 'runs'\" -f -a watch");
  expect(script).toContain("__pawl_at 'runs logs'\" -l follow");
});
