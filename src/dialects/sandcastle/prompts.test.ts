import { describe, expect, test } from "vitest";
import { evaluate } from "../../core/expressions/evaluate.ts";
import type { PathExpr } from "../../core/expressions/expr.ts";
import { readPath } from "../../core/expressions/read-path.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { loadDefinition } from "../load-definition.ts";

interface Around {
  readonly input?: JsonObject;
  readonly steps?: JsonObject;
  readonly item?: Json;
  readonly index?: number;
}

/** The prompt of the last step of a definition, as it would be sent. */
async function renderPrompt(text: string, around: Around = {}): Promise<Json | undefined> {
  const { graph, problems } = await loadDefinition({ text });
  expect(problems.filter((problem) => problem.severity === "error")).toEqual([]);
  const step = graph?.flow.steps.at(-1);
  if (step?.kind !== "task") throw new Error("The last step is no task.");
  const bound = evaluate(step.input, { path: (path) => readRoot(path, around) });
  return isJsonObject(bound) ? bound["prompt"] : undefined;
}

function readRoot({ root, name = "", path }: PathExpr, around: Around): Json | undefined {
  if (root === "input") return readPath(around.input ?? {}, path);
  if (root === "steps") return readPath(around.steps ?? {}, [name, ...path]);
  if (root === "item") return readPath(around.item, path);
  if (root === "index") return around.index;
  if (root === "run") return readPath({ id: "run-1", date: "2026-05-01" }, path);
  return undefined;
}

function workflow(prompt: string, more = ""): string {
  return `name: x\nsteps:\n  - id: a-b\n    prompt: First.\n  - id: c\n    depends_on: [a-b]\n    context: explicit\n${more}    prompt: ${JSON.stringify(prompt)}\n`;
}

describe("a prompt", () => {
  const input = { items: ["a", "b", "c"], deep: { er: { x: 1 } }, nothing: null };
  const steps = { "a-b": { key: "value", list: [{ n: 1 }] } };
  const cases: { readonly [prompt: string]: string } = {
    "{input.items.1}": "b",
    "{input.items[2]}": "c",
    "{input.deep.er}": '{"x": 1}',
    "Result: {steps.a-b.output}": 'Result: {"key": "value", "list": [{"n": 1}]}',
    "{steps.a-b.output.key} {steps.a-b.output.list.0.n}": "value 1",
    "Keep {unknown.var} as is": "Keep {unknown.var} as is",
    "{input.missing} {steps.a-b.output.missing}": "{input.missing} {steps.a-b.output.missing}",
    "{input.nothing}": "null",
    '{"a": 1, "b": {"c": [1, 2]}} {} { } {a}': '{"a": 1, "b": {"c": [1, 2]}} {} { } {a}',
    '{"a": {input.items.0}}': '{"a": a}',
    "{run_id} {date}": "run-1 2026-05-01",
    [`\${input.items.0} \${HOME} $5`]: `$a \${HOME} $5`,
    "line\n{input.items.0}\n": "line\na\n",
  };
  for (const [prompt, expected] of Object.entries(cases)) {
    test(`${JSON.stringify(prompt)} is sent as ${JSON.stringify(expected)}`, async () => {
      expect(await renderPrompt(workflow(prompt), { input, steps })).toBe(expected);
    });
  }

  test("is not expanded twice", async () => {
    expect(await renderPrompt(workflow("{input.a}"), { input: { a: "{input.b}", b: "secret" } })).toBe("{input.b}");
  });
});

describe("outputs of direct dependencies that the prompt does not mention", () => {
  const text =
    "name: x\nsteps:\n  - {id: a, prompt: A.}\n  - {id: b, prompt: B.}\n  - {id: c, depends_on: [a, b], prompt: 'Use {steps.a.output.x}.'}\n";

  test("are appended, those that it mentions are not", async () => {
    const prompt = await renderPrompt(text, { steps: { a: { x: 1 }, b: { y: 2 } } });
    expect(prompt).toBe('Use 1.\n\nContext from previous steps:\n[b]: {"y": 2}');
  });

  test("are not appended where they are the list of the fan-out, unless the prompt reads nothing of an item", async () => {
    const over = (prompt: string) =>
      `name: x\nsteps:\n  - {id: a, prompt: A.}\n  - {id: c, depends_on: [a], parallel_over: steps.a.output.list, prompt: '${prompt}'}\n`;
    const steps = { a: { list: [{ site: "x.org" }] } };
    expect(await renderPrompt(over("Read {input._item.site}."), { steps, item: { site: "x.org" } })).toBe(
      "Read x.org.",
    );
    expect(await renderPrompt(over("Read them."), { steps, item: { site: "x.org" } })).toContain("[a]: ");
  });

  test("are appended as `null` where the step was skipped", async () => {
    expect(await renderPrompt(text, { steps: { a: { x: 1 }, b: null } })).toContain("[b]: null");
  });

  test("are not appended where the context is explicit", async () => {
    expect(await renderPrompt(`context: explicit\n${text}`, { steps: { a: { x: 1 }, b: 2 } })).toBe("Use 1.");
  });
});

describe("inside a fan-out", () => {
  const fanOut = (prompt: string) =>
    `name: x\nsteps:\n  - id: a\n    parallel_over: input.list\n    prompt: ${JSON.stringify(prompt)}\n`;
  const around = { input: { list: [], name: "of the input" }, item: { name: "of the item", site: "s" }, index: 3 };

  test("a name that the input has is the input's, another is the item's", async () => {
    expect(await renderPrompt(fanOut("{input.name} {input.site}"), around)).toBe("of the input s");
  });

  test("the item has the names `item`, `input._item` and its index `input._index`", async () => {
    expect(await renderPrompt(fanOut("{item.site} {input._item.site} {input._index} {item}"), around)).toBe(
      's s 3 {"name": "of the item", "site": "s"}',
    );
  });

  test("a workflow that was called once per item finds the item in its input", async () => {
    const text = "name: x\nsteps:\n  - {id: a, prompt: '{input._item.site} {input._index}'}\n";
    expect(await renderPrompt(text, { input: { _item: { site: "s" }, _index: 1 } })).toBe("s 1");
  });
});
