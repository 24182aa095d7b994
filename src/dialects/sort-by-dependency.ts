interface Dependant {
  readonly id: string;
  readonly dependsOn: readonly { readonly id: string }[];
}

/** Every step after those that it depends on; steps in or behind a cycle are left out. */
export function sortByDependency<Step extends Dependant>(byId: ReadonlyMap<string, Step>): readonly Step[] {
  const order: Step[] = [];
  const open = new Map<string, number>();
  const dependants = new Map<string, Step[]>();
  for (const step of byId.values()) {
    const needed = new Set(step.dependsOn.map(({ id }) => id).filter((id) => byId.has(id)));
    open.set(step.id, needed.size);
    for (const id of needed) {
      const known = dependants.get(id);
      if (known === undefined) dependants.set(id, [step]);
      else known.push(step);
    }
    if (needed.size === 0) order.push(step);
  }
  for (let next = 0; next < order.length; next += 1) {
    for (const dependant of dependants.get(order[next]?.id ?? "") ?? []) {
      const left = (open.get(dependant.id) ?? 0) - 1;
      open.set(dependant.id, left);
      if (left === 0) order.push(dependant);
    }
  }
  return order;
}
