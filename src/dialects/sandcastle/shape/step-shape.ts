import { approvers, escalation, notRequester, quorum, reminder } from "../../answer-rules.ts";
import { suggest } from "../../did-you-mean.ts";
import { anyMap, anything, either, jsonSchema, list, mapOf, oneOrMore } from "../../shape/containers.ts";
import { eventFields } from "../../shape/event-fields.ts";
import { expected, type Field, optional, required, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, duration, flag, integer, number, text } from "../../shape/scalars.ts";
import { type ReadOf, to } from "../../shape/shape.ts";
import { variants } from "../../shape/variants.ts";
import { toExcerpt } from "../../source/printable.ts";
import type { YamlMap } from "../../source/yaml-node.ts";
import { type Path, parseReference } from "../references/reference.ts";
import { parseTemplate, slotsOf } from "../references/template.ts";
import { parseValue } from "../references/value.ts";
import { policy } from "./policy-shape.ts";
import { exportPath, listPath, path, template } from "./texts.ts";
import { ofAgents, workKinds } from "./work-shape.ts";

const turns = integer(1, 10_000);
export const cost = number({ min: 0.000001, max: 1_000_000 });

const retry = object(
  {
    max_attempts: withDefault(integer(1, 1_000), 3, "Attempts altogether, the first included."),
    backoff: withDefault(
      choice(["exponential", "fixed", "linear"]),
      "exponential",
      "How the delay between attempts grows.",
    ),
    on_failure: optional(
      choice(["abort", "skip", "continue", "fallback"]),
      "After the last attempt: `abort` ends the run; `skip` and `continue` go on with null, `skip` without the later steps of the same item; `fallback` runs the `fallback` block.",
      { otherwise: "`fallback` where there is such a block, else `abort`" },
    ),
  },
  { title: "`retry`" },
);

const fallback = object(
  {
    prompt: required(template(), "What the agent is asked instead.", {
      missing: { message: "The `fallback` block has no `prompt`." },
    }),
    model: withDefault(text(), "haiku", "The model that answers."),
  },
  { title: "`fallback`" },
);

const place = {
  directory: withDefault(exportPath("directory"), "output", "The folder in the application's storage."),
  filename: optional(exportPath("filename"), "The file's name.", { otherwise: "named after the step" }),
};

const language = to(text(), ({ value, at }, { problems }) => {
  if (/^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/.test(value)) return value;
  const message = `\`${toExcerpt(value)}\` is no language.`;
  problems.warning({ code: "VALUE_INVALID", at, message, remedy: "Write a code such as `en` or `pt-BR`." });
  return undefined;
});

const page = {
  title: optional(text(), "The page's title.", { otherwise: "the workflow's name" }),
  language: optional(language, "The page's language, such as `en` or `pt-BR`."),
  ...place,
};

const csv = object(
  {
    mode: withDefault(choice(["new_file", "append"]), "new_file", "A file for each run, or rows added to one file."),
    rows: optional(text(), "The field of the output that has the rows."),
    formulas: withDefault(
      choice(["guard", "keep"]),
      "guard",
      "Texts that a spreadsheet would take for formulas: made harmless, or kept.",
    ),
    ...place,
  },
  { title: "`csv_output`" },
);

const report = object(
  { format: withDefault(choice(["html", "markdown", "pdf"]), "html", "What is written."), ...page },
  { title: "`report`" },
);

function unsupported(key: string): Field<undefined> {
  const shape = to(anything(), (node, { problems }) => {
    const message = `\`${key}\` is not supported and is ignored.`;
    const remedy = "Nothing to do; the step runs without it.";
    problems.warning({ code: "NOT_SUPPORTED", at: node, message, remedy });
    return undefined;
  });
  return { shape, says: "Not supported; the step runs without it.", need: "optional", hints: {} };
}

const fanOut = {
  parallel_over: optional(
    listPath(),
    "Runs once for each item of this list: `input.companies`, `steps.ID.output.items`.",
  ),
  max_concurrent: optional(integer(1, 100_000), "How many items are worked on at once.", {
    otherwise: "500; 5 in `sub_workflow`",
  }),
};

const each = to(either(text({ expected: "the id of a step" }), flag()), (written, { problems }, { key }) => {
  if (written === false || typeof written === "object") return written;
  if (key === undefined) return undefined;
  const message = "`each: true` does not say whose items are meant.";
  problems.error({ code: "VALUE_INVALID", at: key, message, remedy: "Name the step that has `parallel_over`." });
  return undefined;
});

