import type { Expr } from "../../../core/expressions/expr.ts";
import { mapChildren } from "../../../core/expressions/walk-paths.ts";
import type { SetStep, Step } from "../../../core/graph/graph.ts";
import type { ControlOf, StepDefinition } from "../shape/step-shape.ts";

type SplitBody = ControlOf<"split">;

import { call, literal, outputOf, toObject } from "../../build-expr.ts";
import type { PlanBlock } from "./flow-plan.ts";
import { attemptsOf, type Doing, freeId, UNREADABLE } from "./lower-context.ts";
import { eachWhole, failureRule, fanOutId, lowerItem, lowerList, wholeOf } from "./lower-fan-out.ts";
import { lowerValue, type ValueScope } from "./lower-value.ts";

/** First all items get their route, then the bodies of the routes run side by side. */
export function lowerSplit(step: StepDefinition, body: SplitBody, scope: ValueScope, planBlock: PlanBlock): Doing {
  if (body.list === undefined || body.routes === undefined) return UNREADABLE;
  const { list, before, after } = lowerList(body.list, scope);
  const sortId = freeId("sort", scope.context, scope.flow.fanOuts);
  const sort: SetStep = {
    kind: "set",
    id: sortId,
    ...(after.length === 0 ? {} : { after }),
    each: eachWhole(list),
    value: toObject(sortItems(body, sortId, scope)),
  };
  const routes = lowerRoutes(step, body, { sortId, scope, planBlock });
  const result: SetStep = {
    kind: "set",
    id: freeId("result", scope.context),
    after: [sortId, ...routes.map(({ step: { id } }) => id)],
    value: toObject(
      namesOf(body).map((name) => {
        const route = routes.find((each) => each.name === name);
        return [name, route === undefined ? outputOf(sortId, 0, name) : outputOf(route.step.id)];
      }),
    ),
  };
  const steps = [...before, sort, ...routes.map((route) => route.step), result];
  return { ...attemptsOf(body), kind: "flow", flow: { kind: "dag", steps, result: result.id } };
}

/** The name under which the whole list is filtered. */
const ITEM = "split item";

/** The items of each route, in their order. */
function sortItems(body: SplitBody, sortId: string, scope: ValueScope): readonly (readonly [string, Expr])[] {
  const rest = body.default?.value;
  const all = wholeOf(sortId);
  const conditions = lowerConditions(body, scope);
  const none: Expr = { op: "and", of: conditions.map(([, condition]) => negate(condition)) };
  const sorted = conditions.map(([name, condition], index): readonly [string, Expr] => {
    const earlier = conditions.slice(0, index).map(([, before]) => negate(before));
    const own: Expr = { op: "and", of: [...earlier, condition] };
    return [name, filter(all, name === rest ? { op: "or", of: [own, none] } : own)];
  });
  const isNew = rest !== undefined && !conditions.some(([name]) => name === rest);
  return rest === undefined || !isNew ? sorted : [...sorted, [rest, filter(all, none)]];
}

/** Without a condition a route takes everything; as that of the rest it takes nothing before the others. */
function lowerConditions(body: SplitBody, scope: ValueScope): readonly (readonly [string, Expr])[] {
  const locals = new Map([...scope.flow.locals, [body.itemVar, { root: "item", name: ITEM }] as const]);
  const rest = body.default?.value;
  const inner: ValueScope = { ...scope, flow: { ...scope.flow, locals } };
  return (body.routes ?? []).map(({ name, condition }) => {
    const lowered = condition === undefined ? literal(name !== rest) : lowerValue(condition, inner);
    return [name, itemToLocal(lowered)] as const;
  });
}

function itemToLocal(expr: Expr): Expr {
  if (expr.op !== "path") return mapChildren(expr, itemToLocal);
  return expr.root === "item" && expr.name === ITEM ? { ...expr, root: "local" } : expr;
}

function filter(list: Expr, body: Expr): Expr {
  return { op: "filter", list, as: ITEM, body };
}

function negate(of: Expr): Expr {
  return { op: "not", of };
}

function namesOf({ routes = [], default: others }: SplitBody): readonly string[] {
  const rest = others?.value;
  const names = routes.map(({ name }) => name);
  return rest === undefined || names.includes(rest) ? names : [...names, rest];
}

function lowerRoutes(
  step: StepDefinition,
  body: SplitBody,
  { sortId, scope, planBlock }: { readonly sortId: string; readonly scope: ValueScope; readonly planBlock: PlanBlock },
): readonly { readonly name: string; readonly step: Step }[] {
  return (body.routes ?? []).flatMap(({ name, body: block }) => {
    const planned = block && planBlock(block, step, scope.flow);
    if (planned === undefined) return [];
    const id = fanOutId(planned, name, scope);
    const item = lowerItem(planned, {
      id,
      variables: [[body.itemVar, { root: "item", name: id }]],
      scope,
      isConcurrent: body.maxConcurrency > 1,
    });
    const list = call("coalesce", outputOf(sortId, 0, name));
    const each = { list, maxConcurrent: body.maxConcurrency };
    return [{ name, step: { ...item, after: [sortId], each, ...failureRule(body) } }];
  });
}
