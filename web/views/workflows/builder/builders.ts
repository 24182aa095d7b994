import type { Dialect } from "../dialects.ts";
import { appendTo, readDefinition, removeAt, setAt } from "./edit-text.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface BuiltStep {
  readonly id: string;
  readonly path: readonly (string | number)[];
  readonly fields: Fields;
}

/** From one step to another. */
export interface Link {
  /** One of the dialect's ways to say when. */
  readonly when: string;
  /** For a way that wants words: an expression, a pattern. */
  readonly words?: string;
  readonly to: string;
  /** What nobody here knows how to say otherwise: it stays as it is written. */
  readonly raw?: unknown;
}

/** How the steps of a dialect are written. Every change gives the text with that change alone. */
export interface Builder {
  /** Where the published schema describes a step. */
  readonly schemaPath: readonly string[];
  /** Kinds of steps, each with the fields that make a new one valid. */
  readonly kinds: readonly { readonly name: string; readonly words: string; readonly fields: (id: string) => Fields }[];
  /** Fields that have their own place in the form. */
  readonly hidden: readonly string[];
  /** Fields that are shown before anybody adds them. */
  readonly usual: readonly string[];
  readonly linksTitle: string;
  readonly ways: readonly { readonly when: string; readonly words: string; readonly wants?: string }[];
  readSteps(text: string): readonly BuiltStep[];
  toId(number: number): string;
  /** `behind`: the step that it comes after. */
  addStep(
    text: string,
    step: { readonly id: string; readonly fields: Fields; readonly behind: BuiltStep | undefined },
  ): string;
  readLinks(step: BuiltStep): readonly Link[];
  writeLinks(text: string, step: BuiltStep, links: readonly Link[]): string;
}

const sandcastle: Builder = {
  schemaPath: ["steps", "*"],
  kinds: [
    { name: "standard", words: "asks an agent", fields: () => ({ prompt: "Say what to do." }) },
    { name: "llm", words: "asks a model once", fields: () => ({ type: "llm", prompt: "Say what to answer." }) },
    {
      name: "approval",
      words: "asks a person",
      fields: () => ({ type: "approval", approval_config: { message: "Is it good?" } }),
    },
    { name: "http", words: "sends a request", fields: () => ({ type: "http", url: "https://example.com/" }) },
    { name: "wait", words: "waits", fields: () => ({ type: "wait", duration: "10s" }) },
    {
      name: "sub_workflow",
      words: "runs another workflow",
      fields: () => ({ type: "sub_workflow", sub_workflow: { workflow: "NAME" } }),
    },
    { name: "mcp", words: "calls a tool", fields: () => ({ type: "mcp", tool: "SERVER.TOOL" }) },
    { name: "code", words: "runs a script", fields: () => ({ type: "code", script: "scripts/FILE.py#function" }) },
  ],
  hidden: ["id", "depends_on"],
  usual: ["prompt", "model", "parallel_over", "approval_config", "url", "duration", "sub_workflow", "tool", "script"],
  linksTitle: "Runs after",
  ways: [{ when: "after", words: "after" }],
  readSteps(text) {
    const steps = fieldsOf(readDefinition(text))["steps"];
    if (!Array.isArray(steps)) return [];
    return steps.map((step, index) => {
      const fields = fieldsOf(step);
      return { id: String(fields["id"] ?? index + 1), path: ["steps", index], fields };
    });
  },
  toId: (number) => `step-${number}`,
  addStep(text, { id, fields, behind }) {
    const after = behind === undefined ? {} : { depends_on: [behind.id] };
    return appendTo(text, ["steps"], { id, ...after, ...fields });
  },
  readLinks({ fields }) {
    const written = fields["depends_on"];
    const ids = Array.isArray(written) ? written : written === undefined || written === null ? [] : [written];
    return ids.map((id) => ({ when: "after", to: String(id) }));
  },
  writeLinks(text, { path }, links) {
    const at = [...path, "depends_on"];
    return links.length === 0 ? removeAt(text, at) : setAt(text, at, [...new Set(links.map(({ to }) => to))]);
  },
};

/** Control steps after which nothing comes. */
const ENDS: ReadonlySet<string> = new Set(["formatResponse", "fail"]);

