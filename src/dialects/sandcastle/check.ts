import { suggest } from "../did-you-mean.ts";
import { reportBoth, reportKey } from "../places.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import { checkFields } from "./check-fields.ts";
import { computeItemDomains, type ItemDomains } from "./items.ts";
import type { Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import { leavesStorage } from "./references/reference.ts";
import { slotsOfStep } from "./references/slots.ts";
import { type Slot, slotsOf } from "./references/template.ts";
import { slotsOfValue } from "./references/value.ts";
import { findCycles, type StepGraph } from "./step-graph.ts";

/** Checks what holds between steps: ids, dependencies, references and items. */
export function checkWorkflow(workflow: Workflow, graph: StepGraph, problems: ProblemList): void {
  checkIds(workflow, problems);
  for (const step of workflow.steps) checkDependencies(step, graph, problems);
  checkCycles(graph, problems);
  const domains = computeItemDomains(workflow, graph);
  for (const step of workflow.steps) {
    checkReferences(step, graph, problems);
    checkEach(step, domains, { graph, problems });
    checkItems(step, domains, problems);
  }
  for (const slot of workflow.storagePath === undefined ? [] : slotsOf(workflow.storagePath))
    checkStepExists(slot, graph, problems);
  for (const option of ["concurrency", "rate", "debounce"] as const) {
    const { key } = workflow[option] ?? {};
    for (const slot of key === undefined ? [] : slotsOfValue(key))
      if (slot.reference.to !== "input") reportKey(option, slot, problems);
  }
  if (workflow.concurrency !== undefined && workflow.debounce !== undefined) reportBoth(workflow.debounce.at, problems);
  checkFields({ workflow, graph, domains, problems });
}

function checkIds(workflow: Workflow, problems: ProblemList): void {
  const seen = new Set<string>();
  for (const { id, at } of workflow.steps) {
    if (seen.has(id)) problems.error({ code: "STEP_DUPLICATE", at, message: `Duplicate step ID: '${toExcerpt(id)}'` });
    seen.add(id);
  }
}

function checkDependencies(step: StepDefinition, graph: StepGraph, problems: ProblemList): void {
  for (const { id, at } of step.dependsOn) {
    if (graph.byId.has(id)) continue;
    const message = `Step '${toExcerpt(step.id)}' depends on unknown step '${toExcerpt(id)}'`;
    problems.error({ code: "STEP_UNKNOWN", at, message, remedy: suggest(id, graph.byId.keys()) });
  }
}

function checkCycles(graph: StepGraph, problems: ProblemList): void {
  for (const { path, at } of findCycles(graph)) {
    const message = path.length === 2 ? `Cycle: step '${path[0]}' depends on itself` : `Cycle: ${path.join(" -> ")}`;
    problems.error({ code: "STEP_CYCLE", at, message });
  }
}

function checkReferences(step: StepDefinition, graph: StepGraph, problems: ProblemList): void {
  const slots = step.fanOut === undefined ? slotsOfStep(step) : [step.fanOut.list, ...slotsOfStep(step)];
  // A misspelt dependency is one mistake: do not report the references that rely on it as well.
  const isComplete = step.dependsOn.every(({ id }) => graph.byId.has(id));
  for (const slot of slots) {
    checkStorage(slot, problems);
    if (slot.reference.to !== "step" || !checkStepExists(slot, graph, problems)) continue;
    const named = slot.reference.step;
    if (!isComplete || graph.ancestorsOf(step.id).has(named)) continue;
    const message =
      named === step.id
        ? `Step '${step.id}' cannot read its own output.`
        : `Step '${step.id}' reads the output of '${named}', which need not have run before.`;
    const remedy = named === step.id ? "Name a step that runs before." : `Add \`${named}\` to its \`depends_on\`.`;
    problems.error({ code: "STEP_NOT_ANCESTOR", at: slot, message, remedy });
  }
}

function checkStepExists(slot: Slot, graph: StepGraph, problems: ProblemList): boolean {
  const { reference } = slot;
  if (reference.to !== "step" || graph.byId.has(reference.step)) return true;
  const message = `\`${toExcerpt(slot.written)}\` reads the output of an unknown step.`;
  problems.error({ code: "STEP_UNKNOWN", at: slot, message, remedy: suggest(reference.step, graph.byId.keys()) });
  return false;
}

function checkStorage({ reference, written, start, end }: Slot, problems: ProblemList): void {
  if (reference.to !== "storage" || !leavesStorage(reference.file)) return;
  const message = `\`${toExcerpt(written)}\` leaves the storage.`;
  problems.error({ code: "STORAGE_PATH_INVALID", at: { start, end }, message });
}

/** `each` names a fan-out, or a step that follows one, and depends on it or on one that follows it. */
function checkEach(
  { id, each, fanOut, dependsOn }: StepDefinition,
  { domainOf }: ItemDomains,
  { graph, problems }: { readonly graph: StepGraph; readonly problems: ProblemList },
): void {
  if (each === undefined || each === false) return;
  const { value: named, at } = each;
  const shown = toExcerpt(named);
  if (fanOut !== undefined) {
    const message = `Step '${id}' has a list of its own, and \`each\`.`;
    problems.error({ code: "VALUE_INVALID", at, message, remedy: "Leave out `each`, or `parallel_over`." });
  } else if (!graph.byId.has(named)) {
    const message = `\`each\` names an unknown step '${shown}'.`;
    problems.error({ code: "STEP_UNKNOWN", at, message, remedy: suggest(named, graph.byId.keys()) });
  } else if (domainOf.get(named) === undefined) {
    const message = `Step '${id}' cannot follow items of '${shown}', which runs once, or gives no list.`;
    problems.error({ code: "VALUE_INVALID", at, message, remedy: "Name a step with `parallel_over`." });
  } else if (!dependsOn.some((need) => domainOf.get(need.id) === domainOf.get(named))) {
    const message = `Step '${id}' follows items of '${shown}', and depends on no step that does.`;
    problems.error({ code: "STEP_NOT_ANCESTOR", at, message, remedy: `Add \`${shown}\` to its \`depends_on\`.` });
  }
}

function checkItems(step: StepDefinition, domains: ItemDomains, problems: ProblemList): void {
  const rivals = domains.ambiguous.get(step.id);
  if (rivals !== undefined) {
    const message = `Step '${step.id}' names a field of an item, but depends on two fan-outs: ${rivals.join(", ")}.`;
    const remedy = `Write \`each: ${rivals[0]}\`, declare the name in \`input_schema\`, or depend on one of them only.`;
    problems.error({ code: "AMBIGUOUS_ITEMS", at: step.at, message, remedy });
    return;
  }
  const outside = step.fanOut === undefined ? [] : [step.fanOut.list];
  for (const slot of outside) checkFieldOfList(slot, undefined, domains, problems);
  for (const slot of slotsOfStep(step)) checkFieldOfList(slot, domains.domainOf.get(step.id), domains, problems);
}

/** Inside its fan-out a step's output is that of the same item; seen from outside it is the list of all. */
function checkFieldOfList(
  slot: Slot,
  readerDomain: string | undefined,
  domains: ItemDomains,
  problems: ProblemList,
): void {
  const { reference } = slot;
  if (reference.to !== "step") return;
  const domain = domains.domainOf.get(reference.step);
  const [field] = reference.path;
  if (domain === undefined || domain === readerDomain || typeof field !== "string") return;
  const message = `\`${toExcerpt(slot.written)}\`: '${reference.step}' runs once per item, so its output is a list here and has no \`${toExcerpt(field)}\`.`;
  problems.error({ code: "FIELD_OF_LIST", at: slot, message });
}
