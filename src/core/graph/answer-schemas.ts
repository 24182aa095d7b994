import type { Expr, PathExpr } from "../expressions/expr.ts";
import { childrenOf } from "../expressions/walk-paths.ts";
import { isNumber, type Json, type JsonObject } from "../json.ts";
import { exprsOfWait } from "./event-match.ts";
import type { Flow, Graph, Step } from "./graph.ts";
import { widestShape } from "./shape.ts";
import { flowsInside } from "./steps-within.ts";

/**
 * A JSON Schema for each step whose output has fields or items that other steps read: made-up answers in its shape lead the
 * run through the same steps as real ones. Comparisons are taken as true. The graph may be lifted.
 */
export function inferAnswerSchemas(graph: Graph): ReadonlyMap<Step, JsonObject> {
  const reads = new Reads();
  reads.addFlow(graph.flow, undefined);
  return reads.toSchemas();
}

/** What is read of a value. */
class Read {
  readonly fields = new Map<string, Read>();
  item: Read | undefined;
  /** Keywords for a value that is compared. */
  compared: JsonObject | undefined;

  field(name: string): Read {
    const known = this.fields.get(name) ?? new Read();
    this.fields.set(name, known);
    return known;
  }

  anyItem(): Read {
    this.item ??= new Read();
    return this.item;
  }

  at(key: string | number): Read {
    return typeof key === "number" || /^\d+$/.test(key) ? this.anyItem() : this.field(key);
  }
}

/** The names at one place of the graph. */
interface Here {
  readonly steps: ReadonlyMap<string, Step>;
  readonly outer: Here | undefined;
  readonly self?: Step;
  /** The fan-out around it. */
  readonly list?: FanOut;
  readonly locals?: ReadonlyMap<string, readonly Read[]>;
}

interface FanOut {
  readonly step: Step;
  readonly items: readonly Read[];
}

class Reads {
  readonly #ofStep = new Map<Step, Read>();
  /** The place of each step, and the step whose fan-out it opens or follows. */
  readonly #places = new Map<Step, { readonly here: Here; readonly domain: Step | undefined }>();

  toSchemas(): ReadonlyMap<Step, JsonObject> {
    const schemas = new Map<Step, JsonObject>();
    for (const [step, read] of this.#ofStep) {
      if (read.fields.size > 0 || read.item !== undefined || read.compared !== undefined)
        schemas.set(step, toSchema(read));
    }
    return schemas;
  }

  addFlow(flow: Flow, outer: Here | undefined): void {
    const here: Here = { steps: new Map(flow.steps.map((step) => [step.id, step])), outer };
    const domains = widestShape(flow).map((origin) => flow.steps[origin]);
    for (const [index, step] of flow.steps.entries()) this.#places.set(step, { here, domain: domains[index] });
    for (const [index, step] of flow.steps.entries()) this.#addStep(step, here, domains[index]);
  }

  #addStep(step: Step, around: Here, domain: Step | undefined): void {
    const list =
      domain?.each === undefined ? undefined : { step: domain, items: this.#items(domain.each.list, around) };
    const here: Here = { ...around, self: step, ...(list !== undefined && { list }) };
    // The output of a fallback takes the place of the step's.
    const fallback = step.catch?.kind === "dag" ? step.catch : undefined;
    const stand = fallback?.steps.find(({ id }) => id === fallback.result);
    if (stand !== undefined) this.#ofStep.set(stand, this.#readOf(step));
    for (const expr of expressionsOf(step)) this.#add(expr, here);
    for (const inner of flowsInside(step)) this.addFlow(inner.flow, here);
  }

