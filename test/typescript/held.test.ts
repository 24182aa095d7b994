import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type AnyWorkflow, openPawl, type Pawl, run, wait, workflow } from "../../src/embed/pawl.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";

const exec = promisify(execFile);
const PAWL = resolve(import.meta.dirname, "../../bin/pawl.cjs");

/** It waits first, so that a program can be closed before the function is called. */
const shop = (version: number) =>
  workflow("shop", {}, () => {
    wait("go", { event: "go" });
    return run("pay", {}, () => `paid by ${version}`, { version, timeout: "1s" });
  });

function folderOfPrograms() {
  const folder = temporaryFolder();
  const open = async (...workflows: AnyWorkflow[]): Promise<Pawl> => {
    const pawl = await openPawl({ folder, data: join(folder, ".pawl"), workflows, serve: { port: 0 } });
    onTestFinished(() => pawl.close({ drain: 0 }));
    return pawl;
  };
  return { open, cli: (...args: string[]) => exec(process.execPath, [PAWL, ...args], { cwd: folder }) };
}

async function untilHeld(pawl: Pawl, id: string) {
  for await (const { event, data } of pawl.run(id).events())
    if (event === "step" && data.status === "held") return data;
  throw new Error("It was never held.");
}

test("a step that another version began is held, and is told of with both versions, until a program comes that has it", async () => {
  const { open, cli } = folderOfPrograms();
  const first = await open(shop(1));
  const { id } = await first.start(shop(1), {});
  await first.close({ drain: 0 });

  const second = await open(shop(2));
  await second.signal(id, "go");
  const both = /`shop`.*`shop\/pay` in version 1.*has it in version 2/;
  expect(await untilHeld(second, id)).toMatchObject({
    path: "pay",
    error: { code: "PROGRAM_MISSING", message: expect.stringMatching(both) },
  });
  const { error } = await second.run(id).status();
  expect(error).toMatchObject({ code: "PROGRAM_MISSING", message: expect.stringMatching(both) });
  expect(error?.remedy).toContain(`pawl runs cancel ${id}`);
  const { stdout } = await cli("runs", "show", id);
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(both);
  expect(stdout).toMatch(/held {2,}pay/);
  const shown = await (await fetch(`${second.url}/runs/${id}`)).json();
  expect(shown).toMatchObject({
    data: {
      error: { code: "PROGRAM_MISSING" },
      steps: [{}, { path: "pay", status: "held", error: { message: expect.stringMatching(both) } }],
    },
  });
  await second.add([shop(1)]);
  expect(await second.run(id).result()).toBe("paid by 1");
  expect(await second.run(id).status()).toEqual({ status: "completed", error: null });
});

test("a process without the workflow says so, and one that has it goes on after a restart", async () => {
  const { open } = folderOfPrograms();
  const first = await open(shop(1));
  const { id } = await first.start(shop(1), {});
  await first.close({ drain: 0 });
  const without = await open();
  await without.signal(id, "go");
  expect(await untilHeld(without, id)).toMatchObject({
    error: { message: expect.stringContaining("has no such function") },
  });
  await without.close({ drain: 0 });
  const second = await open(shop(1));
  expect(await second.run(id).result()).toBe("paid by 1");
});
