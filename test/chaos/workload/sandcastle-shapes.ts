import { answerTo, largeAnswer, toGiven } from "../world/value.ts";
import { bodyValue, chainOf, httpStep, type PlannedEffect, type Shape } from "./shape.ts";

const SEED = "seed";
const ITEMS = ["a", "b", "c", "d"];

function workflow(name: string, ...steps: readonly string[]): Readonly<Record<string, string>> {
  return { [`workflows/${name}.yaml`]: `name: ${name}\nsteps:\n${steps.join("")}` };
}

const CHAIN = ["one", "two", "three"];

const chain: Shape = {
  name: "chain",
  files: ({ url }) =>
    workflow(
      "chain",
      httpStep(url, "one", "{input.seed}"),
      httpStep(url, "two", "{steps.one.output.body.value}", ["depends_on: [one]"]),
      httpStep(url, "three", "{steps.two.output.body.value}", ["depends_on: [two]"]),
    ),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const { effects, values } = chainOf(label, SEED, CHAIN);
    return { effects, outputs: values, ends: ["completed"] };
  },
  seen: (outputs) => Object.fromEntries(CHAIN.map((step) => [step, bodyValue(outputs[step])])),
};

/** Again from its second step, and once more with another input. */
const again: Shape = { ...chain, deed: "rerun" };
const forked: Shape = { ...chain, deed: "fork" };

/** A pipeline item by item by agents, and a join by a service. */
const fan: Shape = {
  name: "fan",
  files: ({ url }) =>
    workflow(
      "fan",
      `  - id: scrape
    parallel_over: input.items
    context: explicit
    prompt: "{input.label}|scrape-{input._item}|{input.seed}|"
  - id: score
    depends_on: [scrape]
    each: scrape
    context: explicit
    prompt: "{input.label}|score-{input._item}|{steps.scrape.output}|"
`,
      httpStep(url, "join", "{steps.score.output}", ["depends_on: [score]"]),
    ),
  input: (label) => ({ label, seed: SEED, items: ITEMS }),
  expect(label) {
    const scraped = ITEMS.map((item) => answerTo(label, `scrape-${item}`, SEED));
    const scored = ITEMS.map((item, n) => answerTo(label, `score-${item}`, scraped[n] ?? ""));
    const given = toGiven(scored);
    const effects: PlannedEffect[] = ITEMS.flatMap((item, n) => [
      { step: `scrape-${item}`, given: SEED, after: [] },
      { step: `score-${item}`, given: scraped[n] ?? "", after: [`scrape-${item}`] },
    ]);
    const joined = { step: "join", given, after: ITEMS.map((item) => `score-${item}`) };
    const outputs = { score: scored, join: answerTo(label, "join", given) };
    return { effects: [...effects, joined], outputs, ends: ["completed"] };
  },
  seen: ({ score = null, join = null }) => ({ score, join: bodyValue(join) }),
};

/** Timers, and runs that are nobody's while they wait. */
const pause: Shape = {
  name: "pause",
  files: ({ url }) =>
    workflow(
      "pause",
      httpStep(url, "before", "{input.seed}"),
      "  - {id: rest, type: wait, duration: 3s, depends_on: [before]}\n",
      httpStep(url, "after", "{steps.before.output.body.value}", ["depends_on: [before, rest]"]),
    ),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const { effects, values } = chainOf(label, SEED, ["before", "after"]);
    return { effects, outputs: values, ends: ["completed"] };
  },
  seen: ({ before, after }) => ({ before: bodyValue(before), after: bodyValue(after) }),
};

/** What people answer, whoever of them is first. */
export function personalAnswer(label: string): string {
  return answerTo(label, "person", SEED);
}

const gate: Shape = {
  name: "gate",
  deed: "answer",
  files: ({ url }) =>
    workflow(
      "gate",
      httpStep(url, "draft", "{input.seed}"),
      `  - id: gate
    type: approval
    depends_on: [draft]
    approval_config: {message: "Go on?", allow_edit: true}
`,
      httpStep(url, "send", "{steps.gate.output.value}", ["depends_on: [gate]"]),
    ),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const effects = [
      { step: "draft", given: SEED, after: [] },
      { step: "send", given: personalAnswer(label), after: ["draft"] },
    ];
    return { effects, outputs: answerTo(label, "send", personalAnswer(label)), ends: ["completed"] };
  },
  seen: ({ send }) => bodyValue(send),
};

const signalled: Shape = {
  name: "signalled",
  deed: "signal",
  files: ({ url }) =>
    workflow(
      "signalled",
      httpStep(url, "before", "{input.seed}"),
      "  - {id: go, type: wait, event: go, depends_on: [before]}\n",
      httpStep(url, "after", "{steps.go.output.value}", ["depends_on: [go]"]),
    ),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const effects = [
      { step: "before", given: SEED, after: [] },
      { step: "after", given: personalAnswer(label), after: ["before"] },
    ];
    return { effects, outputs: answerTo(label, "after", personalAnswer(label)), ends: ["completed"] };
  },
  seen: ({ after }) => bodyValue(after),
};

