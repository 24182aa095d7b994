import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFaultyWay, type WayFault } from "../../adversary/starts/faulty-way.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { application, QUESTION } from "../support/application.ts";
import { pawl, pawlCommand, startPawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const NEVER = "steps: {answer: {hang: true}}\n";
const env = { PAWL_AGENT__PROVIDER: "simulated:never.yaml" };

/** An application whose last server was killed in the middle of a run. */
async function leftInTheMiddle(): Promise<string> {
  const cwd = application({ "workflows/question.yaml": QUESTION, "never.yaml": NEVER });
  const server = await startServer([], { cwd, env });
  const body = JSON.stringify({ workflow: "question", input: { question: "?" } });
  const started = await fetch(`${server.url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(started.status).toBe(202);
  server.kill("SIGKILL");
  await server.ended;
  return cwd;
}

test("a server that may not listen where it is told to goes on with nothing", async () => {
  const cwd = await leftInTheMiddle();
  const { code, stderr } = await pawl(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd, env });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error HOST_REFUSED/)]);
});

test("a server that finds its port taken lays down again what it went on with", async () => {
  const cwd = await leftInTheMiddle();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const taken = other.address();
  const port = typeof taken === "object" && taken !== null ? taken.port : 0;
  const { code, stderr } = await pawl(["serve", "--port", String(port)], { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("it is in use")]);
  expect(stderr).not.toContain("a defect");
  const { stdout } = await pawl(["runs", "events", "--json", await onlyRun(cwd)], { cwd });
  const causes = [...stdout.matchAll(/"cause": ?"(\w+)"/g)].map(([, cause]) => cause);
  // Three crashes would make the step poison; being parked counts for nothing.
  expect(causes).toEqual(["crash", "parked"]);
});

async function onlyRun(cwd: string): Promise<string> {
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  const { items } = JSON.parse(stdout).data as { readonly items: readonly { readonly run_id: string }[] };
  return items[0]?.run_id ?? "";
}

const SOON = { PAWL_SERVER__START_TIMEOUT_MS: "2000" };

async function wayTo(url: string, fault: WayFault): Promise<string> {
  const { pathname, searchParams } = new URL(url);
  const way = await openFaultyWay({ path: `${searchParams.get("host")}/.s.PGSQL.5432` }, fault);
  onTestFinished(() => way.close());
  return `postgresql://pawl@127.0.0.1:${way.port}${pathname}`;
}

test.each([["serve", "--port", "0"], ["run", "question", "-i", "question=1"], ["worker"]])(
  "pawl %s over a database that stands still ends in time, and names it",
  async (...args) => {
    const cwd = application({ "workflows/question.yaml": QUESTION, "never.yaml": NEVER });
    const url = await wayTo(await newTestDatabase(), { do: "stall", at: 3, side: "answer", each: true });
    const over = { ...env, ...SOON, PAWL_SECRETS__KEY: "0123456789abcdef", DATABASE_URL: url };
    const { code, stderr } = await startPawl(args, { cwd, env: over }).ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining("error START_TIMED_OUT")]);
    expect(stderr).toContain(`database ${new URL(url).host}`);
  },
);

test("a server that is not ready in time ends with the reason, and lays down what it went on with", async () => {
  const cwd = await leftInTheMiddle();
  const bucket = await openFaultyWay({ host: "127.0.0.1", port: 1 }, { do: "garbage" });
  onTestFinished(() => bucket.close());
  const s3 = { STORAGE_BACKEND: "s3", STORAGE_BUCKET: "b", STORAGE_ENDPOINT: `http://127.0.0.1:${bucket.port}` };
  const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "s" };
  const server = await startServer([], {
    cwd,
    env: { ...env, PAWL_SERVER__START_TIMEOUT_MS: "12000", ...s3, ...keys },
  });
  const { code, stderr } = await server.ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining("error STORAGE_UNAVAILABLE")]);
  const { stdout } = await pawl(["runs", "events", "--json", await onlyRun(cwd)], { cwd });
  expect([...stdout.matchAll(/"cause": ?"(\w+)"/g)].map(([, cause]) => cause)).toEqual(["crash", "parked"]);
});

test("a process that runs behind a frozen owner ends and says which one", async () => {
  const cwd = application({ "workflows/question.yaml": QUESTION, "never.yaml": NEVER });
  const owner = await startServer([], { cwd, env });
  process.kill(owner.pid, "SIGSTOP");
  const { code, stderr } = await startPawl(["run", "question", "-i", "question=1"], { cwd, env: { ...env, ...SOON } })
    .ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining("error START_TIMED_OUT")]);
  expect(stderr).toContain(`process ${owner.pid}`);
});

test("a data folder that is read-only is no defect", async () => {
  const cwd = application({ "workflows/question.yaml": QUESTION, "never.yaml": NEVER });
  const { command, env: bare } = pawlCommand(["run", "question", "-i", "question=1"]);
  const data = join(cwd, ".pawl");
  mkdirSync(data);
  const mount = `mount --bind ${data} ${data} && mount -o remount,ro,bind ${data} && exec "$@"`;
  const { stderr } = spawnSync("sh", ["-c", `exec unshare -rm sh -c '${mount}' sh "$@"`, "sh", ...command], {
    cwd,
    env: { ...bare, ...env },
    encoding: "utf8",
  });
  expect(stderr).toContain("error JOURNAL_IO");
  expect(stderr).not.toContain("a defect");
});
