import { type Builder, fieldsOf, type Link } from "./builder.ts";
import { removeAt, setAt } from "./edit-text.ts";
import { insertStep, readNamed } from "./machine-steps.ts";

/** Control steps after which nothing comes. */
const ENDS: ReadonlySet<string> = new Set(["formatResponse", "fail"]);

/** Steps that say what comes after them. */
export const uhlpBuilder: Builder = {
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
    return insertStep(text, added, {
      builder: uhlpBuilder,
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