  #readOf(step: Step): Read {
    const known = this.#ofStep.get(step) ?? new Read();
    this.#ofStep.set(step, known);
    return known;
  }

  #items(list: Expr, here: Here): readonly Read[] {
    const source = list.op === "path" && list.root === "steps" ? findStep(list.name, here) : undefined;
    // The outputs of a fan-out are a list already.
    if (source !== undefined && list.op === "path" && list.path.length === 0 && this.#isManyFor(source, here))
      return [this.#readOf(source)];
    return this.#add(list, here).map((read) => read.anyItem());
  }

  #isManyFor(source: Step, here: Here): boolean {
    const domain = this.#places.get(source)?.domain;
    for (let at: Here | undefined = here; at !== undefined; at = at.outer) if (at.list?.step === domain) return false;
    return domain !== undefined;
  }

  /** Notes what the expression reads. Gives the values that may be the expression's own. */
  #add(expr: Expr, here: Here): readonly Read[] {
    switch (expr.op) {
      case "path":
        return this.#addPath(expr, here);
      case "first":
        return expr.of.flatMap((one) => this.#add(one, here));
      case "index": {
        this.#add(expr.at, here);
        const key = expr.at.op === "literal" ? expr.at.value : 0;
        const reads = this.#add(expr.of, here);
        return typeof key === "string" || typeof key === "number" ? reads.map((read) => read.at(key)) : [];
      }
      case "map":
      case "filter":
      case "reduce": {
        const locals = new Map(here.locals).set(expr.as, this.#items(expr.list, here));
        if (expr.op === "reduce") locals.set(expr.into, this.#add(expr.first, here));
        this.#add(expr.body, { ...here, locals });
        return expr.op === "filter" ? this.#add(expr.list, here) : [];
      }
      case "if":
        this.#add(expr.of, here);
        return [expr.yes, expr.no].flatMap((one) => this.#add(one, here));
      case "compare":
        this.#compare(expr.left, expr.right, expr.by, here);
        this.#compare(expr.right, expr.left, MIRRORED[expr.by], here);
        return [];
      case "call": {
        const reads = expr.args.map((arg) => this.#add(arg, here));
        if (expr.fn === "itemCount" || expr.fn === "join") for (const read of reads[0] ?? []) read.anyItem();
        const passesOn = expr.fn === "asList" || expr.fn === "coalesce" || expr.fn === "parseJson";
        return passesOn || expr.fn === "toNumber" ? reads.flat() : [];
      }
      default:
        for (const child of childrenOf(expr)) this.#add(child, here);
        return [];
    }
  }

  #addPath(path: PathExpr, here: Here): readonly Read[] {
    if (path.root === "local") return follow(here.locals?.get(path.name ?? "") ?? [], path.path);
    if (path.root === "item") return follow(findList(path.name, here)?.items ?? [], path.path);
    if (path.root === "output") return follow(here.self === undefined ? [] : [this.#readOf(here.self)], path.path);
    const source = path.root === "steps" ? findStep(path.name, here) : undefined;
    if (source === undefined) return [];
    const isInstance = typeof path.path[0] === "number" && this.#isManyFor(source, here);
    const rest = isInstance ? path.path.slice(1) : path.path;
    // A person who approves passes on what was shown.
    const place = source.kind === "approve" ? this.#places.get(source)?.here : undefined;
    if (source.kind === "approve" && source.show !== undefined && place !== undefined)
      return follow(this.#add(source.show, place), rest);
    return follow([this.#readOf(source)], rest);
  }

  #compare(value: Expr, other: Expr, by: keyof typeof MIRRORED, here: Here): void {
    const reads = this.#add(value, here);
    if (other.op !== "literal") return;
    // Of several comparisons the first one holds.
    for (const read of reads) read.compared ??= toKeywords(by, other.value);
  }
}

const MIRRORED = { "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;
const KEYWORDS = { "<": "exclusiveMaximum", "<=": "maximum", ">": "exclusiveMinimum", ">=": "minimum" } as const;

function toKeywords(by: keyof typeof MIRRORED, value: Json): JsonObject | undefined {
  if (value === null) return undefined;
  if (by === "==") return { enum: [value] };
  if (!isNumber(value)) return undefined;
  const next = typeof value === "bigint" ? value + 1n : value + 1;
  return by === "!=" ? { type: "integer", minimum: next } : { type: "integer", [KEYWORDS[by]]: value };
}

function follow(reads: readonly Read[], path: PathExpr["path"]): readonly Read[] {
  return reads.map((read) => path.reduce((at, key) => at.at(key), read));
}

function findStep(name: string | undefined, here: Here | undefined): Step | undefined {
  return here === undefined ? undefined : (here.steps.get(name ?? "") ?? findStep(name, here.outer));
}

/** Without a name the nearest. */
function findList(name: string | undefined, here: Here | undefined): FanOut | undefined {
  if (here === undefined) return undefined;
  const { list } = here;
  return list !== undefined && (name === undefined || list.step.id === name) ? list : findList(name, here.outer);
}

/** Those that are evaluated for the step itself, the ones of its control included. */
function expressionsOf(step: Step): readonly Expr[] {
  const { each, when, assign = {}, project = {}, transitions = [] } = step;
  const control = [when, ...transitions.map((transition) => transition.when)].filter((expr) => expr !== undefined);
  return [
    ...(each === undefined ? [] : [each.list]),
    ...control,
    ...Object.values(assign),
    ...Object.values(project),
    ...ownExpressionsOf(step),
  ];
}

function ownExpressionsOf(step: Step): readonly Expr[] {
  switch (step.kind) {
    case "task":
      return [step.input];
    case "call":
      return [step.workflow, step.input, ...(step.terms === undefined ? [] : [step.terms])];
    case "approve":
      return [step.message, ...(step.show === undefined ? [] : [step.show])];
    case "set":
      return step.value === undefined ? [] : [step.value];
    case "respond":
      return [step.value];
    case "wait":
      return exprsOfWait(step.wait);
    case "flow":
      return [];
  }
}

const ITEMS = 3;

function toSchema({ fields, item, compared }: Read): JsonObject {
  if (fields.size > 0) {
    const properties = Object.fromEntries([...fields].map(([name, field]) => [name, toSchema(field)]));
    return { type: "object", properties, required: [...fields.keys()] };
  }
  if (item !== undefined) return { type: "array", items: toSchema(item), minItems: ITEMS };
  return compared ?? { type: "string" };
}
