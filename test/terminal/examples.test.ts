import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import type { RunWorkflowResponse } from "../../src/operations/terminals/run-workflow-tool.ts";
import { type TestApplication, testApplication } from "./test-application.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/terminal", import.meta.url));
const LIBRARY = ".terminal_control_workflows";
const STAGES = ["build_release.json", "deploy_release.json", "lint_code.json", "notify_team.json", "run_tests.json"];
const SECONDS = 1_000;

const readJson = (file: string) => JSON.parse(readFileSync(join(EXAMPLES, file), "utf8")) as JsonObject;

/** The examples in a folder of their own, with terminals as strict as they are unless told otherwise. */
async function copyOfExamples(): Promise<TestApplication> {
  const application = await testApplication({}, { level: "high" });
  cpSync(EXAMPLES, application.app.appDir, { recursive: true });
  return application;
}

function statesOf({ execution_log }: RunWorkflowResponse): readonly string[] {
  return execution_log.map(({ state }) => state);
}

async function namesOfOpenSessions({ terminals }: TestApplication): Promise<readonly string[]> {
  const { sessions } = await terminals.sessions.call("list_terminal_sessions", {}, { isInternal: true });
  return sessions.filter(({ state }) => state !== "terminated").map(({ command }) => command);
}

test.each([
  "hello.json",
  "branch-on-tests.json",
  "debug-with-user.json",
  "ci-pipeline.json",
  ...STAGES.map((name) => `${LIBRARY}/${name}`),
])("%s has no mistakes but variables that come from outside", async (file) => {
  const { problems } = await loadDefinition({ text: readFileSync(join(EXAMPLES, file), "utf8"), file });
  expect(problems.filter(({ code }) => code !== "VARIABLE_UNKNOWN")).toEqual([]);
});

test("the library of the examples is whole, and what is in it is not saved again", async () => {
  const { app, library } = await copyOfExamples();
  expect(readdirSync(join(app.appDir, LIBRARY)).sort()).toEqual([...STAGES, "index.json"].sort());
  for (const { name } of await library.list()) {
    const definition = await library.load(name);
    expect(await library.save(definition ?? {}, { states: 1 })).toBeUndefined();
  }
  expect(await library.list()).toHaveLength(STAGES.length);
});

test(
  "the linear one greets, whatever the name",
  async () => {
    const application = await copyOfExamples();
    const who = `O'Neill "$HOME" {who} (.*)`;
    const result = await application.run({
      workflow_definition: readJson("hello.json"),
      initial_variables: { who },
    });
    expect(result).toMatchObject({ success: true, final_state: "close", states_executed: 4, workflow_saved: true });
    expect(result.final_variables["match_text"]).toBe(`Hello, ${who}!`);
    expect(await namesOfOpenSessions(application)).toEqual([]);
  },
  60 * SECONDS,
);

test.each([
  ["src/total.sh", ["open", "test", "wait", "passed", "close"], "3 passing"],
  ["broken/total.sh", ["open", "test", "wait", "failed", "close"], "1 failing"],
])(
  "the branching one goes on by what the tests of %s print",
  async (program, states, match_text) => {
    const application = await copyOfExamples();
    const workflow_definition = readJson("branch-on-tests.json");
    const result = await application.run({ workflow_definition, initial_variables: { program } });
    expect(result).toMatchObject({ success: true, final_variables: { match_text } });
    expect(statesOf(result)).toEqual(states);
    const failed = result.execution_log.find(({ state }) => state === "failed");
    expect(String(failed?.result["screen_content"] ?? "")).toContain(
      failed === undefined ? "" : "total of 5 -3: expected 2, found 8",
    );
    expect(await namesOfOpenSessions(application)).toEqual([]);
  },
  60 * SECONDS,
);

test(
  "the interactive one does what the person at the terminal says",
  async () => {
    const application = await copyOfExamples();
    const { sessions } = application.terminals;
    const answers = ["list please", "s", "what?", "c", "q"];
    const typing: Promise<unknown>[] = [];
    const type = async (answer: string | undefined) => {
      const [session] = (await sessions.call("list_terminal_sessions", {}, { isInternal: true })).sessions;
      return sessions.call("send_input", { session_id: session?.session_id ?? "", input_text: `${answer}\n` });
    };
    const result = await application.run(
      { workflow_definition: readJson("debug-with-user.json") },
      { progress: ({ state }) => void (state === "answer" && typing.push(type(answers.shift()))) },
    );
    expect(await Promise.all(typing)).toMatchObject(Array.from({ length: 5 }, () => ({ success: true })));
    expect(result).toMatchObject({ success: true, final_state: "close" });
    const asked = statesOf(result).filter((state) => !["ready", "ask", "answer"].includes(state));
    expect(asked).toEqual(["open", "start", "list", "step", "continue", "quit", "close"]);
    const shownAfter = (state: string) =>
      String(result.execution_log[statesOf(result).indexOf(state) + 1]?.result["screen_content"]);
    expect(shownAfter("list")).toContain("total += number");
    expect(shownAfter("continue")).toContain("The average is 5.0");
    expect(await namesOfOpenSessions(application)).toEqual([]);
  },
  60 * SECONDS,
);

test(
  "the pipeline lints, tests, builds, deploys and tells the team",
  async () => {
    const application = await copyOfExamples();
    const { app } = application;
    const result = await application.run({ workflow_definition: readJson("ci-pipeline.json") });
    expect(result).toMatchObject({ success: true, final_state: "deployed", recursion_depth: 1, workflow_saved: true });
    expect(statesOf(result)).toEqual(["lint", "test", "build", "deploy", "deployed"]);
    expect(result.available_workflows).toHaveLength(STAGES.length + 1);
    expect(readFileSync(join(app.appDir, "deployed/prod/total.sh"), "utf8")).toContain("total=0");
    expect(readFileSync(join(app.appDir, "notices.txt"), "utf8")).toBe("deploy: The new release is in prod\n");
    expect(await namesOfOpenSessions(application)).toEqual([]);
  },
  60 * SECONDS,
);

test.each<[string, (appDir: string) => void, readonly string[], string]>([
  [
    "code that does not pass the lint",
    (appDir) => writeFileSync(join(appDir, "src/untidy.sh"), "echo blanks  \n"),
    ["lint", "lint_failed"],
    "lint",
  ],
  [
    "a test that fails",
    (appDir) => cpSync(join(appDir, "broken/total.sh"), join(appDir, "src/total.sh")),
    ["lint", "test", "test_failed"],
    "test",
  ],
  [
    "a build that fails",
    (appDir) => writeFileSync(join(appDir, "build"), "in the way"),
    ["lint", "test", "build", "build_failed"],
    "build",
  ],
])(
  "the pipeline tells the team of %s, and deploys nothing",
  async (_, damage, states, stage) => {
    const application = await copyOfExamples();
    const { appDir } = application.app;
    damage(appDir);
    const result = await application.run({ workflow_definition: readJson("ci-pipeline.json") });
    expect(result).toMatchObject({ success: true, final_state: `${stage}_failed` });
    expect(statesOf(result)).toEqual(states);
    expect(readFileSync(join(appDir, "notices.txt"), "utf8")).toBe(
      `${stage}: Failed: No transition of "wait" holds.\n`,
    );
    expect(existsSync(join(appDir, "deployed"))).toBe(false);
    expect(await namesOfOpenSessions(application)).toEqual([]);
  },
  60 * SECONDS,
);
