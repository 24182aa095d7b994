import type { Expr } from "../../../core/expressions/expr.ts";
import { toMilliseconds } from "../../../core/expressions/to-milliseconds.ts";
import type { Wait } from "../../../core/graph/graph.ts";
import type { YamlScalar } from "../../source/yaml-node.ts";
import type { ControlBody, MergeBody, ResponseBody, StepDefinition, TryBody, WaitBody } from "../workflow.ts";
import { attemptsOf, type Doing, effortOf, UNREADABLE } from "./doing.ts";
import { lowerLoop, lowerParallel } from "./lower-fan-out.ts";
import { lowerSplit } from "./lower-split.ts";
import { literal, lowerInputs, lowerName, lowerValue, toObject, type ValueScope } from "./lower-value.ts";
import type { PlanBlock } from "./plan-block.ts";

/** Control steps as compositions of the steps that the core knows. */
export function lowerControl(step: StepDefinition, body: ControlBody, scope: ValueScope, planBlock: PlanBlock): Doing {
  switch (body.type) {
    case "respond":
      return lowerResponse(body, scope);
    case "loop":
      return lowerLoop(step, body, scope, planBlock);
    case "parallel":
      return lowerParallel(step, body, scope, planBlock);
    case "branch":
      return { kind: "set" };
    case "split":
      return lowerSplit(step, body, scope, planBlock);
    case "merge":
      return { kind: "set", value: lowerMerge(body, scope) };
    case "wait":
      return { kind: "wait", wait: lowerWait(body.wait, scope) };
    case "call": {
      const input = lowerInputs(body.input, scope);
      return { ...effortOf(step), kind: "call", workflow: lowerName(body.workflow.at, scope), input };
    }
    case "try":
      return lowerTry(step, body, scope, planBlock);
    case "unreadable":
      return UNREADABLE;
  }
}

/** In a block it is the block's output: what it answers with is up to the steps around. */
function lowerResponse({ resultType, data }: ResponseBody, scope: ValueScope): Doing {
  const value = toObject([
    ["resultType", literal(resultType)],
    ["data", orNull(lowerValue(data, { ...scope, takesPlainText: true }))],
  ]);
  return { kind: scope.flow.owners.length === 0 ? "respond" : "set", value };
}

/** What leads nowhere would leave its key out. */
function orNull(value: Expr): Expr {
  const isThere = value.op === "literal" || value.op === "object" || value.op === "list";
  return isThere ? value : { op: "first", of: [value, literal(null)] };
}

function lowerMerge({ strategy, sources, names, key }: MergeBody, scope: ValueScope): Expr {
  const values = sources.map((source) => lowerValue(source, scope));
  switch (strategy) {
    case "append":
      return { op: "call", fn: "concat", args: values };
    case "object":
      if (names === undefined) return { op: "call", fn: "merge", args: values };
      return toObject(values.map((value, index) => [names[index] ?? "", value]));
    case "byKey":
      return { op: "call", fn: "mergeBy", args: [{ op: "list", items: values }, literal(key)] };
  }
}

function lowerWait(wait: WaitBody, scope: ValueScope): Wait {
  switch (wait.for) {
    case "duration":
      return { for: "duration", durationMs: lowerDuration(wait.duration, scope) };
    case "instant":
      return { for: "instant", at: lowerInstant(wait.until.at, scope) };
    case "event": {
      const timeout = wait.timeoutMs === undefined ? {} : { timeoutMs: wait.timeoutMs };
      return { for: "event", name: lowerName(wait.name.at, scope), ...timeout };
    }
  }
}

function lowerDuration(duration: YamlScalar, scope: ValueScope): Expr {
  const { value } = duration;
  const durationMs = typeof value === "boolean" ? undefined : toMilliseconds(value);
  if (durationMs !== undefined && durationMs > LONGEST_MS) {
    const message = "The step would wait for more than three years.";
    scope.context.problems.error({ code: "VALUE_INVALID", at: duration, message, remedy: "Wait less long." });
  }
  if (durationMs !== undefined) return literal(durationMs);
  if (isNegative(value)) {
    const message = "A duration cannot be negative.";
    scope.context.problems.error({ code: "VALUE_INVALID", at: duration, message, remedy: "Write 0 or more." });
    return literal(0);
  }
  return { op: "call", fn: "toMilliseconds", args: [lowerValue(duration, scope)] };
}

/** Numbers have been reported with the structure. */
function isNegative(value: YamlScalar["value"]): boolean {
  return typeof value === "string" && /^\s*-\s*(\d+|(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?)\s*$/.test(value);
}

const LONGEST_MS = 3 * 366 * 24 * 3_600_000;

function lowerInstant(until: YamlScalar, scope: ValueScope): Expr {
  const text = String(until.value).trim();
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return lowerValue(until, scope);
  if (Number.isNaN(Date.parse(text))) {
    const message = "`until` must be a time such as `2026-05-01T09:00:00Z`.";
    scope.context.problems.error({ code: "VALUE_INVALID", at: until, message, remedy: "Write it in ISO 8601." });
  }
  return literal(text);
}

function lowerTry(step: StepDefinition, body: TryBody, scope: ValueScope, planBlock: PlanBlock): Doing {
  const tried = planBlock(body.body, step, scope.flow)?.lower({});
  const caught = body.catch && planBlock(body.catch, step, scope.flow)?.lower({ allowsError: true });
  const last = body.finally && planBlock(body.finally, step, scope.flow)?.lower({});
  if (tried === undefined) return UNREADABLE;
  return { ...attemptsOf(step), kind: "flow", flow: tried, catch: caught, finally: last };
}