const uhlp: Builder = {
  schemaPath: ["steps", "any"],
  kinds: [
    { name: "llm", words: "asks a model", fields: () => ({ type: "llm", target: { prompt: "Say what to answer." } }) },
    { name: "jit", words: "runs a script", fields: () => ({ type: "jit", target: "scripts/FILE.py#function" }) },
    { name: "mcp", words: "calls a tool", fields: () => ({ type: "mcp", target: "SERVER.TOOL" }) },
    {
      name: "formatResponse",
      words: "gives the answer",
      fields: () => ({ type: "control", subtype: "formatResponse", data: "trigger.payload" }),
    },
    { name: "wait", words: "waits", fields: () => ({ type: "control", subtype: "wait", duration: "10s" }) },
    {
      name: "fail",
      words: "fails",
      fields: () => ({ type: "control", subtype: "fail", code: "NOT_GOOD", message: "'Say why.'" }),
    },
  ],
  hidden: ["id", "transitions"],
  usual: ["type", "subtype", "target", "prompt", "inputMapping", "data"],
  linksTitle: "Goes to",
  ways: [
    { when: "success", words: "after a success" },
    { when: "failure", words: "after a failure" },
    { when: "if", words: "if", wants: "an expression, such as step.output.score > 50" },
  ],
  readSteps: (text) => readNamed(text, "steps"),
  toId: (number) => `step_${number}`,
  addStep(text, added) {
    return insert(text, added, {
      builder: uhlp,
      group: "steps",
      startPath: ["startAt"],
      isEnd: ({ fields }) => ENDS.has(String(fields["subtype"])),
      goingTo: ({ fields }, next) =>
        ENDS.has(String(fields["subtype"])) ? {} : { transitions: { onSuccess: next ?? { end: true } } },
    });
  },
  readLinks({ fields }) {
    const { transitions } = fields;
    if (Array.isArray(transitions)) return transitions.map(toUhlpLink);
    const { conditionalTransitions, onSuccess, onFailure, onFailureDefault } = fieldsOf(transitions);
    const failure = typeof onFailure === "string" ? onFailure : onFailureDefault;
    return [
      ...(Array.isArray(conditionalTransitions) ? conditionalTransitions.map(toUhlpLink) : []),
      ...(typeof onSuccess === "string" ? [{ when: "success", to: onSuccess }] : []),
      ...(typeof failure === "string" ? [{ when: "failure", to: failure }] : []),
    ];
  },
  writeLinks(text, { path, fields }, links) {
    const at = [...path, "transitions"];
    if (Array.isArray(fields["transitions"])) return setAt(text, at, links.map(fromUhlpLink));
    const { conditionalTransitions: _conditions, ...others } = fieldsOf(fields["transitions"]);
    const { onFailure, onFailureDefault } = others;
    // The two say the same where `onFailure` is no list: what is there stays the one that is used.
    const failureKey =
      typeof onFailure !== "string" && onFailureDefault !== undefined ? "onFailureDefault" : "onFailure";
    const kept = Object.entries(others).filter(
      ([name, value]) => !((name === "onSuccess" || name === failureKey) && typeof value === "string"),
    );
    const conditions = links.filter(({ when }) => when === "if" || when === "raw").map(fromUhlpLink);
    const target = (way: string) => links.find(({ when }) => when === way)?.to;
    const [success, failure] = [target("success"), target("failure")];
    const next = {
      ...(conditions.length === 0 ? {} : { conditionalTransitions: conditions }),
      ...Object.fromEntries(kept),
      ...(success === undefined ? {} : { onSuccess: success }),
      ...(failure === undefined ? {} : { [failureKey]: failure }),
    };
    return Object.keys(next).length === 0 ? removeAt(text, at) : setAt(text, at, next);
  },
};

function toUhlpLink(written: unknown): Link {
  const { condition, nextStep, nextStepId, ...others } = fieldsOf(written);
  const to = nextStep ?? nextStepId;
  if (to === undefined || Object.keys(others).length > 0) return { when: "raw", to: "", raw: written };
  return condition === undefined
    ? { when: "success", to: String(to) }
    : { when: "if", words: String(condition), to: String(to) };
}

function fromUhlpLink({ when, words, to, raw }: Link): unknown {
  if (raw !== undefined) return raw;
  return when === "if"
    ? { condition: words === undefined || words === "" ? true : words, nextStep: to }
    : { nextStep: to };
}

const CONDITIONS = [
  ["success", "after a success", { success: true }],
  ["failure", "after a failure", { success: false }],
  ["timeout", "after a timeout", { timeout_occurred: true }],
] as const;

