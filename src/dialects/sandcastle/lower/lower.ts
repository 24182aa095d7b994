import type { Ending, Graph, TaskStep } from "../../../core/graph/graph.ts";
import { literal, literalIfAny, outputOf, toObject } from "../../build-expr.ts";
import { toDebounce } from "../../places.ts";
import type { SourceText } from "../../source/source-text.ts";
import { computeItemDomains, declaredNames } from "../items.ts";
import type { Workflow } from "../parse.ts";
import type { StepDefinition } from "../parse-step.ts";
import type { Export } from "../parse-work.ts";
import type { StepGraph } from "../step-graph.ts";
import type { LowerContext } from "./lower-common.ts";
import { lowerTemplate, lowerValue } from "./lower-expr.ts";
import { lowerStep } from "./lower-step.ts";

/** Turns a workflow without errors into the graph that runs. */
export function lowerWorkflow(workflow: Workflow, steps: StepGraph, source: SourceText): Graph {
  const declared = declaredNames(workflow);
  const context = { workflow, source, declared, ...computeItemDomains(workflow, steps) };
  return {
    format: 1,
    dialect: "sandcastle",
    name: workflow.name,
    description: workflow.description,
    input: workflow.input,
    flow: {
      kind: "dag",
      steps: workflow.steps.flatMap((step) => [lowerStep(step, context), ...lowerExports(step, context)]),
    },
    limits: workflow.limits,
    ending: lowerEnding(workflow, declared),
    ...(typeof workflow.schedule === "object" ? { triggers: [workflow.schedule] } : { schedule: workflow.schedule }),
    ...lowerRuns(workflow, declared),
    envAllowed: workflow.envAllowed,
    settings: {
      ...(workflow.sandstormUrl === undefined ? {} : { sandstorm_url: workflow.sandstormUrl }),
      ...(workflow.references === undefined ? {} : { references: workflow.references }),
    },
  };
}

function lowerRuns(
  { concurrency, rate, debounce }: Workflow,
  declared: ReadonlySet<string>,
): Pick<Graph, "concurrency" | "rate"> {
  const shared = ({ key, scope }: Pick<NonNullable<Workflow["rate"]>, "key" | "scope">) => ({
    ...(key && { key: lowerValue(key, { declared, perItem: false }) }),
    ...(scope && { scope: scope.value }),
  });
  const toWhenFull = (written: "queue" | "cancel_older" | "skip") =>
    written === "cancel_older" ? "cancelOlder" : written;
  return {
    ...(concurrency && {
      concurrency: { limit: concurrency.limit, whenFull: toWhenFull(concurrency.when_full), ...shared(concurrency) },
    }),
    ...(debounce && { concurrency: { ...toDebounce(debounce.wait), ...shared(debounce) } }),
    ...(rate && {
      rate: { limit: rate.limit ?? 1, perMs: rate.per ?? 1, whenFull: rate.when_full, ...shared(rate) },
    }),
  };
}

function lowerEnding(workflow: Workflow, declared: ReadonlySet<string>): Ending {
  const { storagePath, completionWebhook, failureWebhook, approvalWebhook, deadLetter } = workflow;
  return {
    ...(storagePath === undefined ? {} : { storagePath: lowerTemplate(storagePath, { declared, perItem: false }) }),
    completionWebhook,
    failureWebhook,
    approvalWebhook,
    deadLetter,
  };
}

const CSV_TIMEOUT_MS = 60_000;
const REPORT_TIMEOUT_MS = 120_000;

/**
 * A file is written by a step of its own behind the one whose output it holds, so that a crash, a full disk or a wrong
 * path is dealt with as with any step: it is tried again, shown, and fails nothing but itself. Its id has a dot, which
 * no id in a file may have.
 */
function lowerExports(step: StepDefinition, context: LowerContext): readonly TaskStep[] {
  return step.exports.map((found) => lowerExport(step, found, context));
}

function lowerExport(
  step: StepDefinition,
  found: Export,
  { declared, domainOf, workflow, source }: LowerContext,
): TaskStep {
  const scope = { declared, perItem: false };
  const common = {
    id: `${step.id}.${found.kind === "csv" ? "csv" : found.key === "report" ? "report" : "pdf"}`,
    place: source.position(found.at),
    after: [step.id],
    kind: "task",
    onFailure: "continue",
    isAside: true,
  } as const;
  const place = [
    ["output", outputOf(step.id)],
    ["step", literal(step.id)],
    ["directory", lowerTemplate(found.directory, scope)],
    ["filename", found.filename && lowerTemplate(found.filename, scope)],
    ["is_fan_out", literal(domainOf.has(step.id))],
  ] as const;
  if (found.kind === "csv") {
    const input = toObject([
      ...place,
      ["mode", literal(found.mode)],
      ["rows", literalIfAny(found.rows)],
      ["keep_formulas", found.keepsFormulas ? literal(true) : undefined],
    ]);
    return { ...common, executor: "csv", timeoutMs: CSV_TIMEOUT_MS, input };
  }
  const { format, title = workflow.name, language } = found;
  const input = toObject([
    ...place,
    ["date", { op: "path", root: "run", path: ["date"] }],
    ["format", literal(format)],
    ["title", literal(title)],
    ["language", literalIfAny(language)],
  ]);
  return { ...common, executor: "report", timeoutMs: REPORT_TIMEOUT_MS, input };
}
