import type { Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import { slotsOfStep } from "./references/slots.ts";
import type { Slot } from "./references/template.ts";

/** The use that a step makes of an item, read as if no undeclared name were in the input. */
export interface ItemUse {
  /** Fields of an item: `{input.FIELD}` where the input does not declare FIELD. */
  readonly fields: readonly string[];
  /** Names the item as a whole: `{item}`, `{input._item}`, `{input._index}`. */
  readonly whole: boolean;
}

/**
 * Which fan-out each step follows: its own id where it opens one, that of another step where it runs once per item of
 * that one's list. The run decides anew with its real input, and can then only find fewer: a name that the input has is
 * no field.
 */
export interface ItemDomains {
  readonly domainOf: ReadonlyMap<string, string>;
  /** Steps that name an item while two or more fan-outs could give it, with those fan-outs. */
  readonly ambiguous: ReadonlyMap<string, readonly string[]>;
}

/** `order`: every step after those that it depends on. */
export function computeItemDomains(order: readonly StepDefinition[], declared: ReadonlySet<string>): ItemDomains {
  const domainOf = new Map<string, string>();
  const ambiguous = new Map<string, readonly string[]>();
  for (const step of order) {
    if (step.fanOut !== undefined) {
      if (isFanOut(step)) domainOf.set(step.id, step.id);
      continue;
    }
    if (!usesItem(findItemUse(step, declared))) continue;
    const domains = new Set(step.dependsOn.flatMap(({ id }) => domainOf.get(id) ?? []));
    const [only] = domains;
    if (domains.size > 1) ambiguous.set(step.id, [...domains]);
    else if (only !== undefined) domainOf.set(step.id, only);
  }
  return { domainOf, ambiguous };
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
