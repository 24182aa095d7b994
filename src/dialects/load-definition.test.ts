import { describe, expect, test } from "vitest";
import { loadDefinition } from "./load-definition.ts";

async function codesOf(text: string): Promise<string[]> {
  return (await loadDefinition({ text })).problems.map((problem) => problem.code);
}

describe("the dialect", () => {
  test("is that of the key `dialect` where there is one", async () => {
    expect(await codesOf("dialect: agents\nsteps: []\n")).toEqual(["PART_NOT_CHOSEN", "UNKNOWN_KEY"]);
  });

  const shapes = {
    "a list `steps` is sandcastle": "name: x\nsteps: [{id: a, prompt: hi}]\n",
    "`startAt` and a map `steps` is uhlp": "workflowId: w\nstartAt: a\nsteps: {a: {type: mcp, target: t, end: true}}\n",
    "`initial_state` is terminal":
      '{"name": "x", "initial_state": "a", "states": {"a": {"action": {"tool": "exit_terminal", "params": {}}}}}',
    "`agents` is agents": '{"agents": [{"name": "A"}]}',
    "a list of components is agents": '[{"type": "agent", "name": "A"}]',
    "one component is agents": '{"type": "linear_workflow", "name": "W", "steps": []}',
  };
  for (const [rule, text] of Object.entries(shapes)) {
    test(rule, async () => {
      const { graph } = await loadDefinition({ text });
      expect(graph?.dialect).toBe(/ is (\w+)$/.exec(rule)?.[1]);
    });
  }

  test("is unknown where nothing fits, and the remedy shows the four shapes", async () => {
    const { problems } = await loadDefinition({ text: "name: x\nfoo: bar\n" });
    expect(problems.map((problem) => problem.code)).toEqual(["DIALECT_UNKNOWN"]);
    for (const shape of ["sandcastle", "uhlp", "terminal", "agents"]) expect(problems[0]?.remedy).toContain(shape);
  });
});

test("a remedy never proposes what was written: `steps` of another kind is to be a list", async () => {
  for (const steps of ["{first: {prompt: hi}}", "7", "first"]) {
    const { problems } = await loadDefinition({ text: `name: x\nsteps: ${steps}\n` });
    expect(problems[0]?.remedy).toMatch(/^Write `steps` as a list/);
    expect(problems[0]?.remedy).not.toContain("Did you mean");
  }
});

test("problems name the file and the exact place", async () => {
  const { problems } = await loadDefinition({
    text: "name: x\nsteps:\n  - id: a\n    prompt: [no]\n",
    file: "flow.yaml",
  });
  expect(problems[0]?.place).toEqual({ file: "flow.yaml", line: 4, column: 13, endLine: 4, endColumn: 17 });
});

test("a definition of more than 1 MB is refused, in bytes", async () => {
  expect(await codesOf(`name: x # ${"ä".repeat(600_000)}\nsteps: [{id: a, prompt: hi}]\n`)).toEqual(["TOO_LARGE"]);
  expect(await codesOf(`name: x # ${"a".repeat(600_000)}\nsteps: [{id: a, prompt: hi}]\n`)).toEqual([]);
});

test("500 steps are allowed, 501 are not", async () => {
  const withSteps = (count: number) =>
    `name: x\nsteps:\n${Array.from({ length: count }, (_, index) => `  - {id: s${index}, prompt: hi}\n`).join("")}`;
  expect(await codesOf(withSteps(500))).toEqual([]);
  expect(await codesOf(withSteps(501))).toEqual(["TOO_MANY_STEPS"]);
});
