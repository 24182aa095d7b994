import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { spawn } from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../support/needs.ts";
import { AT_ONCE, application, QUESTION, REVIEW } from "../support/application.ts";
import { pawl, pawlCommand } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

/** A name that would make a file where a shell evaluated it. */
const EVIL = 'evil $(touch made-by-name)`touch made-by-name`"; touch made-by-name';

async function wordsAfter(cwd: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await pawl(["complete", "--", ...words], { cwd, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0]]));
}

async function withRuns(count: number): Promise<{ readonly folder: string; readonly ids: readonly string[] }> {
  const folder = application({ "workflows/question.yaml": QUESTION, "script.yaml": AT_ONCE });
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const args = ["run", "question", "-i", "question=Why?", "--agent", "simulated:script.yaml", "--json"];
    const { stdout } = await pawl(args, { cwd: folder });
    ids.unshift(JSON.parse(stdout).data.run_id);
  }
  return { folder, ids };
}

test("verbs, options and values that are fixed are completed", async () => {
  const folder = application({});
  expect(await wordsAfter(folder, [""])).toEqual(expect.arrayContaining(["run", "runs", "schedules"]));
  expect(await wordsAfter(folder, [""])).not.toContain("own");
  expect(await wordsAfter(folder, ["dead-letter", ""])).toEqual(["ls", "retry", "resolve"]);
  // What stands between a verb and its own does not matter.
  expect(await wordsAfter(folder, ["runs", "logs", "--data", "x", "--"])).toContain("--follow");
  expect(await wordsAfter(folder, ["run", "flow.yaml", "--on-exceeded", ""])).toEqual(["stop", "ask"]);
  expect(await wordsAfter(folder, ["run", "flow.yaml", "--on-exceeded=s"])).toContain("--on-exceeded=stop");
  expect(await wordsAfter(folder, ["completion", ""])).toEqual(["bash", "zsh", "fish"]);
  expect(await wordsAfter(folder, ["validate", ""])).toEqual([":files"]);
});

test("ids of runs are completed newest first, with workflow and status", async () => {
  const { folder, ids } = await withRuns(2);
  const { stdout } = await pawl(["complete", "--", "runs", "show", ""], { cwd: folder });
  expect(stdout).toBe(ids.map((id) => `${id}\tquestion, completed\n`).join(""));
  for (const verb of ["events", "logs", "watch", "resume", "fork", "rerun", "cancel", "signal", "rm", "diff"])
    expect(await wordsAfter(folder, ["runs", verb, ""]), verb).toEqual(ids);
  expect(await wordsAfter(folder, ["webhooks", "ls", "--run", ""])).toEqual(ids);
  // The name of the signal is anything.
  expect(await wordsAfter(folder, ["runs", "signal", ids[0] ?? "", ""])).toEqual([":files"]);
});

test("names of workflows are completed, beside files where a file may stand", async () => {
  const folder = application({ "workflows/question.yaml": QUESTION });
  expect(await wordsAfter(folder, ["run", ""])).toEqual(["question", ":files"]);
  expect(await wordsAfter(folder, ["workflows", "show", ""])).toEqual(["question"]);
  expect(await wordsAfter(folder, ["runs", "ls", "--workflow", ""])).toEqual(["question"]);
  expect(await wordsAfter(folder, ["init", "code-"])).toContain("code-review");
});

test("completion makes nothing, and is silent where nothing can be read", async () => {
  const folder = application({ "pawl.yaml": "nonsense: [" });
  const empty = application({});
  for (const verb of ["runs show", "run", "schedules rm", "keys revoke", "webhooks show", "budgets show", "approve"]) {
    expect(await wordsAfter(empty, [...verb.split(" "), ""]), verb).toEqual(verb === "run" ? [":files"] : []);
    expect(await wordsAfter(folder, [...verb.split(" "), ""]), verb).toEqual(verb === "run" ? [":files"] : []);
  }
  expect(readdirSync(empty)).toEqual([]);
  expect(await wordsAfter(empty, ["runs", "show", "--url", "http://127.0.0.1:9", ""])).toEqual([]);
});

test("a server is asked for the ids that it knows", async () => {
  const { folder, ids } = await withRuns(1);
  const { url } = await startServer([], { cwd: folder });
  expect(await wordsAfter(application({}), ["runs", "show", ""], { PAWL_URL: url })).toEqual(ids);
});

interface Shell {
  type(text: string): void;
  /** Resolves when the screen shows it. */
  seen(text: string): Promise<void>;
}