const common = {
  id: required(
    text({
      pattern: "^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$",
      wrong: (written) => ({ code: "STEP_ID_INVALID", message: `\`${written}\` cannot be a step's id.` }),
    }),
    "The step's name: letters, digits, `_` and `-`, at most 100.",
  ),
  description: optional(text(), "For people: what the step is for."),
  depends_on: optional(oneOrMore(text()), "Ids of steps that must have ended before."),
  ...fanOut,
  each: optional(
    each,
    "Runs once for each item of this step's fan-out, whatever the prompt names; `false`: once, with the list of all.",
    { otherwise: "item by item where it names a field of an item" },
  ),
  timeout: optional(duration(), "How long one attempt may take.", { otherwise: "`default_timeout`" }),
  retry: optional(retry, "Repeats failed attempts, and says what then."),
  fallback: optional(fallback, "What is asked where every attempt has failed."),
  at_most_once: withDefault(
    flag(),
    false,
    "The step is never tried again while its effect is unknown, for instance after a crash.",
  ),
  max_cost_usd: optional(cost, "What the step may cost, all attempts together, in US dollars."),
  policies: optional(list(either(policy, text())), "Policies of its own, and ids of those at the top that it keeps.", {
    otherwise: "all of those at the top",
  }),
  csv_output: optional(csv, "Writes the output to a CSV file."),
  report: optional(report, "Writes the output as a page."),
  pdf_report: optional(object(page, { title: "`pdf_report`" }), "Writes the output as a PDF file."),
  autopilot: unsupported("autopilot"),
  slo: unsupported("slo"),
  model_pool: unsupported("model_pool"),
};

const BUILT_IN_TOOLS = ["web_fetch", "web_search", "files", "bash"];

/** Tools of Pawl itself by name, of MCP servers as `server.tool` or `server.*`. Others belong to programs that are not here. */
const tool = to(text(), ({ value, at }, { problems }) => {
  if (BUILT_IN_TOOLS.includes(value) || /^[^.\s]+\.\S+$/.test(value)) return value;
  const message = `\`${toExcerpt(value)}\` is no tool here and is ignored; there are ${BUILT_IN_TOOLS.join(", ")}.`;
  const meant = suggest(value, BUILT_IN_TOOLS);
  const remedy = meant ?? "Write a tool of an MCP server as `server.tool`, or `server.*`.";
  problems[meant === undefined ? "warning" : "slip"]({ code: "VALUE_INVALID", at, message, remedy });
  return undefined;
});

const NO_PROMPT = { code: "KEY_MISSING", message: "The step has no `prompt`.", remedy: "Add `prompt:`." } as const;

/** A step of another type that does not say so. */
function explainNoPrompt({ entries }: YamlMap) {
  const type = entries.has("sub_workflow") ? "sub_workflow" : entries.has("approval_config") ? "approval" : undefined;
  return type === undefined ? NO_PROMPT : { ...NO_PROMPT, remedy: `Add \`type: ${type}\`, or a prompt.` };
}

const agent = object({
  prompt: expected(
    template(text({ pattern: "\\S", wrong: () => NO_PROMPT })),
    "What the agent is asked, with `{input.X}` and `{steps.ID.output}` for values.",
    { missing: explainNoPrompt },
  ),
  model: optional(text(), "The model that answers.", { otherwise: "`default_model`" }),
  max_turns: optional(turns, "How often the agent may use tools and think again.", {
    otherwise: "`default_max_turns`",
  }),
  output_schema: optional(jsonSchema("output_schema"), "A JSON Schema that the answer must fit."),
  tools: optional(
    list(tool),
    "Tools of an agent that runs in Pawl: `web_fetch`, `web_search`, `files`, `bash`, `SERVER.TOOL`. Agent servers have their own.",
  ),
  context: optional(
    choice(["auto", "explicit"]),
    "Whether outputs of direct dependencies that the prompt does not mention are added to it.",
    { otherwise: "`context` of the workflow" },
  ),
});

/** Real files carry these in steps of other types. */
const carried = { model: ofAgents, max_turns: ofAgents, output_schema: ofAgents, context: ofAgents };

const approvalConfig = object(
  {
    message: optional(template(), "What the person is asked.", { otherwise: "the step's `prompt`" }),
    show_data: optional(path(), "The value that the person sees, as a path: `steps.ID.output`."),
    timeout_hours: optional(number({ min: 0.0001, max: 8_784 }), "How long an answer is waited for.", {
      otherwise: "for ever",
    }),
    on_timeout: withDefault(choice(["abort", "skip"]), "abort", "What no answer means."),
    allow_edit: withDefault(flag(), false, "Whether the person may change the value, which is then the step's output."),
    approvers: approvers(text({ pattern: "\\S" })),
    quorum,
    not_requester: notRequester,
    reminder: reminder(duration()),
    escalation: escalation(duration(), text({ pattern: "\\S" })),
  },
  { title: "`approval_config`" },
);

