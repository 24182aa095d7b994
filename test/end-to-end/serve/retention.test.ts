import { expect, test, vi } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const files = (keep: string) => ({
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": `agent: { provider: "simulated:answers.yaml" }\ndata: { keep: ${keep} }\n`,
});

async function list(cwd: string): Promise<readonly string[]> {
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  return [...stdout.matchAll(/"run_id":\s*"([^"]+)"/g)].map(([, id = ""]) => id).toReversed();
}

test("gc deletes the runs that are not kept, oldest first, and says before which those are", async () => {
  const cwd = application(files("{completed: {runs: 2}}"));
  for (let n = 0; n < 5; n += 1) await pawl(["run", "question", "-i", `question=${n}`], { cwd });
  const all = await list(cwd);
  expect(all).toHaveLength(5);

  expect((await pawl(["gc", "--dry-run"], { cwd })).stdout).toMatch(/^Would remove 3 runs, /);
  expect(await list(cwd)).toEqual(all);
  expect((await pawl(["gc"], { cwd })).stdout).toMatch(/^Removed 3 runs, /);
  expect(await list(cwd)).toEqual(all.slice(3));
});

test("a server deletes them while it serves, and no run that waits", async () => {
  const cwd = application(files("{days: 7, runs: 2}"));
  const server = await startServer([], { cwd, env: {} });
  const start = async (workflow: string) => {
    const input = workflow === "question" ? { question: "why" } : {};
    const response = await fetch(`${server.url}/workflows/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ workflow, input }),
    });
    return ((await response.json()) as { readonly data: { readonly run_id: string } }).data.run_id;
  };
  const waits = await start("review");
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1) ids.push(await start("question"));
  await vi.waitFor(async () => expect(await list(cwd)).toEqual([waits, ...ids.slice(4)]), {
    timeout: 30_000,
    interval: 500,
  });
  // Another process has the server delete: nothing is left to do.
  expect((await pawl(["gc"], { cwd })).stdout).toMatch(/^Removed 0 runs, /);
  server.kill("SIGTERM");
  expect((await server.ended).stderr).toContain("data.keep: deleted");
});

for (const [keep, said] of [
  ["{days: 0}", "data.keep.days"],
  ["{runs: 1.5}", "data.keep.runs"],
  ["{completed: {}}", "data.keep.completed (pawl.yaml): says neither `days` nor `runs`"],
  ["{running: {days: 1}}", "data.keep.running (pawl.yaml): no such setting"],
  ["forever", "data.keep (pawl.yaml)"],
]) {
  test(`data.keep: ${keep} is refused with its place`, async () => {
    const { code, stderr } = await pawl(["runs", "ls"], { cwd: application(files(keep ?? "")) });
    expect(code).not.toBe(0);
    expect(stderr).toContain("CONFIG_INVALID");
    expect(stderr).toContain(said);
  });
}
