import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { AT_ONCE, application, QUESTION, REVIEW } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const BREAKS = `
name: breaks
on_failure: { dead_letter: true }
steps:
  - id: broken
    prompt: Break.
    retry: { max_attempts: 1 }
`;

function newApplication(): string {
  return application({
    "workflows/question.yaml": QUESTION,
    "workflows/review.yaml": REVIEW,
    "workflows/breaks.yaml": BREAKS,
    "answers.yaml": `${AT_ONCE}  broken: {fail: BROKEN, message: "It is broken.", delay_ms: 0}\n`,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
}

test("a server does what the verbs ask for, with the answers that they give on its own machine", async () => {
  const folder = newApplication();
  const { url } = await startServer([], { cwd: folder });
  const elsewhere = application({ "mine.yaml": QUESTION.replace("name: question", "name: mine") });
  const env = { PAWL_URL: url };
  const remote = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await pawl([...args, "--json"], { cwd: elsewhere, env });
    const { data, error } = JSON.parse(stdout) as { readonly data: JsonObject; readonly error: Json };
    return { code, data, error, stderr };
  };
  const first = await pawl(["run", "question", "-i", "question=007"], { cwd: elsewhere, env });
  expect(first).toMatchObject({ code: 0, stdout: '{\n  "answer": "42"\n}\n' });
  expect(first.stderr).toContain("answer completed");
  const [mine, review, broken] = await Promise.all([
    remote("run", "mine.yaml", "-i", "question=why"),
    remote("run", "review"),
    remote("run", "breaks"),
  ]);
  expect(mine).toMatchObject({ code: 0, data: { status: "completed", workflow_name: "mine" } });
  expect(broken).toMatchObject({ code: 1, data: { error: { code: "BROKEN" } } });
  expect(review).toMatchObject({ code: 6, data: { status: "awaiting_approval" } });
  const reviewId = String(review.data["run_id"]);
  expect(await remote("approve", reviewId, "--edit", '"Better."')).toMatchObject({ code: 0 });
  expect(await remote("runs", "watch", reviewId)).toMatchObject({
    code: 0,
    data: { status: "completed", outputs: { look: "Better." } },
  });

  // Read through the server, and here beside it.
  const verbs = [
    ["runs", "show", reviewId, "--json"],
    ["dead-letter", "ls", "--json"],
    ["runs", "diff", reviewId, String(mine.data["run_id"]), "--json"],
    ["runs", "logs", reviewId, "draft"],
  ];
  await Promise.all(
    verbs.map(async (args) => {
      const here = [...args, "--app", folder];
      const [near, far] = await Promise.all([pawl(here, { cwd: elsewhere }), pawl(args, { cwd: elsewhere, env })]);
      expect(far, args.join(" ")).toEqual(near);
      expect(far.stdout).toContain(args[1] === "ls" ? "BROKEN" : "draft");
    }),
  );
});

test("definitions are checked and explained alike here and by a server", async () => {
  const folder = newApplication();
  const { url } = await startServer([], { cwd: folder });
  const cwd = application({
    "mine.yaml": QUESTION,
    "bad.yaml": "name: bad\nsteps: [{ id: a, prompt: hi, depends_on: [b] }]\n",
  });
  const verbs = ["validate mine.yaml", "validate mine.yaml --json", "graph question", "graph mine.yaml --mermaid"];
  for (const verb of verbs) {
    const here = await pawl([...verb.split(" "), "--app", folder], { cwd });
    expect(here.code, verb).toBe(0);
    expect(await pawl([...verb.split(" "), "--url", url], { cwd }), verb).toEqual(here);
  }
  const bad = await pawl(["validate", "mine.yaml", "bad.yaml", "--url", url], { cwd });
  expect(bad).toMatchObject({ code: 3, stdout: expect.stringMatching(/mine.yaml is valid.*bad.yaml has 1 problem/s) });
  expect(bad).toEqual(await pawl(["validate", "mine.yaml", "bad.yaml", "--app", folder], { cwd }));
  // Where no one answers, both say so.
  const { url: unready } = await startServer([], { cwd });
  const lacking = await pawl(["validate", "mine.yaml", "bad.yaml"], { cwd });
  expect(lacking).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/AGENT_NOT_CONFIGURED.*mine.yaml is valid/s),
  });
  expect(await pawl(["validate", "mine.yaml", "bad.yaml", "--url", unready], { cwd })).toEqual(lacking);
});

test("what goes wrong says why, and what to type next", async () => {
  const folder = newApplication();
  const created = await pawl(["keys", "create", "admin", "--scopes", "read"], { cwd: folder });
  const { url } = await startServer([], { cwd: folder });
  const ask = async (...args: readonly string[]) => {
    const { code, stderr } = await pawl([...args, "--url", url], { cwd: folder });
    return { code, stderr };
  };
  const key = ["--api-key", created.stdout.trim()];
  const [none, read, run, local, both, nobody, secure] = await Promise.all([
    ask("runs", "ls"),
    ask("runs", "ls", ...key),
    ask("run", "question", ...key),
    ask("agents", "validate"),
    ask("runs", "ls", "--data", "x"),
    pawl(["runs", "ls", "--url", "http://127.0.0.1:9"], { cwd: folder }),
    pawl(["runs", "ls", "--url", url.replace("http", "https")], { cwd: folder }),
  ]);
  expect(none).toMatchObject({ code: 4, stderr: expect.stringMatching(/UNAUTHORIZED.*--api-key/s) });
  expect(read).toEqual({ code: 0, stderr: "" });
  expect(run).toMatchObject({ code: 4, stderr: expect.stringMatching(/FORBIDDEN.*--scopes/s) });
  expect(local).toMatchObject({ code: 2, stderr: expect.stringContaining("LOCAL_ONLY") });
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("--url") });
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringMatching(/SERVER_UNREACHABLE.*pawl serve/s) });
  expect(secure).toMatchObject({ code: 1, stderr: expect.stringMatching(/SERVER_UNREACHABLE.*http:/s) });
});
