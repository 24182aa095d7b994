import { describe, expect, onTestFinished, test } from "vitest";
import { startFakeModelServer } from "../../fakes/model-server/fake-model-server.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";

const FILES = {
  "workflows/rate.yaml": `
workflowId: rate
startAt: rate
steps:
  rate:
    type: llm
    target: {promptTemplate: prompts/rate.yaml, parameters: {temperature: 0}}
    inputMapping: {ticket: trigger.requestData.payload}
    transitions: {end: true}
  greet:
    type: llm
    target: {prompt: "Greet {{ name }}.", model: "mock:"}
    inputMapping: {name: trigger.requestData.payload.name}
    transitions: {end: true}
  code:
    type: control
    subtype: formatResponse
    resultType: generic
    data: {a: 1}
    transitions: {end: true}
`,
  "prompts/rate.yaml": `
model: fake:claude-haiku-4-5
template: |
  Rate this ticket:
  {{ ticket | tojson }}
outputSchema: {type: object, properties: {urgency: {enum: [low, high]}}, required: [urgency]}
`,
  "prompts/bad.yaml": "template: |\n  Rate:\n  {{ ticket | }}\n",
  "plain.txt": "Hello {{ name }}.",
};

describe("pawl prompt render", () => {
  test("prints what a model would be asked: a prompt file, a step of a workflow, a bare template", async () => {
    const cwd = application(FILES);
    const render = (...args: readonly string[]) => pawl(["prompt", "render", ...args], { cwd });
    expect(await render("prompts/rate.yaml", "-i", 'ticket={"id": 1}')).toMatchObject({
      code: 0,
      stdout: 'Rate this ticket:\n{"id": 1}\n',
    });
    expect(await render("rate:rate", "-i", "ticket=x")).toMatchObject({ stdout: 'Rate this ticket:\n"x"\n' });
    expect(await render("workflows/rate.yaml:greet", "-i", "name=Ada")).toMatchObject({ stdout: "Greet Ada.\n" });
    expect(await render("plain.txt", "-i", "name=Ada")).toMatchObject({ stdout: "Hello Ada.\n" });
  });

  test("--json says what goes with it, the step's own words first", async () => {
    const { stdout } = await pawl(["prompt", "render", "rate:rate", "--json", "-i", "ticket=1"], {
      cwd: application(FILES),
    });
    expect(JSON.parse(stdout)).toMatchObject({
      data: {
        prompt: "Rate this ticket:\n1",
        model: "fake:claude-haiku-4-5",
        parameters: { temperature: 0 },
        outputSchema: { required: ["urgency"] },
      },
      error: null,
    });
  });

  test("what is missing is shown in its line", async () => {
    const { code, stderr } = await pawl(["prompt", "render", "rate:rate"], { cwd: application(FILES) });
    expect(code).toBe(3);
    expect(stderr).toContain("at line 2, column 4: `ticket` has no value; the input has nothing.");
    expect(stderr).toContain("  2 | {{ ticket | tojson }}\n    |    ^^^^^^\n");
  });

  test("a prompt file with a mistake is shown with its place, also by validate", async () => {
    const cwd = application({
      ...FILES,
      "workflows/rate.yaml": FILES["workflows/rate.yaml"].replace("prompts/rate.yaml", "prompts/bad.yaml"),
    });
    const rendered = await pawl(["prompt", "render", "prompts/bad.yaml"], { cwd });
    expect(rendered).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("prompts/bad.yaml:3:15 error PROMPT_INVALID"),
    });
    const validated = await pawl(["validate", "workflows/rate.yaml"], { cwd });
    expect(validated).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("prompts/bad.yaml:3:15 error PROMPT_INVALID"),
    });
  });

  const wrong: readonly (readonly [string, number, string])[] = [
    ["nope.yaml", 5, "FILE_NOT_FOUND"],
    ["rate:nope", 5, "STEP_NOT_FOUND"],
    ["nobody:rate", 5, "WORKFLOW_NOT_FOUND"],
    ["rate:code", 3, "NOT_SUPPORTED"],
    ["workflows/rate.yaml", 3, "KEY_MISSING"],
  ];
  test.each(wrong)("%s", async (reference, code, said) => {
    const result = await pawl(["prompt", "render", reference], { cwd: application(FILES) });
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(said) });
  });
});

describe("a step that asks a model", () => {
  test("goes on after the last turn when the process was killed in the next", async () => {
    const server = await startFakeModelServer({
      replies: [{ do: "say", text: "It is urgent." }, { do: "hang" }, { do: "say", text: '{"urgency": "high"}' }],
    });
    onTestFinished(() => server.close());
    const cwd = application({
      ...FILES,
      "pawl.yaml": `models: {providers: {fake: {kind: anthropic, base_url: "${server.url}", api_key: sk-test-123456}}}`,
    });
    const first = startPawl(["run", "rate", "-i", "text=Help"], { cwd });
    const id = await first.runId();
    await expect.poll(() => server.requests.length).toBe(2);
    first.kill("SIGKILL");
    await first.ended;

    expect(await pawl(["runs", "resume", id], { cwd })).toMatchObject({ code: 0 });
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]?.body["messages"]).toEqual(server.requests[1]?.body["messages"]);

    const { stdout } = await pawl(["runs", "show", id, "--json"], { cwd });
    const { data } = JSON.parse(stdout);
    expect(data).toMatchObject({
      status: "completed",
      outputs: { urgency: "high" },
      // Haiku 4.5, 20 tokens in and 10 out, paid twice: the call that was cut off cost nothing that anyone knows of.
      total_cost_usd: 0.00014,
      steps: [{ input_prompt: 'Rate this ticket:\n{"text": "Help"}', usage: { calls: 2, input_tokens: 40 } }],
    });
    expect(stdout).not.toContain("sk-test-123456");
  });
});
