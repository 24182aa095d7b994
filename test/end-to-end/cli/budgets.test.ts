import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const TWICE = `
name: twice
steps:
  - id: answer
    prompt: First.
  - id: draft
    prompt: Second.
    depends_on: [answer]
`;

function newApplication(): string {
  return application({
    "workflows/question.yaml": QUESTION,
    "workflows/twice.yaml": TWICE,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
}

function cli(cwd: string, more: readonly string[] = []) {
  return async (...args: readonly string[]) => {
    const { code, stdout } = await pawl([...args, ...more, "--json"], { cwd });
    const { data, error } = JSON.parse(stdout) as { readonly data: JsonObject; readonly error: JsonObject | null };
    return { code, data, error };
  };
}

test.each(["here", "through a server"])(
  "budgets are set, looked at and removed, and a limit asks to be raised, %s",
  async (where) => {
    const folder = newApplication();
    const isHere = where === "here";
    const { url } = isHere ? { url: "" } : await startServer([], { cwd: folder });
    const ask = isHere ? cli(folder) : cli(application({}), ["--url", url]);

    const shared = async () => {
      const set = await ask("budgets", "set", "--workflow", "question", "--max-steps", "1");
      expect(set).toMatchObject({
        code: 0,
        data: {
          workflow: "question",
          tenant_id: null,
          per: "day",
          on_exceeded: "stop",
          uses: [{ of: "steps", limit: 1 }],
        },
      });
      const id = String(set.data["budget_id"]);
      expect(await ask("run", "question", "-i", "question=why")).toMatchObject({ code: 0 });
      const [refused, shown] = await Promise.all([
        ask("run", "question", "-i", "question=why"),
        ask("budgets", "show", id),
      ]);
      // At the door, or before its first step.
      expect(refused).toMatchObject({ code: 7 });
      expect(shown).toMatchObject({ code: 0, data: { budget_id: id, uses: [{ used: 1, is: "used_up" }] } });
      expect(await ask("budgets", "rm", id)).toEqual({ code: 0, data: { budget_id: id }, error: null });
      expect(await ask("budgets", "ls")).toMatchObject({ code: 0, data: { items: [] } });
    };
    const own = async () => {
      const asking = await ask("run", "twice", "--max-steps", "1", "--on-exceeded", "ask");
      expect(asking).toMatchObject({ code: 6, data: { status: "awaiting_approval" } });
      const runId = String(asking.data["run_id"]);
      expect(await ask("approve", runId)).toMatchObject({ code: 0 });
      expect(await ask("runs", "watch", runId)).toMatchObject({ code: 0, data: { status: "completed" } });
    };
    await Promise.all([shared(), own()]);
  },
);

test("a tenant that is named with a server is refused, and nothing is asked of the server", async () => {
  const ask = cli(application({ "x.yaml": QUESTION }), ["--tenant", "acme", "--url", "http://127.0.0.1:9"]);
  const verbs = ["workflows save x.yaml", "storage put a x.yaml"];
  const refused = { code: 2, error: { code: "USAGE", remedy: expect.stringContaining("--api-key") } };
  for (const answer of await Promise.all(verbs.map((verb) => ask(...verb.split(" "))))) {
    expect(answer).toMatchObject(refused);
  }
});

test("a limit of a definition is raised by changing it, for a rerun with the definition as it is now", async () => {
  const cwd = newApplication();
  const file = join(cwd, "workflows", "twice.yaml");
  const ask = cli(cwd);
  writeFileSync(file, `${TWICE}limits: { max_steps: 1, max_cost_usd: 5 }\n`);
  const stopped = await ask("run", "twice", "--max-tokens", "100000");
  expect(stopped).toMatchObject({ code: 7, data: { status: "budget_exceeded" } });
  writeFileSync(file, `${TWICE}limits: { max_steps: 4, max_cost_usd: 7, max_tokens: 900000 }\n`);
  const again = await ask("runs", "rerun", String(stopped.data["run_id"]), "--current");
  expect(again).toMatchObject({ code: 0, data: { status: "completed" } });
  const { data } = await ask("runs", "show", String(again.data["run_id"]));
  expect(data["limits"]).toMatchObject([
    { of: "cost_usd", limit: 7 },
    { of: "tokens", limit: 100_000 },
    { of: "steps", limit: 4 },
  ]);
});

test.each([
  ["a webhook that is no address", ["--max-steps", "1", "--webhook", "file:///etc/passwd"], "http://"],
  ["a tenant that cannot be called so", ["--max-steps", "1", "--tenant", "../x"], "letters"],
  ["a workflow with characters that nobody sees", ["--max-steps", "1", "--workflow", "a\u001b[2J"], "seen"],
  ["more money than there is", ["--max-cost", "1e308"], "1000000"],
  ["less than nothing", ["--max-cost=-1"], ">=0"],
  ["what is no number", ["--max-tokens", "NaN"], "expected number"],
  ["no limit at all", [], "limits nothing"],
])("a budget of %s is refused", async (_, args, says) => {
  const { code, stderr } = await pawl(["budgets", "set", ...args], { cwd: newApplication() });
  expect(stderr).toContain(says);
  expect(code).toBe(2);
});
