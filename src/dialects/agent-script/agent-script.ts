import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AgentScript, ScriptedStep, ScriptedTurn } from "../../ports/agent-script.ts";
import { ProblemList } from "../problem-list.ts";
import { anything, list, mapOf, oneOrMore } from "../shape/containers.ts";
import { optional, required } from "../shape/fields.ts";
import { object } from "../shape/object.ts";
import { choice, flag, number, text } from "../shape/scalars.ts";
import { type DialectRules, Reader, type Shape, to } from "../shape/shape.ts";
import { isNull, toJson } from "../source/yaml-node.ts";
import { readYaml } from "../source/yaml-source.ts";

export const rules: DialectRules = { unknownKeys: "error", nulls: "refused", scalars: "strict" };

const ACTS = ["reply", "call", "fail", "hang"] as const;

const plain = to(text(), ({ value }) => value);
const amount = () => number({ min: 0 });

const FILLED = {
  min: 1,
  empty: { code: "VALUE_INVALID", message: "An empty list says nothing.", remedy: "Leave it out." },
} as const;

/** A script may answer each of many thousand items. */
const MAX_MB = 64;

const call = to(
  object(
    {
      name: required(plain, "The tool's name."),
      input: optional(jsonMap(), "Its arguments."),
    },
    { title: "a call", expected: "a map such as `{name: forecast, input: {city: Paris}}`" },
  ),
  ({ name, input = {} }) => ({ name, input }),
);

const entry = onlyOneAct(
  object(
    {
      reply: optional(
        to(anything(), toJson),
        "The answer. A text is what the agent said: it is read like a real answer, Markdown fence and all. Anything else is a structured answer. Both are validated against the step's schema.",
      ),
      call: optional(oneOrMore(call, FILLED), "Tools that a model calls: one call, or a list."),
      say: optional(plain, "What the model says with its calls."),
      fail: optional(
        to(text({ pattern: "^[A-Z][A-Z0-9_]*$", examples: ["AGENT_FAILED"] }), ({ value }) => value),
        "An error code: one of Pawl's such as `AGENT_FAILED`, or your own.",
      ),
      message: optional(plain, "What the failure says."),
      retryable: optional(flag(), "Whether the failure may be retried.", {
        otherwise:
          "true, but false for `AGENT_UNAUTHORIZED`, `AGENT_REFUSED`, `MODEL_UNAUTHORIZED` and `MODEL_REFUSED`",
      }),
      effect: optional(
        choice(["none", "unknown", "done"]),
        "What the failed attempt did outside. A step marked `at_most_once` is retried only after `none`.",
        {
          otherwise:
            "`none` for those four, for `AGENT_UNREACHABLE` and for every other code that begins with `MODEL_`, else `unknown`",
        },
      ),
      hang: optional(flag(), "Silence until the attempt is stopped, for instance by its `timeout`."),
      delay_ms: optional(amount(), "Time until the answer or the failure.", { otherwise: "the script's" }),
      cost_usd: optional(orNull(amount()), "What the attempt cost; `null` for unknown.", {
        otherwise: "estimated for an answer, nothing for a failure",
      }),
      turns: optional(amount(), "How many turns the agent took.", { otherwise: "1" }),
      input_tokens: optional(amount(), "What it read.", { otherwise: "estimated" }),
      output_tokens: optional(amount(), "What it wrote.", { otherwise: "estimated" }),
    },
    { title: "an entry", says: "One try.", expected: 'a map, for example `{reply: "text"}`' },
  ),
);

const turn = to(entry, ({ at: _at, rest: _rest, ...said }): ScriptedTurn => said);

const turns = oneOrMore(turn, FILLED);

const items = to(
  object(
    { items: required(list(turns), "One entry, or list of entries, for each item of the fan-out.") },
    { says: "A fan-out." },
  ),
  (fanOut): ScriptedStep => ({ attempts: [], items: fanOut.items }),
);

const attempts = to(turns, (tries): ScriptedStep => ({ attempts: tries, items: [] }));

/** Of one entry, by attempt, or by item. */
export const scriptedStep: Shape<ScriptedStep> = {
  ...attempts,
  parts: [turn, items],
  read: (node, spot, reader) =>
    (node.kind === "map" && node.entries.has("items") ? items : attempts).read(node, spot, reader),
  toSchema: (writer) => ({ anyOf: [attempts.toSchema(writer), items.toSchema(writer)] }),
};

export const agentScript = to(
  object({
    delay_ms: optional(amount(), "Milliseconds, for every answer that names no delay of its own."),
    steps: optional(
      mapOf(scriptedStep),
      "By step id (`score`), by one instance (`score[3]`, the second visit `poll#2`), or by its whole path (`batch[2]/fetch[7]`). The narrowest name wins.",
    ),
  }),
  ({ delay_ms, steps = [] }): AgentScript => ({
    delay_ms,
    steps: new Map(steps.map(({ name, value }) => [name, value])),
  }),
);

/** Throws `SCRIPT_INVALID` with every mistake and its place. An empty file is a script. `file` is for messages. */
export async function readAgentScript(written: string, file: string): Promise<AgentScript> {
  const problems = new ProblemList({ text: written, file });
  const root = readYaml(problems, { maxMb: MAX_MB, what: "script" });
  const isEmpty = root !== undefined && isNull(root);
  const script =
    root && !isEmpty
      ? agentScript.read(root, { name: "The script", path: "" }, new Reader({ problems, rules }))
      : undefined;
  refuseScript(problems);
  return script ?? { steps: new Map() };
}

/** Throws `SCRIPT_INVALID` with every mistake and its place. */
export function refuseScript(problems: ProblemList): void {
  if (!problems.hasErrors) return;
  const lines = problems
    .toArray()
    .filter(({ severity }) => severity === "error")
    .map(({ place, message, remedy }) =>
      `${place?.file}:${place?.line}:${place?.column} ${message} ${remedy}`.trimEnd(),
    );
  throw new PawlError("SCRIPT_INVALID", { message: lines.join("\n"), details: lines });
}

export function jsonMap(): Shape<JsonObject> {
  return {
    expected: "a map",
    kinds: ["map"],
    read(node, spot, reader) {
      if (node.kind !== "map") return reader.wrongType(node, spot, this);
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toJson(entry.value)]));
    },
    toSchema: () => ({ type: "object" }),
  };
}

function orNull(shape: Shape<number>): Shape<number | null> {
  return {
    ...shape,
    kinds: [...shape.kinds, "null"],
    read: (node, spot, reader) => (isNull(node) ? null : shape.read(node, spot, reader)),
    toSchema: (writer) => ({ ...shape.toSchema(writer), type: ["number", "null"] }),
  };
}

function onlyOneAct<T>(shape: Shape<T>): Shape<T> {
  const pairs = ACTS.flatMap((act, index) => ACTS.slice(index + 1).map((other) => [act, other]));
  return {
    ...shape,
    read(node, spot, reader) {
      const named = node.kind === "map" ? ACTS.filter((act) => node.entries.has(act)) : [];
      if (named.length > 1)
        reader.invalid(node, `Only one of ${named.map((act) => `\`${act}\``).join(", ")} can happen.`, "Keep one.");
      return shape.read(node, spot, reader);
    },
    toSchema: (writer) => ({
      ...shape.toSchema(writer),
      not: { anyOf: pairs.map((pair) => ({ required: pair })) },
    }),
  };
}
