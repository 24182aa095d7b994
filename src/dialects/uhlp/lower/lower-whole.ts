import type { Expr, PathExpr } from "../../../core/expressions/expr.ts";
import type { MachineFlow, Step } from "../../../core/graph/graph.ts";
import { stepsWithin } from "../../../core/graph/steps-within.ts";
import { call, isEqualTo, literal, output, outputOf, toObject, variable } from "../../build-expr.ts";
import type { StepDefinition } from "../shape/step-shape.ts";
import type { PlanBlock } from "./flow-plan.ts";
import { freeId, type LowerContext } from "./lower-context.ts";
import type { ValueScope } from "./lower-value.ts";

const UNDO = "undo item";
const FAILURE: Expr = { op: "path", root: "failure", path: [] };

/**
 * `compensate`: each time that the step succeeds, the values that its block reads are kept with the outcome, in a list of its own:
 * what is recorded at once by two steps would lose one of them.
 */
export function lowerUndo(
  step: StepDefinition,
  scope: ValueScope,
  planBlock: PlanBlock,
): { readonly [name: string]: Expr } {
  const { context, flow: around } = scope;
  const block = step.body?.compensate;
  if (block === undefined) return {};
  if (around.isConcurrent === true || around.isUndo === true) {
    const message =
      around.isUndo === true
        ? "What takes back is not taken back itself."
        : "Of items that run side by side none can be taken back.";
    const remedy =
      around.isUndo === true
        ? "Remove `compensate`."
        : "Set `maxConcurrency: 1`, or say at the loop what takes it back.";
    context.problems.error({ code: "NOT_SUPPORTED", at: step.at, message, remedy });
    return {};
  }
  const flow = planBlock(block, step, around)?.lower({ isUndo: true });
  if (flow === undefined) return {};
  const kept = new Map<string, Expr>();
  const name = `undo ${context.undos.length + 1}`;
  context.undos.push({ step: step.id, variable: name, flow: keepValues(flow, step.id, kept) });
  const entry = toObject([
    ["no", literal(context.undos.length)],
    ["at", { op: "path", root: "run", path: ["now"] }],
    ...kept,
  ]);
  const longer = call("concat", variable(name), { op: "list", items: [entry] });
  return { [name]: { op: "if", of: { op: "defined", of: FAILURE }, yes: variable(name), no: longer } };
}

/** The flow with values of before in place of what can no longer be read when it runs. */
function keepValues(flow: MachineFlow, stepId: string, kept: Map<string, Expr>): MachineFlow {
  const own = new Set(stepsWithin(flow).map(({ id }) => id));
  const isOutside = ({ root, name = "" }: PathExpr) =>
    root === "error" || ((root === "steps" || root === "item" || root === "index") && !own.has(name));
  const keep = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(keep);
    if (typeof part !== "object" || part === null || ("op" in part && part.op === "literal")) return part;
    const path = part as PathExpr;
    if (path.op !== "path" || !isOutside(path))
      return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, keep(value)]));
    const { name: _, ...rest } = path;
    const key = `v${kept.size}`;
    kept.set(key, path.root === "steps" && path.name === stepId ? { ...rest, root: "output" } : path);
    return { op: "path", root: "item", name: UNDO, path: [key], readsJson: true } satisfies PathExpr;
  };
  return keep(flow) as MachineFlow;
}

/** The flow of a workflow within a step that catches its failure, and takes back what was done unless it has succeeded. */
export function withCare(flow: MachineFlow, onError: MachineFlow | undefined, context: LowerContext): MachineFlow {
  const { undos } = context;
  if (onError === undefined && undos.length === 0) return flow;
  const { variables = {}, ...inner } = flow;
  const id = freeId("workflow", context);
  const care: Step = {
    id,
    kind: "flow",
    flow: inner,
    ...(onError === undefined ? {} : { catch: handle(onError, context) }),
    ...(undos.length === 0 ? {} : { finally: { kind: "dag", steps: takeBack(context) } }),
  };
  const lists = Object.fromEntries(undos.map(({ variable }) => [variable, null]));
  return { kind: "machine", start: id, variables: { ...variables, ...lists }, steps: [care] };
}

/** A response of the block answers the run. Otherwise the failure goes on: its own, or the one that it handles. */
function handle(flow: MachineFlow, context: LowerContext): MachineFlow {
  const id = freeId("onError", context);
  const isAnswer: Expr = { op: "defined", of: output("resultType") };
  const steps: readonly Step[] = [
    {
      id,
      kind: "flow",
      flow,
      transitions: [
        { on: "success", when: isAnswer, to: { end: "success" } },
        { on: "any", to: { end: "failure" } },
      ],
    },
  ];
  return { kind: "machine", start: id, steps };
}

function takeBack(context: LowerContext): readonly Step[] {
  const { undos } = context;
  const list = freeId("done", context);
  const all = call("concat", ...undos.map(({ variable: name }) => variable(name)));
  const times: Expr = {
    op: "map",
    list: all,
    as: "done",
    body: { op: "path", root: "local", name: "done", path: ["at"] },
  };
  const isDone: Expr = { op: "path", root: "done", path: ["body"] };
  const steps = undos.map(
    ({ step, flow }, index): Step => ({
      id: `undo-${step}-${index + 1}`,
      says: `takes back ${step}`,
      kind: "flow",
      flow,
      when: isEqualTo({ op: "path", root: "item", name: UNDO, path: ["no"] }, literal(index + 1)),
    }),
  );
  return [
    { id: list, kind: "set", when: { op: "not", of: isDone }, value: call("reverse", call("sortBy", all, times)) },
    {
      id: UNDO,
      kind: "flow",
      after: [list],
      each: { list: outputOf(list), maxConcurrent: 1 },
      onFailure: "continue",
      flow: { kind: "dag", steps },
    },
  ];
}
