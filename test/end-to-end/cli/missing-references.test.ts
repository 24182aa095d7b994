import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const SHOPS = `
name: shops
steps:
  - {id: a, prompt: "Say {input.nmae}."}
  - {id: b, depends_on: [a], prompt: "Use {steps.a.output.text} for {input.hwo}."}
`;

async function lastRun(cwd: string): Promise<string> {
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  return JSON.parse(stdout).data.items[0].run_id;
}

test("a reference that leads nowhere is told while the run goes on, and shown with its step afterwards", async () => {
  const cwd = application({ "shops.yaml": SHOPS });
  const { code, stdout, stderr } = await pawl(["run", "shops.yaml", "--agent", "simulated", "-i", "who=Ann"], { cwd });
  expect(code).toBe(0);
  expect(stdout + stderr).toContain("a read {input.nmae}, which led nowhere");
  expect(stdout + stderr).toContain("b read {input.hwo}, which led nowhere");
  const id = await lastRun(cwd);
  const page = await pawl(["runs", "show", id], { cwd });
  expect(page.stdout).toContain("missing   a: {input.nmae} led nowhere");
  const { stdout: json } = await pawl(["runs", "show", id, "--json"], { cwd });
  const { steps } = JSON.parse(json).data;
  expect(steps.map(({ missing }: { missing?: string[] }) => missing)).toEqual([["{input.nmae}"], ["{input.hwo}"]]);
});

test("an entry of inputMapping that leads nowhere is recorded too; optional facts of the request are not", async () => {
  const cwd = application({
    "one.yaml": `
workflowId: one
startAt: keep
steps:
  keep: {type: mcp, target: core.state.getRuntimeValue, inputMapping: {key: "'a'", appId: trigger.payload.tetx}, end: true}
`,
  });
  await pawl(["run", "one.yaml", "-i", "text={}"], { cwd });
  const { stdout } = await pawl(["runs", "show", await lastRun(cwd), "--json"], { cwd });
  const [step] = JSON.parse(stdout).data.steps;
  expect(step.missing).toHaveLength(1);
  expect(step.missing[0]).toContain("tetx");
});

test("a name that a closed schema rules out is an error before anything is paid, and a warning with --lenient", async () => {
  const cwd = application({
    "closed.yaml": `
name: closed
input_schema: {additionalProperties: false, properties: {who: {type: string}}}
steps:
  - {id: a, prompt: "Say {input.anything}.", output_schema: {type: object, additionalProperties: false, properties: {title: {type: string}}}}
  - {id: b, depends_on: [a], prompt: "Use {steps.a.output.zebra}."}
`,
  });
  const strict = await pawl(["validate", "closed.yaml"], { cwd });
  expect(strict.code).not.toBe(0);
  expect((strict.stdout + strict.stderr).match(/does not declare/g)).toHaveLength(2);
  expect((await pawl(["validate", "closed.yaml", "--lenient"], { cwd })).code).toBe(0);
});

const CALLER = `
name: caller
steps:
  - {id: call, type: sub_workflow, sub_workflow: {workflow: child, input_mapping: {who: input.hwo}}}
  - {id: ask, type: approval, depends_on: [call], approval_config: {message: "Send it to {input.nmae}?"}}
`;
const CHILD = "name: child\nsteps:\n  - {id: a, prompt: Say hello.}\n";

test("references of calls and of questions are recorded as those of prompts are", async () => {
  const cwd = application({ "caller.yaml": CALLER, "workflows/child.yaml": CHILD });
  const { stdout, stderr } = await pawl(["run", "caller.yaml", "--agent", "simulated"], { cwd });
  const id = await lastRun(cwd);
  const { stdout: json } = await pawl(["runs", "show", id, "--json"], { cwd });
  const { steps } = JSON.parse(json).data;
  const missing = steps.flatMap(({ path, missing }: { path: string; missing?: string[] }) =>
    missing === undefined ? [] : [[path, missing]],
  );
  expect(missing, stdout + stderr + json).toEqual([
    ["call", [expect.stringContaining("hwo")]],
    ["ask", [expect.stringContaining("nmae")]],
  ]);
});

