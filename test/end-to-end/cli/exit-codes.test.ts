import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const FAILING = `
steps:
  answer: {fail: AGENT_FAILED, retryable: false, message: No luck today.}
  dear: {fail: AGENT_FAILED, retryable: false, cost_usd: 1}
`;

const BROKEN = `
name: broken
steps:
  - id: a
    prompt: "{steps.nowhere.output}"
  - id: a
    prompt: twice
    depends_on: [b]
`;

const NEEDS_TEXT = `
name: strict
input_schema:
  type: object
  required: [question]
  properties:
    question: {type: string}
steps:
  - id: answer
    prompt: "{input.question}"
`;

const TWICE = `
name: twice
steps:
  - id: dear
    prompt: First.
    retry: {on_failure: skip}
  - id: draft
    depends_on: [dear]
    prompt: Second.
`;

const DEAR = `
steps:
  dear: {reply: "At last.", delay_ms: 0, cost_usd: 0.01}
`;

const FILES = {
  "twice.yaml": TWICE,
  "question.yaml": QUESTION,
  "review.yaml": REVIEW,
  "broken.yaml": BROKEN,
  "strict.yaml": NEEDS_TEXT,
  "at-once.yaml": AT_ONCE,
  "failing.yaml": FAILING,
  "dear.yaml": DEAR,
};

const AGENT = ["--agent", "simulated:at-once.yaml"];

const cases: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: string;
}[] = [
  {
    name: "a completed run",
    args: ["run", "question.yaml", "-i", "question=why", ...AGENT],
    code: 0,
    says: "completed",
  },
  {
    name: "a failed run",
    args: ["run", "question.yaml", "-i", "question=why", "--agent", "simulated:failing.yaml"],
    code: 1,
    says: "No luck today.",
  },
  { name: "no command", args: [], code: 2, says: "Usage: pawl" },
  { name: "an unknown command", args: ["rum"], code: 2, says: "USAGE" },
  { name: "an unknown option", args: ["run", "question.yaml", "--fast"], code: 2, says: "USAGE" },
  { name: "an unknown agent", args: ["run", "question.yaml", "--agent", "me"], code: 2, says: "USAGE" },
  { name: "no agent", args: ["run", "question.yaml"], code: 2, says: "SANDSTORM_URL" },
  { name: "an input that does not fit", args: ["run", "strict.yaml", ...AGENT], code: 2, says: "INPUT_INVALID" },
  { name: "a broken definition", args: ["run", "broken.yaml", ...AGENT], code: 3, says: "DEFINITION_INVALID" },
  { name: "a missing file", args: ["run", "missing.yaml", ...AGENT], code: 5, says: "File not found: missing.yaml" },
  { name: "a missing path", args: ["run", "no/where", ...AGENT], code: 5, says: "File not found: no/where" },
  {
    name: "a missing script",
    args: ["run", "question.yaml", "--agent", "simulated:no.yaml"],
    code: 5,
    says: "no.yaml",
  },
  { name: "an unknown name", args: ["run", "nowhere", ...AGENT], code: 5, says: "WORKFLOW_NOT_FOUND" },
  { name: "an unknown run", args: ["runs", "show", "0000"], code: 5, says: "RUN_NOT_FOUND" },
  { name: "an open approval", args: ["run", "review.yaml", ...AGENT], code: 6, says: "pawl approve" },
  {
    name: "a budget that is used up",
    args: ["run", "twice.yaml", "--max-cost", "0.01", "--agent", "simulated:failing.yaml"],
    code: 7,
    says: "budget",
  },
  {
    name: "a budget that is too little for an agent, whatever the step says of failures",
    args: ["run", "twice.yaml", "--max-cost", "0.005", "--agent", "simulated:dear.yaml"],
    code: 7,
    says: "BUDGET_EXCEEDED",
  },
  {
    name: "a run that has made the tries that it may make",
    args: ["run", "question.yaml", "-i", "question=why", "--max-steps", "0", ...AGENT],
    code: 7,
    says: "0 tries",
  },
];

test.each(cases)("$name ends with $code", async ({ args, code, says }) => {
  const result = await pawl(args, { cwd: application(FILES) });
  expect(result.stderr + result.stdout).toContain(says);
  expect(result.code).toBe(code);
});

