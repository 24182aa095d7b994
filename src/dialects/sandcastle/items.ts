import { fieldsOf as declaredFieldsOf } from "../declared-names.ts";
import { itemSchemaOf } from "./declared-fields.ts";
import type { Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import { slotsOfStep } from "./references/slots.ts";
import type { Slot } from "./references/template.ts";
import type { StepGraph } from "./step-graph.ts";

/** The use that a step makes of an item, read as if no undeclared name were in the input. */
export interface ItemUse {
  /** Fields of an item: `{input.FIELD}` where the input does not declare FIELD. */
  readonly fields: readonly string[];
  /** Names the item as a whole: `{item}`, `{input._item}`, `{input._index}`. */
  readonly whole: boolean;
}

/**
 * Which fan-out each step follows: its own id where it opens one, that of another step where it runs once per item of
 * that one's list.
 */
export interface ItemDomains {
  readonly domainOf: ReadonlyMap<string, string>;
  /**
   * Steps that follow a fan-out whatever the input has: they say so, or name a declared field of its items. For the others a
   * run decides anew with its real input, and can then only find fewer: a name that the input has is no field.
   */
  readonly certain: ReadonlySet<string>;
  /** Declared fields of the items of a fan-out, where any are declared. */
  readonly fieldsOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** Steps that name an item while two or more fan-outs could give it, with those fan-outs. */
  readonly ambiguous: ReadonlyMap<string, readonly string[]>;
}

export function computeItemDomains(workflow: Workflow, { order, byId }: StepGraph): ItemDomains {
  const declared = declaredNames(workflow);
  const domainOf = new Map<string, string>();
  const certain = new Set<string>();
  const fieldsOf = new Map<string, ReadonlySet<string>>();
  const ambiguous = new Map<string, readonly string[]>();
  for (const step of order) {
    const { id, each } = step;
    if (step.fanOut !== undefined) {
      if (!isFanOut(step)) continue;
      domainOf.set(id, id);
      const fields = declaredFieldsOf(itemSchemaOf(step, workflow, byId));
      if (fields !== undefined) fieldsOf.set(id, fields);
      continue;
    }
    if (each === false) continue;
    const near = [...new Set(step.dependsOn.flatMap((need) => domainOf.get(need.id) ?? []))];
    if (each !== undefined) {
      const named = domainOf.get(each.value);
      if (named === undefined || !near.includes(named)) continue;
      domainOf.set(id, named);
      certain.add(id);
      continue;
    }
    const use = findItemUse(step, declared);
    const given = near.filter(
      (domain) => use.whole || use.fields.some((name) => mayBeField(name, fieldsOf.get(domain))),
    );
    const [only] = given;
    if (given.length > 1) ambiguous.set(id, given);
    else if (only !== undefined) {
      domainOf.set(id, only);
      if (use.fields.some((name) => fieldsOf.get(only)?.has(name))) certain.add(id);
    }
  }
  return { domainOf, certain, fieldsOf, ambiguous };
}

function mayBeField(name: string, declared: ReadonlySet<string> | undefined): boolean {
  return declared === undefined || declared.has(name);
}

/** A sub-workflow with an `output_mapping` gives a map of lists, as in the original, and so no list to follow. */
function isFanOut(step: StepDefinition): boolean {
  const mapsOutput = step.body.type === "subWorkflow" && step.body.output !== undefined;
  return step.fanOut !== undefined && !mapsOutput;
}

export function findItemUse(step: StepDefinition, declared: ReadonlySet<string>): ItemUse {
  const slots = slotsOfStep(step);
  const fields = slots.flatMap((slot) => findField(slot, declared) ?? []);
  return { fields: [...new Set(fields)], whole: slots.some((slot) => namesItem(slot, declared)) };
}

/** Names that the input declares, in which `{input.NAME}` never means an item. */
export function declaredNames(workflow: Workflow): ReadonlySet<string> {
  return new Set(workflow.input.declared);
}

export function usesItem(use: ItemUse): boolean {
  return use.whole || use.fields.length > 0;
}

function findField({ reference }: Slot, declared: ReadonlySet<string>): string | undefined {
  if (reference.to !== "input") return undefined;
  const [name] = reference.path;
  if (name === undefined || declared.has(String(name)) || name === "_item" || name === "_index") return undefined;
  return String(name);
}

function namesItem({ reference }: Slot, declared: ReadonlySet<string>): boolean {
  if (reference.to === "item") return true;
  const [name] = reference.to === "input" ? reference.path : [];
  return (name === "_item" || name === "_index") && !declared.has(name);
}