/** A shell at a terminal, as a person uses it, with the completion of `pawl` and a `pawl` of these sources. */
async function shellIn(folder: string, shell: "bash" | "zsh"): Promise<Shell> {
  const { command, env } = pawlCommand([], { cwd: folder });
  const { stdout } = await pawl(["completion", shell], { cwd: folder });
  const tools = application({ pawl: `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`, script: stdout });
  chmodSync(join(tools, "pawl"), 0o755);
  const terminal = spawn(shell, shell === "bash" ? ["--norc", "-i"] : ["-f", "-i"], {
    cwd: folder,
    cols: 200,
    rows: 30,
    env: { ...env, PATH: `${tools}:${env["PATH"] ?? ""}`, TERM: "xterm" },
  });
  onTestFinished(() => terminal.kill("SIGKILL"));
  let screen = "";
  const waiting = new Set<() => void>();
  terminal.onData((data) => {
    // Bells and moves of the cursor stand between the letters.
    screen += stripVTControlCharacters(data).replaceAll(/\p{Cc}/gu, "");
    for (const look of waiting) look();
  });
  const seen = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!screen.includes(text)) return;
        waiting.delete(look);
        screen = screen.slice(screen.indexOf(text) + text.length);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const prepare = shell === "zsh" ? `autoload -U compinit; compinit -u -d ${join(tools, "dump")}; ` : "";
  terminal.write(`${prepare}source ${join(tools, "script")}; PS1='> '; echo is''-ready\r`);
  await seen("is-ready");
  return { type: (text) => terminal.write(text), seen };
}

test.each(["bash", "zsh"] as const)(
  "%s completes what is typed into it",
  async (name) => {
    if (name === "zsh") needs("zsh");
    const spaced = QUESTION.replace("name: question", "name: Ask me twice");
    const folder = application({ "workflows/q.yaml": spaced, "plain file.txt": "", "script.yaml": AT_ONCE });
    const { stdout } = await pawl(
      ["run", "Ask me twice", "-i", "question=Why?", "--agent", "simulated:script.yaml", "--json"],
      { cwd: folder },
    );
    const shell = await shellIn(folder, name);
    shell.type("pawl runs wat\t");
    await shell.seen("runs watch");
    shell.type("\t");
    await shell.seen(JSON.parse(stdout).data.run_id);
    shell.type("\u0015pawl run As\t");
    await shell.seen("Ask\\ me\\ twice");
    shell.type("\u0015pawl run pl\t");
    await shell.seen("plain\\ file.txt");
    shell.type("\u0015pawl run x --on-exceeded=st\t");
    await shell.seen("--on-exceeded=stop");
  },
  60_000,
);

test.each(["bash", "zsh"] as const)(
  "%s evaluates neither names nor what is typed",
  async (name) => {
    if (name === "zsh") needs("zsh");
    const evil = QUESTION.replace("name: question", `name: ${JSON.stringify(EVIL)}`);
    const harmless = QUESTION.replace("name: question", "name: evident").replace(
      "steps:",
      `description: ${JSON.stringify(EVIL)}\nsteps:`,
    );
    const folder = application({ "workflows/evil.yaml": evil, "workflows/evident.yaml": harmless });
    expect(await wordsAfter(folder, ["run", ""])).toEqual(["evident", ":files"]);
    const shell = await shellIn(folder, name);
    shell.type("pawl run $(touch made-by-typing) `touch made-by-typing` --agent \t\t");
    shell.type("\u0015pawl run ev\t");
    await shell.seen("evident");
    shell.type("\u0015pawl workflows show \t\t");
    await shell.seen("evident");
    expect(readdirSync(folder)).toEqual(["workflows"]);
    expect(existsSync(join(folder, "made-by-name"))).toBe(false);
  },
  60_000,
);

test.each(["bash", "zsh"] as const)(
  "%s completes what is behind a colon",
  async (name) => {
    if (name === "zsh") needs("zsh");
    const folder = application({ "review.yaml": REVIEW, "script.yaml": AT_ONCE });
    const { stdout } = await pawl(["run", "review.yaml", "--agent", "simulated:script.yaml", "--json"], {
      cwd: folder,
    });
    const id = JSON.parse(stdout).data.run_id;
    const shell = await shellIn(folder, name);
    shell.type(`pawl approve ${id}:lo\t--comment ok\r`);
    await shell.seen("completed");
    const { stdout: shown } = await pawl(["runs", "show", id, "--json"], { cwd: folder });
    expect(JSON.parse(shown).data.status).toBe("completed");
  },
  60_000,
);
