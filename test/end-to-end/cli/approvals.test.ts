import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW, SLOW_ONCE } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const FILES = { "review.yaml": REVIEW, "question.yaml": QUESTION, "at-once.yaml": AT_ONCE, "slow.yaml": SLOW_ONCE };
const START = ["run", "review.yaml", "--agent", "simulated:at-once.yaml", "--json"];

async function startReview(cwd: string): Promise<string> {
  const { stdout } = await pawl(START, { cwd });
  return JSON.parse(stdout).data.run_id;
}

test("without an owner the answer is recorded and the run goes on to its end", async () => {
  const cwd = application(FILES);
  const runId = await startReview(cwd);
  const { code, stdout } = await pawl(["approve", runId, "--comment", "Fine.", "--json"], { cwd });

  expect(code).toBe(0);
  expect(JSON.parse(stdout).data).toEqual({ run_id: runId, path: "look", answer: "approve", missing: 0 });
  const shown = JSON.parse((await pawl(["runs", "show", runId, "--json"], { cwd })).stdout).data;
  expect(shown).toMatchObject({ run_id: runId, status: "completed", outputs: { look: "A draft." } });
});

test("edited data takes the place of what was shown", async () => {
  const cwd = application({ ...FILES, "better.json": '"A better draft."' });
  const runId = await startReview(cwd);
  const { stdout } = await pawl(["runs", "approve", `${runId}:look`, "--edit", "@better.json"], { cwd });

  expect(JSON.parse(stdout)).toMatchObject({ look: "A better draft." });
});

test("a rejection fails the run, as was asked", async () => {
  const cwd = application(FILES);
  const runId = await startReview(cwd);
  const { code, stderr } = await pawl(["reject", runId, "--comment", "Too short."], { cwd });

  expect(code).toBe(0);
  expect(stderr).toContain("APPROVAL_REJECTED");
});

test("open approvals are listed", async () => {
  const cwd = application(FILES);
  const runId = await startReview(cwd);
  const { stdout } = await pawl(["approvals", "ls", "--json"], { cwd });

  expect(JSON.parse(stdout).data.items).toMatchObject([{ run_id: runId, path: "look", message: "Is it good?" }]);
});

test("with an owner the answer goes through it", async () => {
  const cwd = application(FILES);
  const runId = await startReview(cwd);
  const owner = startPawl(["run", "question.yaml", "--agent", "simulated:slow.yaml"], { cwd });
  await owner.said("answer started");

  const { code, stderr } = await pawl(["approve", runId], { cwd });
  expect(stderr).toContain(`goes on in process ${owner.pid}`);
  expect(code).toBe(0);

  const again = await pawl(["approve", `${runId}:look`], { cwd });
  expect(again.stderr).toContain("APPROVAL_CONFLICT");
});

test("an answer to a run that has ended, or to no question, says so", async () => {
  const cwd = application(FILES);
  const runId = await startReview(cwd);
  const nothingThere = await pawl(["approve", `${runId}:draft`], { cwd });
  await pawl(["approve", runId], { cwd });
  const tooLate = await pawl(["approve", runId], { cwd });

  expect(nothingThere).toMatchObject({ code: 5, stderr: expect.stringContaining("APPROVAL_NOT_OPEN") });
  expect(tooLate).toMatchObject({ code: 2, stderr: expect.stringContaining("RUN_FINISHED") });
});
