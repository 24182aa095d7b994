import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { AgentScript, ScriptedStep } from "../../ports/agent-script.ts";
import { ProblemList } from "../problem-list.ts";
import { anything, either, list, mapOf } from "../shape/containers.ts";
import { optional, required, withDefault } from "../shape/fields.ts";
import { object } from "../shape/object.ts";
import { choice, duration, integer, number, text } from "../shape/scalars.ts";
import { type DialectRules, Reader, to } from "../shape/shape.ts";
import { toJson } from "../source/yaml-node.ts";
import { readYaml } from "../source/yaml-source.ts";
import { jsonMap, refuseScript, scriptedStep, rules as scriptRules } from "./agent-script.ts";

export interface WorkflowTests {
  /** As `pawl run` takes it, relative to the file. Absent: the file beside it, without `.test` in its name. */
  readonly workflow: string | undefined;
  readonly cases: readonly WorkflowTest[];
}

export interface WorkflowTest {
  readonly name: string;
  readonly input: JsonObject;
  readonly script: AgentScript;
  readonly scriptText: string;
  readonly kinds: ReadonlyMap<string, ScriptedStep>;
  readonly real: ReadonlySet<string>;
  readonly answers: ReadonlyMap<string, PersonAnswer>;
  readonly events: ReadonlyMap<string, Json>;
  readonly expect: Expectations;
}

interface PersonAnswer {
  readonly answer: "approve" | "reject";
  readonly edited?: Json | undefined;
  readonly comment?: string | undefined;
  /** After the question. Absent: at once. */
  readonly afterMs?: number | undefined;
}

export interface Expectations {
  readonly status: (typeof STATUSES)[number];
  readonly error?: string | undefined;
  readonly outputs?: Json | undefined;
  readonly ran: readonly string[];
  readonly not_run: readonly string[];
  readonly calls: ReadonlyMap<string, number>;
  readonly inputs: ReadonlyMap<string, Json>;
  readonly max_cost_usd?: number | undefined;
}

export const rules: DialectRules = scriptRules;

/** Work that a test may do in earnest. */
const KINDS = ["code", "function", "http", "mcp", "terminal", "csv", "report"] as const;
/** It stays in this process, in the sandbox, or in the folder of the test. */
const ALWAYS_REAL = ["code", "function", "csv", "report", "fail"];

const KIND_NAMES = {
  pattern: `^(${KINDS.join("|")})$`,
  wrong: (name: string) => ({
    message: `\`kinds\` cannot be \`${name}\`; it is one of ${KINDS.join(", ")}.`,
    remedy: "What agents and models say stands in `steps`.",
  }),
};

const STATUSES = ["completed", "partial", "failed", "cancelled", "budget_exceeded"] as const;

const name = to(text(), ({ value }) => value);
const json = to(anything(), toJson);

const answer = either(
  to(choice(["approve", "reject"]), (said): PersonAnswer => ({ answer: said })),
  to(
    object({
      answer: required(choice(["approve", "reject"]), "What the person says."),
      edited: optional(json, "What the person has made of the data."),
      comment: optional(name, "Why."),
      after: optional(
        duration(),
        "How long after the question. Reminders, escalation and deadline before it come as they would.",
        { otherwise: "at once" },
      ),
    }),
    ({ answer: said, edited, comment, after }): PersonAnswer => ({ answer: said, edited, comment, afterMs: after }),
  ),
);

const expectations = object(
  {
    status: withDefault(choice(STATUSES), "completed", "How the run ends."),
    error: optional(name, "The code of its error."),
    outputs: optional(json, "Its outputs: those of objects that are named here, lists and everything else as a whole."),
    ran: optional(list(name), "Steps that ran, in this order, by id or path; others may have run between them."),
    not_run: optional(list(name), "Steps that did not."),
    calls: optional(mapOf(integer(0)), "How often a step was tried."),
    inputs: optional(
      mapOf(json),
      "What a step was given at its last try: of an agent its prompt and settings, of a tool its `arguments`, of a function its input. Compared as `outputs` are.",
    ),
    max_cost_usd: optional(number({ min: 0 }), "The most that it may have cost."),
  },
  { says: "What must hold. Without it: the run completes." },
);

const workflowTest = object({
  input: optional(jsonMap(), "The input, as for `pawl run --input`."),
  steps: optional(
    mapOf(scriptedStep),
    "What steps answer, of whatever kind: as in a script of simulated agents, by step, item or path.",
  ),
  kinds: optional(
    mapOf(scriptedStep, { names: KIND_NAMES }),
    "The same for all steps of a kind that `steps` does not name, e.g. `http`.",
  ),
  real: optional(
    list(choice(KINDS)),
    "Kinds of steps that are done in earnest, besides `code`, `function`, `csv` and `report`. A step that is neither done nor scripted fails.",
  ),
  answers: optional(mapOf(answer), "What people answer, by the step that asks."),
  events: optional(mapOf(json), "Events that come once the run waits for them, with what they bring."),
  expect: optional(expectations, "What must hold. Without it: the run completes."),
});

const named = mapOf(workflowTest, { min: 1 });

export const workflowTests = object({
  workflow: optional(name, "A file, `FILE#NAME` or a registered name. A file is relative to this one.", {
    otherwise: "the file beside it that is named without `.test`",
  }),
  cases: required(named, "Cases by name."),
});

/** Throws `SCRIPT_INVALID` with every mistake and its place. `file` is for messages. */
export function readWorkflowTests(written: string, file: string): WorkflowTests {
  const problems = new ProblemList({ text: written, file });
  const root = readYaml(problems, { what: "test" });
  const read = root && workflowTests.read(root, { name: "The file", path: "" }, new Reader({ problems, rules }));
  refuseScript(problems);
  return {
    workflow: read?.workflow,
    cases: (read?.cases ?? []).map(({ name: caseName, value }): WorkflowTest => {
      const { expect, steps, kinds, real = [], answers, events, input = {}, at } = value;
      const script = at.entries.get("steps");
      return {
        name: caseName,
        input,
        script: { steps: toMap(steps) },
        scriptText: writeExact({ delay_ms: 0, steps: script === undefined ? {} : toJson(script.value) }),
        kinds: toMap(kinds),
        real: new Set([...ALWAYS_REAL, ...real]),
        answers: toMap(answers),
        events: toMap(events),
        expect: {
          status: "completed",
          ...expect,
          ran: expect?.ran ?? [],
          not_run: expect?.not_run ?? [],
          calls: toMap(expect?.calls),
          inputs: toMap(expect?.inputs),
        },
      };
    }),
  };
}

function toMap<T>(entries: readonly { readonly name: string; readonly value: T }[] = []): ReadonlyMap<string, T> {
  return new Map(entries.map(({ name: key, value }) => [key, value]));
}