const approval = object({
  approval_config: optional(approvalConfig, "How a person is asked."),
  prompt: optional(template(), "What the person is asked, where `approval_config` has no `message`."),
  ...carried,
});

const NAMES_NO_WORKFLOW = {
  code: "KEY_MISSING",
  message: "The step names no workflow to run.",
  remedy: "Add `sub_workflow: {workflow: NAME}`.",
} as const;

/** `name: step.field.more`: a path in the child's outputs, which begin with the id of a step. `steps.a.output.x` is `a.x`. */
const outputPath = to(text({ expected: "a path" }), ({ value, at }, { problems }): Path | undefined => {
  const inner = value.trim().replace(/^\{(.*)\}$/s, "$1");
  const whole = parseReference(inner);
  if (whole?.to === "step") return [whole.step, ...whole.path];
  const short = parseReference(`input.${inner}`);
  if (short?.to === "input") return short.path;
  const message = "This is no path into the outputs of the workflow.";
  const remedy = "Write the id of one of its steps, then fields: `summarize.text`.";
  problems.error({ code: "EXPRESSION_INVALID", at, message, remedy });
  return undefined;
});

const subWorkflow = object({
  sub_workflow: expected(
    object(
      {
        workflow: expected(
          template(text({ pattern: "\\S", wrong: () => NAMES_NO_WORKFLOW })),
          "The name or the file of the workflow.",
          { missing: NAMES_NO_WORKFLOW },
        ),
        input_mapping: optional(
          to(anyMap(), (node, reader) => parseValue(node, reader, { barePaths: true })),
          "Its input: names, and paths or texts with `{...}`.",
          { otherwise: "the whole input" },
        ),
        output_mapping: optional(
          mapOf(outputPath),
          "The step's output: names, and paths such as `summarize.text` into the outputs of its steps.",
          { otherwise: "all outputs" },
        ),
        timeout: optional(duration(), "How long it may take.", { otherwise: "the step's, else 10 minutes" }),
        ...fanOut,
      },
      { title: "`sub_workflow`" },
    ),
    "The workflow to run, and what goes in and out.",
    { missing: NAMES_NO_WORKFLOW },
  ),
  prompt: ofAgents,
  ...carried,
});

const until = to(text({ expected: "a time" }), (written, reader) => {
  const at = parseTemplate(written, reader);
  if (slotsOf(at).length === 0 && Number.isNaN(Date.parse(written.value))) {
    const message = "`until` must be a time such as `2026-05-01T09:00:00Z`.";
    reader.problems.error({ code: "VALUE_INVALID", at: written.at, message, remedy: "Write it in ISO 8601." });
  }
  return at;
});

const wait = object(
  {
    duration: optional(duration(), "How long."),
    until: optional(until, "Until when: a time in ISO 8601."),
    event: optional(template(), "For which event; `timeout` is how long it is waited for."),
    match: optional(
      to(eventFields, (node, reader) => parseValue(node, reader, { barePaths: true })),
      "By which fields of its payload the event is known, from wherever it comes: their paths, and values, paths or texts with `{...}`. Without it the event is sent to the run.",
    ),
    prompt: ofAgents,
    ...carried,
  },
  {
    someOf: {
      keys: ["duration", "until", "event"],
      none: "The step does not say what to wait for.",
      several: "The step waits for {count} things at once.",
      remedy: "Give one of `duration`, `until` and `event`.",
    },
  },
);

const OF_APPROVAL = "Write it under `approval_config:`.";
const elsewhere = {
  ...Object.fromEntries(Object.keys(approvalConfig.fields).map((key) => [key, OF_APPROVAL])),
  on_failure: "Write it under `retry:`.",
  max_attempts: "Write it under `retry:`.",
  backoff: "Write it under `retry:`.",
  approval_config: "Add `type: approval`.",
  sub_workflow: "Add `type: sub_workflow`.",
};

export const step = variants("type", {
  common,
  kinds: {
    standard: agent,
    approval,
    sub_workflow: subWorkflow,
    wait,
    ...workKinds,
  },
  default: "standard",
  says: "What the step does: `standard` asks an agent, `approval` a person; `sub_workflow` runs another workflow; `wait` waits; `http` sends a request; `code` runs a function of a script; `llm` asks a model once; `mcp` calls a tool; `terminal` types into one.",
  title: "a step",
  expected: "a map with `id` and `prompt`",
  elsewhere,
  unsupported: {
    condition: "Let the next step's prompt decide, or run one of two workflows.",
    loop: "Use `parallel_over` for a list, or a workflow that is run once per round.",
  },
});

export type ReadStep = ReadOf<typeof step>;
export type ReadKind<Type extends ReadStep["type"]> = Extract<ReadStep, { readonly type: Type }>;
