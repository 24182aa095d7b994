import { type Builder, type BuiltStep, type Fields, fieldsOf } from "./builder.ts";
import { readDefinition, setAt } from "./edit-text.ts";

/** Steps that stand by their names in an object. */
export function readNamed(text: string, name: string): readonly BuiltStep[] {
  const steps = fieldsOf(fieldsOf(readDefinition(text))[name]);
  return Object.entries(steps).map(([id, fields]) => ({ id, path: [name, id], fields: fieldsOf(fields) }));
}

interface Machine {
  readonly builder: Builder;
  readonly group: string;
  readonly startPath: readonly string[];
  /** Nothing comes after it: a new step comes before it. */
  isEnd(step: { readonly fields: Fields }): boolean;
  goingTo(step: { readonly fields: Fields }, next: string | undefined): Fields;
}

/** Puts a step on the way: what led on from the one before it leads on from it. */
export function insertStep(text: string, added: Parameters<Builder["addStep"]>[1], machine: Machine): string {
  const { builder, group, startPath, isEnd, goingTo } = machine;
  const { id, fields } = added;
  const steps = builder.readSteps(text);
  const successOf = (step: BuiltStep) => builder.readLinks(step).find(({ when }) => when === "success");
  const behind = added.behind ?? steps.findLast((step) => isEnd(step)) ?? steps.findLast((step) => !successOf(step));
  if (behind === undefined) return setAt(text, [group, id], { ...fields, ...goingTo({ fields }, undefined) });
  if (isEnd(behind)) {
    const start = fieldsOf(readDefinition(text))[startPath[0] ?? ""];
    const started = start === behind.id ? setAt(text, startPath, id) : text;
    const led = steps.reduce((before, step) => {
      const links = builder.readLinks(step);
      if (!links.some(({ to }) => to === behind.id)) return before;
      const moved = links.map((link) => (link.to === behind.id ? { ...link, to: id } : link));
      return builder.writeLinks(before, step, moved);
    }, started);
    return setAt(led, [group, id], { ...fields, ...goingTo({ fields }, behind.id) });
  }
  const links = builder.readLinks(behind);
  const next = links.find(({ when }) => when === "success");
  const others = links.filter((link) => link !== next);
  const led = builder.writeLinks(text, behind, [...others, { when: "success", to: id }]);
  return setAt(led, [group, id], { ...fields, ...goingTo({ fields }, next?.to) });
}
