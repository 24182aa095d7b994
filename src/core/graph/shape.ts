import { readKey, readPath } from "../expressions/read-path.ts";
import type { JsonObject } from "../json.ts";
import type { Flow, Step } from "./graph.ts";
import { flowsInside, orderSteps } from "./steps-within.ts";

/** A step that runs once, in no fan-out. */
export const SINGLE = -1;

/**
 * For each step of a dag the step whose fan-out it follows: its own index where it opens one, `SINGLE` where it is in
 * none. A step follows the fan-out that it says, else that of its direct dependencies if exactly one is there and it names
 * a field of an item; a name that the input has belongs to the input.
 */
export type Shape = readonly number[];

/** The input of the computation. */
interface ShapedFlow {
  readonly order: readonly number[];
  readonly steps: readonly { readonly step: Step; readonly after: readonly number[] }[];
}

/** The shape with an input that has none of the names that steps use for fields of an item. */
export function widestShape(flow: Flow): Shape {
  const plain = flow.steps.map((step, index) => (step.each === undefined ? SINGLE : index));
  if (flow.kind === "machine") return plain;
  const { after, order } = orderSteps(flow.steps);
  const steps = flow.steps.map((step, index) => ({ step, after: after[index] ?? [] }));
  const result = computeShape({ order, steps }, new Set());
  return result.ok ? result.shape : plain;
}

/**
 * The names that belong to the input and not to an item: those that it has, and of those that it has not the ones that no item has,
 * where all items that could are known. So an optional name that is absent changes no shape.
 */
export function inputNamesOf({ flow }: { readonly flow: Flow }, input: JsonObject): readonly string[] {
  const ofNone = new Set<string>();
  const ofSome = new Set<string>();
  for (const each of flowsWithin(flow)) {
    const shape = widestShape(each);
    for (const [index, { itemFields = [] }] of each.steps.entries()) {
      const opener = each.steps[shape[index] ?? SINGLE];
      if (opener?.each === undefined) continue;
      const { list } = opener.each;
      const items = list.op === "path" && list.root === "input" ? readPath(input, list.path) : undefined;
      const isAbsent = (name: string) =>
        Array.isArray(items) && items.length > 0 && items.every((item) => readKey(item, name) === undefined);
      for (const name of itemFields) (isAbsent(name) ? ofNone : ofSome).add(name);
    }
  }
  return [...new Set([...Object.keys(input), ...[...ofNone].filter((name) => !ofSome.has(name))])];
}

function flowsWithin(flow: Flow): readonly Flow[] {
  return [flow, ...flow.steps.flatMap((step) => flowsInside(step).flatMap((inside) => flowsWithin(inside.flow)))];
}

export type ShapeResult =
  | { readonly ok: true; readonly shape: Shape }
  /** Two fan-outs could give the item that `step` names. */
  | { readonly ok: false; readonly step: number; readonly field: string };

export function computeShape(flow: ShapedFlow, inputNames: ReadonlySet<string>): ShapeResult {
  const shape: number[] = flow.steps.map(() => SINGLE);
  for (const index of flow.order) {
    const indexed = flow.steps[index];
    if (indexed === undefined) continue;
    if (indexed.step.each !== undefined) {
      shape[index] = index;
      continue;
    }
    const { follows } = indexed.step;
    if (follows !== undefined) {
      shape[index] = shape[flow.steps.findIndex(({ step }) => step.id === follows)] ?? SINGLE;
      continue;
    }
    const field = indexed.step.usesItem ? "item" : indexed.step.itemFields?.find((name) => !inputNames.has(name));
    if (field === undefined) continue;
    const domains = new Set(indexed.after.map((need) => shape[need] ?? SINGLE).filter((domain) => domain !== SINGLE));
    if (domains.size > 1) return { ok: false, step: index, field };
    for (const domain of domains) shape[index] = domain;
  }
  return { ok: true, shape };
}