const FAILS = 2;

const flaky: Shape = {
  name: "flaky",
  files: ({ url }) => {
    const retry = "retry: {max_attempts: 6, backoff: fixed, on_failure: abort}";
    const fails = httpStep(url, "fails", "{input.seed}", [retry]).replace("given:", `fails: ${FAILS}, given:`);
    return workflow("flaky", fails, httpStep(url, "after", "{steps.fails.output.body.value}", ["depends_on: [fails]"]));
  },
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const { effects, values } = chainOf(label, SEED, [{ step: "fails", more: { fails: FAILS } }, "after"]);
    return { effects, outputs: values, ends: ["completed"] };
  },
  seen: ({ fails, after }) => ({ fails: bodyValue(fails), after: bodyValue(after) }),
};

/** Values that are kept in the bucket. */
const large: Shape = {
  name: "large",
  files: ({ url }) => {
    const makes = httpStep(url, "make", "{input.seed}").replace("given:", "large: true, given:");
    return workflow("large", makes, httpStep(url, "use", "{steps.make.output.body.large}", ["depends_on: [make]"]));
  },
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const made = answerTo(label, "make", SEED);
    const given = toGiven(largeAnswer(made));
    const effects = [
      { step: "make", given: SEED, after: [] },
      { step: "use", given, after: ["make"] },
    ];
    return { effects, outputs: { make: made, whole: given, use: answerTo(label, "use", given) }, ends: ["completed"] };
  },
  seen({ make, use }) {
    const body = (make as { readonly body?: { readonly large?: string } } | null)?.body;
    return { make: bodyValue(make), whole: toGiven(body?.large ?? ""), use: bodyValue(use) };
  },
};

/** Long work that is cancelled on the way. */
const stopped: Shape = {
  name: "stopped",
  deed: "cancel",
  files: ({ url }) =>
    workflow(
      "stopped",
      httpStep(url, "slow", "{input.seed}"),
      httpStep(url, "slower", "{steps.slow.output.body.value}", ["depends_on: [slow]"]),
    ),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const { effects, values } = chainOf(label, SEED, ["slow", "slower"]);
    return { effects, outputs: values, ends: ["completed", "cancelled"] };
  },
  seen: ({ slow, slower }) => ({ slow: bodyValue(slow), slower: bodyValue(slower) }),
};

/** A step that must not be done twice, whatever happens: rather it fails. */
const onlyOnce: Shape = {
  name: "only-once",
  files: ({ url }) => workflow("only-once", httpStep(url, "slow-once", "{input.seed}", ["at_most_once: true"])),
  input: (label) => ({ label, seed: SEED }),
  expect(label) {
    const { effects, values } = chainOf(label, SEED, [{ step: "slow-once", more: { once: true } }]);
    return { effects, outputs: values, ends: ["completed", "failed"] };
  },
  seen: (outputs) => ({ "slow-once": bodyValue(outputs["slow-once"]) }),
};

/** Other workflows as steps. */
const parent: Shape = {
  name: "parent",
  files: ({ url }) => ({
    ...workflow(
      "child",
      httpStep(url, "inner-{input.item}", "{input.seed}").replace("id: inner-{input.item}", "id: inner"),
    ),
    ...workflow(
      "parent",
      httpStep(url, "first", "{input.seed}"),
      `  - id: each
    type: sub_workflow
    depends_on: [first]
    parallel_over: input.items
    sub_workflow:
      workflow: child
      input_mapping: {label: "{input.label}", seed: "{steps.first.output.body.value}", item: "{input._item}"}
`,
      httpStep(url, "last", "{steps.first.output.body.value}", ["depends_on: [each]"]),
    ),
  }),
  input: (label) => ({ label, seed: SEED, items: ITEMS.slice(0, 3) }),
  expect(label) {
    const first = answerTo(label, "first", SEED);
    const inner = ITEMS.slice(0, 3).map((item) => ({ step: `inner-${item}`, given: first, after: ["first"] }));
    const effects = [
      { step: "first", given: SEED, after: [] },
      ...inner,
      { step: "last", given: first, after: inner.map(({ step }) => step) },
    ];
    const values = inner.map(({ step }) => answerTo(label, step, first));
    return { effects, outputs: { each: values, last: answerTo(label, "last", first) }, ends: ["completed"] };
  },
  seen: ({ each, last }) => {
    const outputs = Array.isArray(each)
      ? each.map((one) => bodyValue((one as { inner?: unknown } | null)?.inner))
      : null;
    return { each: outputs, last: bodyValue(last) };
  },
};

export const SANDCASTLE_SHAPES = [
  chain,
  again,
  forked,
  fan,
  pause,
  gate,
  signalled,
  flaky,
  large,
  stopped,
  onlyOnce,
  parent,
];
