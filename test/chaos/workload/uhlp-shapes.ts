import { answerTo } from "../world/value.ts";
import { personalAnswer } from "./sandcastle-shapes.ts";
import type { PlannedEffect, Shape } from "./shape.ts";

const SEED = "seed";
const LINES = ["x", "y", "z"];

/** A state machine: a loop of questions to a model, a wait, an answer of a program. */
const machine: Shape = {
  name: "machine",
  deed: "signal",
  files: () => ({
    "workflows/machine.yaml": `
workflowId: machine
startAt: loop
steps:
  loop:
    type: control
    subtype: loop
    list: trigger.payload.lines
    iteratorVar: line
    maxConcurrency: 2
    body: ask
    transitions: {onSuccess: rest}
  ask:
    type: llm
    target: {model: "fake:one", prompt: "{{ label }}|ask-{{ line }}|{{ seed }}|"}
    inputMapping: {label: trigger.payload.label, line: line, seed: trigger.payload.seed}
  rest:
    type: control
    subtype: wait
    duration: 2s
    transitions: {onSuccess: go}
  go:
    type: control
    subtype: wait
    event: "'go'"
    transitions: {onSuccess: end_of_it}
  end_of_it:
    type: llm
    target: {model: "fake:one", prompt: "{{ label }}|end|{{ said }}|"}
    inputMapping: {label: trigger.payload.label, said: steps.go.output.value}
    transitions: {onSuccess: tell}
  tell:
    type: control
    subtype: formatResponse
    data: {lines: steps.loop.output, end: steps.end_of_it.output}
`,
  }),
  input: (label) => ({ label, seed: SEED, lines: LINES }),
  expect(label) {
    const asks: PlannedEffect[] = LINES.map((line) => ({ step: `ask-${line}`, given: SEED, after: [] }));
    const end = { step: "end", given: personalAnswer(label), after: asks.map(({ step }) => step) };
    const lines = asks.map(({ step }) => answerTo(label, step, SEED));
    return {
      effects: [...asks, end],
      outputs: { lines, end: answerTo(label, "end", personalAnswer(label)) },
      ends: ["completed"],
    };
  },
  seen: (outputs) => outputs["data"] ?? null,
};

/** Questions to a model that share a budget with all runs of this workflow. */
export const PAID = "paid";

const paid: Shape = {
  name: PAID,
  files: () => ({
    "workflows/paid.yaml": `
name: ${PAID}
steps:
  - {id: first, type: llm, model: "fake:one", parameters: {maxTokens: 64}, prompt: "{input.label}|first|{input.seed}|"}
  - id: second
    type: llm
    model: "fake:one"
    parameters: {maxTokens: 64}
    depends_on: [first]
    prompt: "{input.label}|second|{steps.first.output}|"
`,
  }),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const first = answerTo(label, "first", SEED);
    const second = answerTo(label, "second", first);
    const effects = [
      { step: "first", given: SEED, after: [] },
      { step: "second", given: first, after: ["first"] },
    ];
    return { effects, outputs: { first, second }, ends: ["completed", "budget_exceeded"] };
  },
  seen: ({ first = null, second = null }) => ({ first, second }),
};

/** What schedules start. Each run has a label of its own only in its key. */
export const tick: Shape = {
  name: "tick",
  files: ({ url }) => ({
    "workflows/tick.yaml": `name: tick
steps:
  - {id: beat, type: http, method: POST, url: "${url}/do", body: {label: "tick", step: beat, given: "{input.schedule}"}}
`,
  }),
  input: () => ({}),
  expect: () => ({ effects: [], outputs: {}, ends: ["completed"] }),
  seen: () => ({}),
};

export const MODEL_SHAPES = [machine, paid];
