import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type AnyWorkflow,
  agent,
  each,
  openPawl,
  type Pawl,
  run,
  StepFailure,
  text,
  workflow,
} from "../../src/embed/pawl.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";

const exec = promisify(execFile);
const PAWL = resolve(import.meta.dirname, "../../bin/pawl.cjs");
const calls: string[] = [];
let isBroken = true;

const shop = (version = 1) =>
  workflow("shop", { input: z.object({ n: z.number() }) }, ({ input }) => {
    const list = run("list", { n: input.n }, ({ n }) => {
      calls.push("list");
      return Array.from({ length: n }, (_, index) => index);
    });
    const doubled = each(list, (item) =>
      run("double", { item }, ({ item }) => {
        calls.push(`double ${item}`);
        return item * 2;
      }),
    );
    const said = agent("say", { prompt: text`Say ${doubled}`, model: "haiku" });
    return run(
      "sum",
      { doubled, said },
      ({ doubled }) => {
        calls.push("sum");
        if (isBroken) throw new StepFailure("BROKEN", "No.");
        return { version, sum: doubled.reduce((a, b) => a + b, 0) };
      },
      { version },
    );
  });

interface Answer {
  readonly data: { readonly run_id: string } | null;
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

async function post(pawl: Pawl, path: string, body: object): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${pawl.url}${path}`, { method: "POST", body: JSON.stringify(body), headers });
  return (await answer.json()) as Answer;
}

async function failedRun(pawl: Pawl): Promise<string> {
  isBroken = true;
  const { id } = await pawl.start(shop(), { n: 3 });
  await expect(pawl.run(id).result()).rejects.toMatchObject({ code: "BROKEN" });
  isBroken = false;
  calls.length = 0;
  return id;
}

async function folderOfPrograms() {
  const folder = temporaryFolder();
  const open = async (...workflows: AnyWorkflow[]): Promise<Pawl> => {
    const data = join(folder, ".pawl");
    const pawl = await openPawl({ folder, data, workflows, agent: "simulated", serve: { port: 0 } });
    onTestFinished(() => pawl.close({ drain: 0 }));
    return pawl;
  };
  const cli = (...args: string[]) => exec(process.execPath, [PAWL, ...args], { cwd: folder });
  return { open, cli };
}

test("a run of a program is rerun, forked and retried: by itself, over the API, by the command, and after a restart", async () => {
  const { open, cli } = await folderOfPrograms();
  const first = await open(shop());
  const id = await failedRun(first);
  expect(await (await first.rerun(id)).result()).toEqual({ version: 1, sum: 6 });
  expect(calls.splice(0)).toEqual(["sum"]);
  const { data: rerun } = await post(first, `/runs/${id}/rerun`, { from_step: "list" });
  expect(await first.run(rerun?.run_id ?? "").result()).toEqual({ version: 1, sum: 6 });
  expect(calls.splice(0).toSorted()).toEqual(["double 0", "double 1", "double 2", "list", "sum"]);
  const fork = await first.rerun(id, { from: "list", changes: { input: { n: 2 } } });
  expect(await fork.result()).toEqual({ version: 1, sum: 2 });
  calls.length = 0;
  const changes = { steps: { say: { model: "opus", prompt: "Say {{it}} at once." } } };
  const asked = await first.rerun<{ sum: number }>(id, { changes });
  expect((await asked.result()).sum).toBe(6);
  expect(calls.splice(0)).toEqual(["sum"]);
  const { stdout } = await cli("runs", "show", asked.id, "--json");
  expect(stdout).toContain("Simulated answer to: Say {{it}} at once.");
  await expect(first.rerun(id, { from: "none" })).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
  await first.close({ drain: 0 });

  const second = await open(shop());
  expect((await cli("runs", "rerun", id)).stdout).toContain('"sum": 6');
  expect(calls.splice(0)).toEqual(["sum"]);
  expect((await cli("runs", "fork", id, "--from", "list", "--set", "input.n=2")).stdout).toContain('"sum": 2');
  const other = await failedRun(second);
  const { stdout: letters } = await cli("dead-letter", "ls", "--json");
  expect(letters).toContain(`${other}:sum`);
  const { data } = await post(second, `/dead-letter/${encodeURIComponent(`${other}:sum`)}/retry`, {});
  expect(await second.run(data?.run_id ?? "").result()).toEqual({ version: 1, sum: 6 });
});

test("with another version in the program a rerun takes the definition as it is now, where that is asked for", async () => {
  const { open, cli } = await folderOfPrograms();
  const first = await open(shop());
  const id = await failedRun(first);
  await first.close({ drain: 0 });
  const second = await open(shop(2));
  expect(await (await second.rerun(id, { current: true })).result()).toEqual({ version: 2, sum: 6 });
  expect(calls.splice(0)).toEqual(["sum"]);
  const { data } = await post(second, `/runs/${id}/fork`, { definition: "current", changes: { input: { n: 2 } } });
  expect(await second.run(data?.run_id ?? "").result()).toEqual({ version: 2, sum: 2 });
  // A command is another process: it has not the functions, and says who has.
  await expect(cli("runs", "rerun", id, "--current")).rejects.toMatchObject({
    stderr: expect.stringMatching(/NOT_SUPPORTED .*`shop`[\s\S]*--url/),
  });
  const { stdout } = await cli("runs", "rerun", id, "--current", "--url", second.url ?? "");
  expect(stdout).toContain('"version": 2');
});
