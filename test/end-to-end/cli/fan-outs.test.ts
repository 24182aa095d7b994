import { describe, expect, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const COMPANIES = JSON.stringify([{ name: "A" }, { name: "B" }, { name: "C" }, { name: "D" }, { name: "E" }]);

const EACH = `
name: each
steps:
  - {id: first, prompt: Begin.}
  - {id: look, depends_on: [first], parallel_over: input.companies, prompt: "Look at {input.name}."}
`;

const SUMMARY = `
name: summary
steps:
  - {id: look, parallel_over: input.companies, prompt: "Look at {input.name}."}
  - {id: sum, depends_on: [look], prompt: "Sum {steps.look.output} up in a {input.tone} voice."}
`;

async function run(files: Readonly<Record<string, string>>, ...inputs: readonly string[]) {
  const cwd = application(files);
  const [file = ""] = Object.keys(files);
  const { code, stderr, stdout } = await pawl(
    ["run", file, "--agent", "simulated", ...inputs.flatMap((each) => ["-i", each])],
    { cwd },
  );
  const runs = JSON.parse((await pawl(["runs", "ls", "--json"], { cwd })).stdout).data.items;
  const shown = await Promise.all(
    runs.map(
      async ({ run_id: id }: { run_id: string }) => (await pawl(["runs", "show", id, "--json"], { cwd })).stdout,
    ),
  );
  const steps: readonly { status: string; attempt: number; path: string }[] = shown.flatMap(
    (text: string) => JSON.parse(text).data.steps,
  );
  return { code, said: stdout + stderr, runs: runs.length, calls: steps.filter(({ attempt }) => attempt > 0).length };
}

describe("a fan-out over what is no list is refused before a run begins", () => {
  for (const [value, is] of [
    [`{"a":1}`, "an object"],
    ["A, B", "a text"],
    ["7", "a number"],
  ] as const) {
    test(`the input is ${is}`, async () => {
      const { code, said, runs } = await run({ "each.yaml": EACH }, `companies=${value}`);
      expect(said).toContain(`Step 'look': It fans out over ${is}, not over a list.`);
      expect([code, runs]).toEqual([3, 0]);
    });
  }

  test("a schema says so", async () => {
    const files = { "each.yaml": `${EACH}input_schema: {properties: {companies: {type: object}}}\n` };
    const { said } = await run(files, "other=1");
    expect(said).toContain("fans out over a value of type object");
    const ofStep = EACH.replace(
      "prompt: Begin.",
      "prompt: Begin., output_schema: {type: object, properties: {all: {type: string}}}",
    );
    const { said: second } = await run({ "each.yaml": ofStep.replace("input.companies", "steps.first.output.all") });
    expect(second).toContain("fans out over a value of type string");
  });

  test("it is written so in another dialect", async () => {
    const loop = `
workflowId: loop
startAt: all
steps:
  all: {type: control, target: loop, list: {a: 1}, iteratorVar: x, body: one, transitions: {end: true}}
  one: {type: llm, target: {model: mock:model, prompt: Hi.}, transitions: {end: true}}
`;
    const { code, said } = await run({ "loop.yaml": loop });
    expect(said).toContain("fans out over an object");
    expect(code).toBe(3);
  });
});

test("a fan-out over what a step has made and is no list fails there, and no item is paid", async () => {
  const schema = "output_schema: {anyOf: [{type: object, properties: {a: {type: string}}, required: [a]}]}";
  const made = EACH.replace("input.companies", "steps.first.output").replace("Begin.", `Begin., ${schema}`);
  const { code, said, calls } = await run({ "each.yaml": made });
  expect(code).not.toBe(0);
  expect(said).toContain("LIST_MISSING");
  expect(calls).toBe(1);
});

test("an optional name that the input has not changes no shape: what no item has is no field of theirs", async () => {
  const without = await run({ "summary.yaml": SUMMARY }, `companies=${COMPANIES}`);
  const given = await run({ "summary.yaml": SUMMARY }, `companies=${COMPANIES}`, "tone=calm");
  expect([without.calls, given.calls]).toEqual([6, 6]);
  const cwd = application({ "summary.yaml": SUMMARY });
  const planned = await pawl(["plan", "summary.yaml", "-i", `companies=${COMPANIES}`, "--json"], { cwd });
  expect(JSON.parse(planned.stdout).data.steps.map(({ runs }: { runs: unknown }) => runs)).toHaveLength(2);
});
