import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
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