test("what is refused before the start leaves no run behind", async () => {
  const cwd = application(FILES);
  await pawl(["run", "question.yaml"], { cwd });
  await pawl(["run", "missing.yaml", ...AGENT], { cwd });

  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  expect(JSON.parse(stdout)).toEqual({ data: { items: [], next_cursor: null }, error: null });
});

test("validate shows every problem at once, for people and for programs", async () => {
  const cwd = application(FILES);
  const forPeople = await pawl(["validate", "broken.yaml", "question.yaml"], { cwd });
  const forPrograms = await pawl(["validate", "broken.yaml", "--json"], { cwd });

  expect(forPeople.code).toBe(3);
  expect(forPeople.stdout).toContain("STEP_DUPLICATE");
  expect(forPeople.stdout).toContain("STEP_UNKNOWN");
  expect(forPeople.stdout).toContain("question.yaml is valid");
  const [report] = JSON.parse(forPrograms.stdout).data;
  expect(report).toMatchObject({ file: "broken.yaml", valid: false });
  expect(report.problems.length).toBeGreaterThanOrEqual(3);
});

test("--json answers with one envelope, also where the run failed or never began", async () => {
  const cwd = application(FILES);
  const completed = await pawl(["run", "question.yaml", "-i", "question=why", "--json", ...AGENT], { cwd });
  const failed = await pawl(["run", "question.yaml", "--json", "--agent", "simulated:failing.yaml"], { cwd });
  const refused = await pawl(["run", "missing.yaml", "--json"], { cwd });

  expect(JSON.parse(completed.stdout)).toMatchObject({
    data: { workflow_name: "question", status: "completed", outputs: { answer: "42" }, total_cost_usd: 0.01 },
    error: null,
  });
  expect(completed.stderr).toBe("");
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({
    data: { status: "failed", error: { code: "AGENT_FAILED" } },
    error: null,
  });
  expect(JSON.parse(refused.stdout)).toMatchObject({ data: null, error: { code: "FILE_NOT_FOUND" } });
});

test("--json=lines tells every event as it happens, then the run", async () => {
  const cwd = application(FILES);
  const { stdout } = await pawl(["run", "question.yaml", "--json=lines", ...AGENT], { cwd });

  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const types = lines.slice(0, -1).map(({ event }) => event.type);
  expect(types.at(0)).toBe("runStarted");
  expect(types.at(-1)).toBe("runFinished");
  expect(lines.at(-1)).toMatchObject({ data: { status: "completed" }, error: null });
});

test("an input is JSON where it parses and the schema does not ask for a text", async () => {
  const cwd = application({ ...FILES, "word.txt": "from a file" });
  const loose = await pawl(["run", "question.yaml", "-i", "question=42", "-i", "more=@word.txt", "--json", ...AGENT], {
    cwd,
  });
  const strict = await pawl(["run", "strict.yaml", "-i", "question=42", "--json", ...AGENT], { cwd });

  expect(JSON.parse(loose.stdout).data.input_data).toEqual({ question: 42, more: "from a file" });
  expect(JSON.parse(strict.stdout).data.input_data).toEqual({ question: "42" });
});

test("a registered workflow is found by its name", async () => {
  const cwd = application({ "workflows/deep/q.yaml": QUESTION, "at-once.yaml": AT_ONCE });
  expect(await pawl(["run", "question", ...AGENT], { cwd })).toMatchObject({ code: 0 });
});

test("a name found twice is an error that shows both places", async () => {
  const cwd = application({ "workflows/one.yaml": QUESTION, "workflows/two.yaml": QUESTION, "at-once.yaml": AT_ONCE });
  const { code, stderr } = await pawl(["run", "question", ...AGENT], { cwd });
  expect(code).toBe(3);
  expect(stderr).toContain("workflows/one.yaml and of workflows/two.yaml");
});

test("FILE#NAME names one workflow of a file", async () => {
  const cwd = application(FILES);
  expect(await pawl(["run", "question.yaml#question", ...AGENT], { cwd })).toMatchObject({ code: 0 });
  expect(await pawl(["run", "question.yaml#other", ...AGENT], { cwd })).toMatchObject({ code: 5 });
});