test("`references: lenient` records nothing, and nothing fails", async () => {
  const text = `
name: lenient
references: lenient
input_schema: {additionalProperties: false, properties: {who: {type: string}}}
steps:
  - {id: a, prompt: "Say {input.whoo}."}
`;
  const cwd = application({ "lenient.yaml": text });
  const { code, stdout, stderr } = await pawl(["run", "lenient.yaml", "--agent", "simulated"], { cwd });
  expect(code, stdout + stderr).toBe(0);
  expect(stdout + stderr).not.toContain("led nowhere");
  const { stdout: json } = await pawl(["runs", "show", await lastRun(cwd), "--json"], { cwd });
  expect(JSON.parse(json).data.steps[0].missing).toBeUndefined();
});

const GUARDED = `
workflowId: guarded
startAt: read
steps:
  read: {type: mcp, target: core.state.getRuntimeValue, inputMapping: {key: "'a'"}, transitions: {onSuccess: pick}}
  pick:
    type: control
    subtype: branch
    branches:
      - {condition: "steps.read.output.sumary == 'good'", nextStep: good}
      - {condition: "defined(steps.read.output.note) && trigger.payload.aproved == true", nextStep: good}
      - {condition: "trigger.payload.who == null", nextStep: good}
    default: other
  good: {type: control, subtype: formatResponse, data: {done: "'yes'"}}
  other: {type: control, subtype: formatResponse, data: {done: "'no'"}}
`;

test("a name that the schema of what comes in rules out is an error in an expression of UHLP too", async () => {
  const schema = "inputSchema: {additionalProperties: false, properties: {approved: {}, who: {}}}";
  const cwd = application({
    "guarded.yaml": `${GUARDED}${schema}\n`,
    "lenient.yaml": `${GUARDED}${schema}\nreferences: lenient\n`,
  });
  const { code, stdout, stderr } = await pawl(["validate", "guarded.yaml"], { cwd });
  expect(code).not.toBe(0);
  expect(stdout + stderr).toMatch(/`inputSchema` does not declare `aproved`[\s\S]*Did you mean `approved`/);
  expect((await pawl(["validate", "lenient.yaml"], { cwd })).code).toBe(0);
});

test("what a condition compares and is not there is recorded, of outputs and of the input; whether something is there may be asked", async () => {
  const cwd = application({ "guarded.yaml": GUARDED });
  const { stdout, stderr } = await pawl(["run", "guarded.yaml", "-i", "approved=true", "-i", "who=Ann"], { cwd });
  expect(stdout + stderr).toContain("which led nowhere");
  const id = await lastRun(cwd);
  const { stdout: json } = await pawl(["runs", "show", id, "--json"], { cwd });
  const { missing, steps } = JSON.parse(json).data;
  expect(missing, json).toEqual(["trigger.payload.aproved"]);
  const [read] = steps.filter(({ path }: { path: string }) => path.startsWith("read"));
  expect(read.missing).toEqual([expect.stringContaining("sumary")]);
  const page = await pawl(["runs", "show", id], { cwd });
  expect(page.stdout).toContain("missing   conditions: ");
});

test("what is calculated with a value that is not there is recorded, also in a condition over a list", async () => {
  const text = `
workflowId: total
startAt: pick
steps:
  pick:
    type: control
    subtype: branch
    branches:
      - {condition: "sum(trigger.payload.items, i => i.price * i.cuont) > 100", nextStep: big}
    default: small
  big: {type: control, subtype: formatResponse, data: {size: "'big'"}}
  small: {type: control, subtype: formatResponse, data: {size: "'small'", total: "trigger.payload.totl + 1"}}
`;
  const cwd = application({ "total.yaml": text });
  const { stderr } = await pawl(["run", "total.yaml", "--input", '{"items":[{"price":60,"count":2}]}'], { cwd });
  expect(stderr).toContain("i.cuont");
  expect(stderr).toContain("trigger.payload.totl");
});
