import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AT_ONCE, application, QUESTION, SLOW_ONCE } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { PROFILE } from "../support/profile.ts";

const FILES = { "question.yaml": QUESTION, "at-once.yaml": AT_ONCE, "slow.yaml": SLOW_ONCE };
const SLOW = ["run", "question.yaml", "--agent", "simulated:slow.yaml"];
const QUICK = ["run", "question.yaml", "--agent", "simulated:at-once.yaml"];

test("a second run on the same data goes through the owner of the first", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  await owner.said("answer started");

  const second = await pawl([...QUICK, "--json"], { cwd });
  expect(second.code).toBe(0);
  expect(JSON.parse(second.stdout).data).toMatchObject({ status: "completed", outputs: { answer: "42" } });
  expect(JSON.parse(readFileSync(join(cwd, ".pawl/lock.json"), "utf8"))).toMatchObject({ pid: owner.pid });
});

test("when the owner is killed, a caller that waits for its run takes over and finishes it", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  await owner.said("answer started");
  const waiting = startPawl(["runs", "resume", await owner.runId()], { cwd });
  await waiting.said("answer started");

  owner.kill("SIGKILL");

  const { code, stderr, stdout } = await waiting.ended;
  const goesOn = `Process ${owner.pid}, which drove the runs, is gone. This process goes on.`;
  if (PROFILE === "embedded") expect(stderr).toContain(goesOn);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ answer: "42" });
});

test("a caller whose own run was in the killed owner loses nothing", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  await owner.said("answer started");
  const caller = startPawl(SLOW, { cwd });
  await caller.said("answer started");

  owner.kill("SIGKILL");

  expect(await caller.ended).toMatchObject({ code: 0 });
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  expect(JSON.parse(stdout).data.items).toMatchObject([{ status: "completed" }, { status: "completed" }]);
});

test("Ctrl-C lays the run down, and resume finishes it", async () => {
  const cwd = application(FILES);
  const running = startPawl(SLOW, { cwd });
  await running.said("answer started");
  const runId = await running.runId();

  running.kill("SIGINT");
  const laidDown = await running.ended;
  expect(laidDown.code).toBe(130);
  expect(laidDown.stderr).toContain(`pawl runs resume ${runId.slice(0, 18)}`);

  const resumed = await pawl(["runs", "resume", runId.slice(0, 18), "--json"], { cwd });
  expect(JSON.parse(resumed.stdout).data).toMatchObject({ run_id: runId, status: "completed" });
  expect(resumed.code).toBe(0);
});

test("resume names what has changed since the run began, and goes on with what was pinned", async () => {
  const cwd = application(FILES);
  const running = startPawl(SLOW, { cwd });
  await running.said("answer started");
  running.kill("SIGTERM");
  await running.ended;
  writeFileSync(join(cwd, "question.yaml"), QUESTION.replace("id: answer", "id: other"));

  const { code, stdout, stderr } = await pawl(["runs", "resume", await running.runId()], { cwd });
  expect(stderr).toContain("question.yaml has changed since the run began");
  expect(JSON.parse(stdout)).toEqual({ answer: "42" });
  expect(code).toBe(0);
});

test("the next owner goes on with what a killed one left, and says so", async () => {
  const cwd = application(FILES);
  const killed = startPawl(SLOW, { cwd });
  await killed.said("answer started");
  killed.kill("SIGKILL");
  await killed.ended;

  const { stderr } = await pawl(QUICK, { cwd });
  expect(stderr).toContain("Resuming 1 run of an earlier process.");
  const { stdout } = await pawl(["runs", "ls", "--json", "--status", "completed"], { cwd });
  expect(JSON.parse(stdout).data.items).toHaveLength(2);
});

test("resume --all finishes everything that can go on", async () => {
  const cwd = application(FILES);
  for (let count = 0; count < 2; count += 1) {
    const running = startPawl(SLOW, { cwd });
    await running.said("answer started");
    running.kill("SIGKILL");
    await running.ended;
  }
  const { code, stdout } = await pawl(["runs", "resume", "--all", "--json"], { cwd });
  expect(JSON.parse(stdout).data.items.map(({ status }: { status: string }) => status)).toEqual([
    "completed",
    "completed",
  ]);
  expect(code).toBe(0);
});