test("doctor says once which settings are accepted and not used", async () => {
  const cwd = application({
    ...FILES,
    ".env": "REDIS_URL=redis://u:secret-word@localhost/0\nSANDCASTLE_URL=https://server.test\n",
  });
  const doctor = await pawl(["doctor"], { cwd, env: { OPENAI_API_KEY: "sk-planted-word" } });
  const run = await pawl(["run", "question.yaml", ...AGENT], { cwd });
  const config = await pawl(["config", "--origin"], { cwd });

  expect(doctor).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /REDIS_URL is set and DATABASE_URL is not[\s\S]*\(\.env SANDCASTLE_URL\) is accepted/,
    ),
  });
  expect(doctor.stdout).toContain("model keys: of OpenAI");
  for (const line of [/ sandbox: /, / port: /]) expect(`${doctor.stdout}${doctor.stderr}`).toMatch(line);
  expect(`${doctor.stdout}${doctor.stderr}`).not.toMatch(/planted|secret-word/);
  expect(run.stderr).not.toMatch(/REDIS_URL|SANDCASTLE_URL/);
  expect(config.stdout).toContain(".env REDIS_URL");
  expect(config.stdout).not.toContain("secret-word");
});

test("stored files can be put, listed, read and removed", async () => {
  const cwd = application(FILES);
  await pawl(["storage", "put", "notes/a.yaml", "question.yaml"], { cwd });
  const listed = await pawl(["storage", "ls", "notes/", "--json"], { cwd });
  const read = await pawl(["storage", "get", "notes/a.yaml"], { cwd });
  await pawl(["storage", "rm", "notes/a.yaml"], { cwd });
  const gone = await pawl(["storage", "get", "notes/a.yaml"], { cwd });
  const outside = await pawl(["storage", "get", "../secret"], { cwd });

  expect(JSON.parse(listed.stdout).data.items).toMatchObject([{ path: "notes/a.yaml" }]);
  expect(read.stdout).toBe(QUESTION);
  expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining("STORAGE_MISSING") });
  expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining("STORAGE_PATH_INVALID") });
});

test("a stored webhook is mentioned", async () => {
  const hooked = `${QUESTION}on_complete:\n  webhook: https://example.com/hook\n`;
  const cwd = application({ ...FILES, "hooked.yaml": hooked });
  const { stderr } = await pawl(["run", "hooked.yaml", ...AGENT], { cwd });
  expect(stderr).toContain("1 webhook is stored and will be delivered by `pawl serve`.");
});

test("a likely misspelling stops a run before it begins, unless that is allowed", async () => {
  const cwd = application({ ...FILES, "doubtful.yaml": `${QUESTION.trimEnd()}\n    max_concurent: 3\n` });
  const strict = await pawl(["run", "doubtful.yaml", ...AGENT], { cwd });
  expect(strict).toMatchObject({ code: 3, stderr: expect.stringContaining("Did you mean `max_concurrent`?") });
  const { code, stdout, stderr } = await pawl(["run", "doubtful.yaml", ...AGENT, "--json", "--lenient"], { cwd });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { data: { status: "completed" } }]);
  expect(stderr).toMatch(/doubtful\.yaml:\d+:5 warning UNKNOWN_KEY `max_concurent`/);
  expect(stderr).toContain("Did you mean `max_concurrent`?");
});

test("what is not understood names the help of its own verb, and what is told once is not told again", async () => {
  const cwd = application({ file: "" });
  for (const [args, verb] of [
    [["rusn"], "pawl"],
    [["runs", "lss"], "pawl runs"],
    [["runs", "show"], "pawl runs show"],
    [["runs", "ls", "--limit", "0"], "pawl runs ls"],
  ] as const) {
    const { code, stderr } = await pawl(args, { cwd });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`See \`${verb} --help\`.`) });
  }
  const doctor = await pawl(["doctor", "--data", "file/data"], { cwd });
  expect(doctor).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/error CONFIG_INVALID data\.dir .*\n.*--data DIR/),
  });
});

test("what a run leaves is for nobody but its user, and the doctor tells of a folder that is for others too", async () => {
  const cwd = application({ "question.yaml": QUESTION, "answers.yaml": AT_ONCE });
  const data = join(cwd, ".pawl");
  await pawl(["run", "question.yaml", "-i", "question=Why?", "--agent", "simulated:answers.yaml"], { cwd });
  const files = [data, ...readdirSync(data, { recursive: true }).map((name) => join(data, String(name)))];
  const open = files.filter((file) => (statSync(file).mode & 0o077) !== 0);
  expect([files.length > 2, open]).toEqual([true, []]);
  chmodSync(data, 0o755);
  const { stderr } = await pawl(["doctor"], { cwd });
  expect(stderr).toMatch(/note.* data directory: .*can be read by other users.*\n.*chmod -R go= /);
});