const terminal: Builder = {
  schemaPath: ["states", "any"],
  kinds: [
    toolKind("send_input", "types into a terminal", { session_id: "{session_id}", input_text: "echo hello\n" }),
    toolKind("await_output", "waits for output", { session_id: "{session_id}", pattern: "hello", timeout: 10 }),
    toolKind("open_terminal", "opens a terminal", { shell: "bash" }),
    toolKind("get_screen_content", "reads the screen", { session_id: "{session_id}" }),
    toolKind("exit_terminal", "closes the terminal", { session_id: "{session_id}" }),
    toolKind("run_workflow", "runs another workflow", { workflow_name: "NAME" }),
  ],
  hidden: ["transitions"],
  usual: ["action", "timeout"],
  linksTitle: "Goes to",
  ways: [
    ...CONDITIONS.map(([when, words]) => ({ when, words })),
    { when: "match", words: "if the text matches", wants: "a regular expression" },
    { when: "no-match", words: "if the text does not match", wants: "a regular expression" },
  ],
  readSteps: (text) => readNamed(text, "states"),
  toId: (number) => `state_${number}`,
  addStep(text, added) {
    return insert(text, added, {
      builder: terminal,
      group: "states",
      startPath: ["initial_state"],
      isEnd: ({ fields }) => fieldsOf(fields["action"])["tool"] === "exit_terminal",
      goingTo: (_step, next) => ({
        transitions: next === undefined ? [] : [{ condition: { success: true }, next_state: next }],
      }),
    });
  },
  readLinks({ fields: { transitions } }) {
    return Array.isArray(transitions) ? transitions.map(toTerminalLink) : [];
  },
  writeLinks: (text, { path }, links) => setAt(text, [...path, "transitions"], links.map(fromTerminalLink)),
};

function toolKind(tool: string, words: string, params: Fields): Builder["kinds"][number] {
  return { name: tool, words, fields: () => ({ action: { tool, params } }) };
}

function toTerminalLink(written: unknown): Link {
  const { condition, next_state: to } = fieldsOf(written);
  const fields = fieldsOf(condition);
  const only = JSON.stringify(fields);
  const way = CONDITIONS.find(([, , each]) => JSON.stringify(each) === only)?.[0];
  if (way !== undefined) return { when: way, to: String(to) };
  if (Object.keys(fields).length === 1) {
    if (typeof fields["pattern_match"] === "string")
      return { when: "match", words: fields["pattern_match"], to: String(to) };
    if (typeof fields["pattern_not_match"] === "string")
      return { when: "no-match", words: fields["pattern_not_match"], to: String(to) };
  }
  return { when: "raw", to: String(to), raw: written };
}

function fromTerminalLink({ when, words = "", to, raw }: Link): unknown {
  if (raw !== undefined) return { ...fieldsOf(raw), next_state: to };
  const simple = CONDITIONS.find(([each]) => each === when)?.[2];
  const pattern = when === "no-match" ? { pattern_not_match: words || ".*" } : { pattern_match: words || ".*" };
  return { condition: simple ?? pattern, next_state: to };
}

interface Machine {
  readonly builder: Builder;
  readonly group: string;
  readonly startPath: readonly string[];
  /** Nothing comes after it: a new step comes before it. */
  isEnd(step: { readonly fields: Fields }): boolean;
  goingTo(step: { readonly fields: Fields }, next: string | undefined): Fields;
}

/** Puts a step on the way: what led on from the one before it leads on from it. */
function insert(text: string, added: Parameters<Builder["addStep"]>[1], machine: Machine): string {
  const { builder, group, startPath, isEnd, goingTo } = machine;
  const { id, fields } = added;
  const steps = builder.readSteps(text);
  const successOf = (step: BuiltStep) => builder.readLinks(step).find(({ when }) => when === "success");
  const behind = added.behind ?? steps.findLast((step) => isEnd(step)) ?? steps.findLast((step) => !successOf(step));
  if (behind === undefined) return setAt(text, [group, id], { ...fields, ...goingTo({ fields }, undefined) });
  if (isEnd(behind)) {
    const start = fieldsOf(readDefinition(text))[startPath[0] ?? ""];
    const started = start === behind.id ? setAt(text, startPath, id) : text;
    const led = steps.reduce((before, step) => {
      const links = builder.readLinks(step);
      if (!links.some(({ to }) => to === behind.id)) return before;
      const moved = links.map((link) => (link.to === behind.id ? { ...link, to: id } : link));
      return builder.writeLinks(before, step, moved);
    }, started);
    return setAt(led, [group, id], { ...fields, ...goingTo({ fields }, behind.id) });
  }
  const links = builder.readLinks(behind);
  const next = links.find(({ when }) => when === "success");
  const others = links.filter((link) => link !== next);
  const led = builder.writeLinks(text, behind, [...others, { when: "success", to: id }]);
  return setAt(led, [group, id], { ...fields, ...goingTo({ fields }, next?.to) });
}

/** Files of agents are edited as text: what they have are agents and servers, not only steps. */
export function builderOf(dialect: Dialect): Builder | undefined {
  return { sandcastle, uhlp, terminal, agents: undefined }[dialect];
}

function readNamed(text: string, name: string): readonly BuiltStep[] {
  const steps = fieldsOf(fieldsOf(readDefinition(text))[name]);
  return Object.entries(steps).map(([id, fields]) => ({ id, path: [name, id], fields: fieldsOf(fields) }));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