test("cancel ends a run that another process drives", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  await owner.said("answer started");

  expect(await pawl(["runs", "cancel", await owner.runId()], { cwd })).toMatchObject({ code: 0 });
  expect(await owner.ended).toMatchObject({ code: 130 });
});

test("a detached run goes on without us, and can be shown", async () => {
  const cwd = application(FILES);
  const { code, stdout } = await pawl([...SLOW, "--detach"], { cwd });
  const { pid } = JSON.parse(readFileSync(join(cwd, ".pawl/lock.json"), "utf8"));
  onTestFinished(() => {
    process.kill(pid, "SIGKILL");
  });
  const runId = stdout.trim();
  expect(code).toBe(0);

  const shown = await pawl(["runs", "show", runId, "--json"], { cwd });
  expect(JSON.parse(shown.stdout).data).toMatchObject({ run_id: runId, status: "running" });

  const again = await pawl([...QUICK, "--detach", "--json"], { cwd });
  const followed = await pawl(["runs", "resume", JSON.parse(again.stdout).data.run_id], { cwd });
  // It may have ended before we could follow it.
  expect([0, 2]).toContain(followed.code);
});

test("an owner whose own run has ended stays for the runs that others have handed to it", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  await owner.said("answer started");
  const caller = startPawl(SLOW, { cwd });
  await caller.said("answer started");

  await pawl(["runs", "cancel", await owner.runId()], { cwd });
  await owner.said("1 other run is still under way in this process");

  owner.kill("SIGINT");
  expect(await owner.ended).toMatchObject({ code: 130 });
  expect(await caller.ended).toMatchObject({ code: 0 });
});

test("Ctrl-C in a caller leaves the run to its owner", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  await owner.said("answer started");
  const caller = startPawl(SLOW, { cwd });
  await caller.said("answer started");

  caller.kill("SIGINT");
  const left = await caller.ended;
  expect(left.code).toBe(130);
  expect(left.stderr).toContain(`The run goes on in process ${owner.pid}.`);
  const { stdout } = await pawl(["runs", "show", await caller.runId(), "--json"], { cwd });
  expect(JSON.parse(stdout).data.status).toBe("running");
});

test("logs that are followed end with the run, and are those that are read afterwards", async () => {
  const cwd = application({
    ...FILES,
    "later.yaml": SLOW_ONCE.replace("{hang: true}", "{reply: '41', delay_ms: 1500}"),
  });
  const owner = startPawl(["run", "question.yaml", "--agent", "simulated:later.yaml"], { cwd });
  await owner.said("answer started");
  const followed = await pawl(["runs", "logs", await owner.runId(), "--follow"], { cwd });
  const { stdout } = await pawl(["runs", "logs", await owner.runId()], { cwd });
  expect(followed).toMatchObject({ code: 0, stdout });
  expect(stdout).toContain('"result":"41"');
});

test("a run that no process drives is told as such, with what lets it go on", async () => {
  const cwd = application(FILES);
  const owner = startPawl(SLOW, { cwd });
  const id = await owner.runId();
  expect((await pawl(["runs", "ls"], { cwd })).stdout).not.toContain("no process drives it");
  owner.kill("SIGKILL");
  await owner.ended;
  // Over a database, when the lease of the dead process is over.
  await expect
    .poll(async () => (await pawl(["runs", "ls"], { cwd })).stdout)
    .toContain(`${id}  no process drives it. To go on: pawl runs resume ${id}`);
  expect((await pawl(["runs", "show", id], { cwd })).stdout).toMatch(
    /driven by +no process\. To go on: pawl runs resume/,
  );
  const listed = JSON.parse((await pawl(["runs", "ls", "--json"], { cwd })).stdout);
  expect(listed.data.items).toMatchObject([{ run_id: id, status: "running", not_driven: true }]);
});
