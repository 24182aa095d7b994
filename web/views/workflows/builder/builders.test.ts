import { expect, test } from "vitest";
import { beginningOf } from "../dialects.ts";
import type { Builder } from "./builder.ts";
import { builderOf } from "./builders.ts";
import { readDefinition, renameStep } from "./edit-text.ts";

const UHLP = `workflowId: w
startAt: a
steps:
  a: # first
    type: jit
    target: scripts/a.py#a
    transitions:
      conditionalTransitions:
        - { condition: step.output.ok, nextStep: c }
      onSuccess: b
      onFailureDefault: c
  b: { type: jit, target: scripts/a.py#b, transitions: { onSuccess: { end: true } } }
  c: { type: control, subtype: formatResponse, data: steps.a.output }
`;

const uhlp = take("uhlp");
const terminal = take("terminal");

test("a step of a machine is put on the way of the one before it", () => {
  const text = add(uhlp, UHLP, "new", "a");
  expect(readDefinition(text)).toMatchObject({
    steps: {
      a: { transitions: { onSuccess: "new", onFailureDefault: "c" } },
      new: { transitions: { onSuccess: "b" } },
    },
  });
  expect(text).toContain("a: # first");
});

test("a step after the one that ends the workflow comes before it, wherever that was gone to", () => {
  expect(readDefinition(add(uhlp, UHLP, "new", "c"))).toMatchObject({
    steps: {
      a: {
        transitions: {
          conditionalTransitions: [{ condition: "step.output.ok", nextStep: "new" }],
          onFailureDefault: "new",
        },
      },
      new: { transitions: { onSuccess: "c" } },
    },
  });
});

test("a step after one that ends by its transition takes the end over", () => {
  expect(readDefinition(add(uhlp, UHLP, "new", "b"))).toMatchObject({
    steps: { b: { transitions: { onSuccess: "new" } }, new: { transitions: { onSuccess: { end: true } } } },
  });
});

test("connections of UHLP are read and written as they stand", () => {
  const [a] = uhlp.readSteps(UHLP);
  const links = a === undefined ? [] : uhlp.readLinks(a);
  expect(links).toEqual([
    { when: "if", words: "step.output.ok", to: "c" },
    { when: "success", to: "b" },
    { when: "failure", to: "c" },
  ]);
  const text = a === undefined ? "" : uhlp.writeLinks(UHLP, a, links);
  expect(readDefinition(text)).toEqual(readDefinition(UHLP));
});

test("a state of a terminal workflow is put between the two that were connected", () => {
  const text = add(terminal, beginningOf("terminal", "w"), "typed", "open");
  expect(JSON.parse(text)).toMatchObject({
    states: {
      open: { transitions: [{ next_state: "typed" }] },
      typed: { transitions: [{ condition: { success: true }, next_state: "close" }] },
    },
  });
});

test("a step is renamed wherever it is named", () => {
  expect(renameStep(UHLP, "a", "begin")).toBe(
    UHLP.replace("startAt: a", "startAt: begin")
      .replace("  a: #", "  begin: #")
      .replace("steps.a.output", "steps.begin.output"),
  );
  const text =
    "name: w\nsteps:\n  - id: a\n    prompt: a\n  - id: b\n    depends_on: [a]\n    prompt: Take {steps.a.output}.\n";
  expect(renameStep(text, "a", "x")).toBe(
    "name: w\nsteps:\n  - id: x\n    prompt: a\n  - id: b\n    depends_on: [x]\n    prompt: Take {steps.x.output}.\n",
  );
});

function take(dialect: "uhlp" | "terminal"): Builder {
  const builder = builderOf(dialect);
  if (builder === undefined) throw new Error(`${dialect} has no builder.`);
  return builder;
}

function add(builder: Builder, text: string, id: string, behind: string): string {
  const fields = builder.kinds[0]?.fields(id) ?? {};
  return builder.addStep(text, { id, fields, behind: builder.readSteps(text).find((step) => step.id === behind) });
}
