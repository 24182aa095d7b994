import type { Expr } from "../../../core/expressions/expr.ts";
import type { TaskStep } from "../../../core/graph/graph.ts";
import { literal, toObject } from "../../build-expr.ts";
import type { Export } from "../parse-exports.ts";
import type { StepDefinition } from "../parse-step.ts";
import type { LowerContext } from "./lower-common.ts";
import { lowerTemplate } from "./lower-expr.ts";

const CSV_TIMEOUT_MS = 60_000;
const REPORT_TIMEOUT_MS = 120_000;

/**
 * A file is written by a step of its own behind the one whose output it holds, so that a crash, a full disk or a wrong
 * path is dealt with as with any step: it is tried again, shown, and fails nothing but itself. Its id has a dot, which
 * no id in a file may have.
 */
export function lowerExports(step: StepDefinition, context: LowerContext): readonly TaskStep[] {
  return step.exports.map((found) => lowerExport(step, found, context));
}

function lowerExport(
  step: StepDefinition,
  found: Export,
  { declared, domainOf, workflow, source }: LowerContext,
): TaskStep {
  const scope = { declared, perItem: false };
  const optional = (name: string, value: string | undefined) =>
    value === undefined ? [] : [[name, literal(value)] as const];
  const common = {
    id: `${step.id}.${found.kind === "csv" ? "csv" : found.key === "report" ? "report" : "pdf"}`,
    place: source.position(found.at),
    after: [step.id],
    kind: "task",
    onFailure: "continue",
    isAside: true,
  } as const;
  const place = [
    ["output", { op: "path", root: "steps", name: step.id, path: [] }],
    ["step", literal(step.id)],
    ["directory", lowerTemplate(found.directory, scope)],
    ...(found.filename === undefined ? [] : [["filename", lowerTemplate(found.filename, scope)] as const]),
    ["is_fan_out", literal(domainOf.has(step.id))],
  ] as const;
  if (found.kind === "csv") {
    const own = [["mode", literal(found.mode)], ...optional("rows", found.rows)] as const;
    const formulas = found.keepsFormulas ? [["keep_formulas", literal(true)] as const] : [];
    const input = toObject([...place, ...own, ...formulas]);
    return { ...common, executor: "csv", timeoutMs: CSV_TIMEOUT_MS, input };
  }
  const { format, title = workflow.name, language } = found;
  const date: Expr = { op: "path", root: "run", path: ["date"] };
  const own = [
    ["date", date],
    ["format", literal(format)],
    ["title", literal(title)],
    ...optional("language", language),
  ] as const;
  return { ...common, executor: "report", timeoutMs: REPORT_TIMEOUT_MS, input: toObject([...place, ...own]) };
}
