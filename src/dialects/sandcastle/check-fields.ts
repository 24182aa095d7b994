import type { JsonObject } from "../../core/json.ts";
import { findUndeclared, isClosed, partOf } from "../declared-names.ts";
import { isMisspelt, suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import { itemSchemaOf, outputSchemaOf } from "./declared-fields.ts";
import { declaredNames, type ItemDomains } from "./items.ts";
import type { Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import type { Path } from "./references/reference.ts";
import { slotsOfStep } from "./references/slots.ts";
import type { Slot } from "./references/template.ts";
import type { StepGraph } from "./step-graph.ts";

interface Checked {
  readonly workflow: Workflow;
  readonly graph: StepGraph;
  readonly domains: ItemDomains;
  readonly problems: ProblemList;
}

/**
 * Names in references that schemas do not declare. A value may hold more than its schema declares, so that only a likely
 * misspelling is an error, and any name that a schema rules out (`additionalProperties: false`).
 */
export function checkFields(checked: Checked): void {
  if (checked.workflow.references === "lenient") return;
  for (const step of checked.workflow.steps) {
    if (step.fanOut !== undefined) checkSlot(step.fanOut.list, { step, isList: true }, checked);
    for (const slot of slotsOfStep(step)) checkSlot(slot, { step, isList: false }, checked);
  }
}

interface Reader {
  readonly step: StepDefinition;
  /** It is the list of the step's fan-out, which is read from outside. */
  readonly isList: boolean;
}

function checkSlot(slot: Slot, { step, isList }: Reader, checked: Checked): void {
  const { reference } = slot;
  const { workflow, graph, domains, problems } = checked;
  const domain = isList ? undefined : domains.domainOf.get(step.id);
  if (reference.to === "item") {
    checkPath(slot, reference.path, { schema: itemsOf(domain, checked), says: "the items' schema" }, problems);
  } else if (reference.to === "step") {
    const isListOfAll = domains.domainOf.has(reference.step) && domains.domainOf.get(reference.step) !== domain;
    const schema = isListOfAll ? undefined : outputSchemaOf(graph.byId.get(reference.step));
    checkPath(slot, reference.path, { schema, says: `the \`output_schema\` of '${reference.step}'` }, problems);
  } else if (reference.to === "input") checkInput(slot, reference.path, { domain, workflow, checked });
}

function checkInput(
  slot: Slot,
  path: Path,
  {
    domain,
    workflow,
    checked,
  }: { readonly domain: string | undefined; readonly workflow: Workflow; readonly checked: Checked },
): void {
  const [first, ...rest] = path;
  const name = String(first);
  const { problems } = checked;
  const declared = declaredNames(workflow);
  if (first === undefined || name === "_index") return;
  if (declared.has(name)) {
    const schema = partOf(workflow.input.schema, [name]);
    return checkPath(slot, rest, { schema, says: "`input_schema`" }, problems);
  }
  const items = itemsOf(domain, checked);
  const isInputClosed = isClosed(workflow.input.schema);
  if (name === "_item") return checkPath(slot, rest, { schema: items, says: "the items' schema" }, problems);
  if (domain === undefined)
    return reportSlip(slot, name, { known: declared, says: "`input_schema`", isClosed: isInputClosed }, problems);
  // Where nothing is declared for items, any name may be one of their fields.
  const fields = checked.domains.fieldsOf.get(domain);
  if (fields === undefined || fields.has(name)) return;
  const known = new Set([...declared, ...fields]);
  reportSlip(slot, name, { known, says: "`input_schema`", isClosed: isInputClosed && isClosed(items) }, problems);
}

interface Declared {
  readonly schema: JsonObject | undefined;
  /** The schema's name in messages. */
  readonly says: string;
}

function checkPath(slot: Slot, path: Path, { schema, says }: Declared, problems: ProblemList): void {
  const found = findUndeclared(path, schema);
  if (found !== undefined) reportUndeclared(slot, String(path[found.at]), { known: found.known, says }, problems);
}

interface Slip {
  readonly known: ReadonlySet<string>;
  readonly says: string;
}

function reportSlip(
  slot: Slot,
  name: string,
  slip: Slip & { readonly isClosed: boolean },
  problems: ProblemList,
): void {
  if (slip.isClosed || isMisspelt(name, slip.known)) reportUndeclared(slot, name, slip, problems);
}

function reportUndeclared(
  { written, start, end }: Slot,
  name: string,
  { known, says }: Slip,
  problems: ProblemList,
): void {
  const message = `\`${toExcerpt(written)}\`: ${says} does not declare \`${toExcerpt(name)}\`.`;
  problems.slip({ code: "EXPRESSION_INVALID", at: { start, end }, message, remedy: suggest(name, known) });
}

function itemsOf(domain: string | undefined, { workflow, graph }: Checked): JsonObject | undefined {
  const opener = domain === undefined ? undefined : graph.byId.get(domain);
  return opener && itemSchemaOf(opener, workflow, graph.byId);
}
