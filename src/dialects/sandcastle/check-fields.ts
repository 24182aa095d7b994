import type { JsonObject } from "../../core/json.ts";
import { isMisspelt, suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import { fieldsOf, itemSchemaOf, outputSchemaOf, partOf } from "./declared-fields.ts";
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
  } else if (reference.to === "input") {
    checkInput(slot, reference.path, { domain, workflow, checked });
  }
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
  path.forEach((key, index) => {
    const known = fieldsOf(partOf(schema, path.slice(0, index)));
    if (typeof key === "string" && known !== undefined && !known.has(key))
      reportSlip(slot, key, { known, says, isClosed: isClosed(partOf(schema, path.slice(0, index))) }, problems);
  });
}

/** Nothing but what it declares can be there. */
function isClosed(schema: JsonObject | undefined): boolean {
  return schema?.["additionalProperties"] === false;
}

function reportSlip(
  { written, start, end }: Slot,
  name: string,
  {
    known,
    says,
    isClosed = false,
  }: { readonly known: ReadonlySet<string>; readonly says: string; readonly isClosed?: boolean },
  problems: ProblemList,
): void {
  if (!isClosed && !isMisspelt(name, known)) return;
  const message = `\`${toExcerpt(written)}\`: ${says} does not declare \`${toExcerpt(name)}\`.`;
  problems.slip({ code: "EXPRESSION_INVALID", at: { start, end }, message, remedy: suggest(name, known) });
}

function itemsOf(domain: string | undefined, { workflow, graph }: Checked): JsonObject | undefined {
  const opener = domain === undefined ? undefined : graph.byId.get(domain);
  return opener && itemSchemaOf(opener, workflow, graph.byId);
}
