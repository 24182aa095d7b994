import { isNumberPattern } from "../../../core/expressions/decimals.ts";
import type { Expr, TextPart } from "../../../core/expressions/expr.ts";
import { FORMAT_LETTERS, isDuration, isTimePattern, isZone, TIME_UNITS } from "../../../core/expressions/times.ts";
import { checkRegex } from "../../check-regex.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, type ExpressionScope, type FaultTexts, type Span, toFault } from "./expression-fault.ts";
import { type Arrow, FUNCTIONS, OTHER_NAMES, type Signature } from "./functions.ts";
import { ARROWS, type ArrowTree, type CallTree, spanOf, type TemplateTree, type Tree } from "./parse-tree.ts";
import { type Key, resolvePath, toKey, toPath } from "./resolve-path.ts";
import type { NameToken } from "./tokenize.ts";

/** Turns a tree into an expression of the core: names find what they name, functions their arguments. */
export class Translator {
  readonly faults: ExpressionFault[] = [];
  readsLastError = false;
  readonly #scope: ExpressionScope;
  /** Parameters of the arrows around. */
  readonly #parameters: string[] = [];

  constructor(scope: ExpressionScope) {
    this.#scope = scope;
  }

  /** If there are faults, the result means nothing. */
  translate(tree: Tree): Expr {
    switch (tree.kind) {
      case "literal":
        return { op: "literal", value: tree.value };
      case "name":
      case "field":
      case "index":
        return this.#translatePath(tree);
      case "list":
        return { op: "list", items: this.#translateAll(tree.items) };
      case "object":
        return {
          op: "object",
          entries: Object.fromEntries(tree.entries.map(([name, of]) => [name, this.translate(of)])),
        };
      case "template":
        return this.#translateTemplate(tree);
      case "not":
        return { op: "not", of: this.translate(tree.of) };
      case "minus":
        return { op: "call", fn: "negate", args: [this.translate(tree.of)] };
      case "sum":
        return this.#translateSum(tree.of);
      case "product":
        return { op: "call", fn: PRODUCTS[tree.by], args: this.#translateAll([tree.left, tree.right]) };
      case "given":
        return { op: "call", fn: "coalesce", args: this.#translateAll(tree.of) };
      case "if":
        return { op: "if", of: this.translate(tree.of), yes: this.translate(tree.yes), no: this.translate(tree.no) };
      case "and":
      case "or":
        return { op: tree.kind, of: this.#translateAll(tree.of) };
      case "compare":
        return { op: "compare", by: tree.by, left: this.translate(tree.left), right: this.translate(tree.right) };
      case "call":
        return this.#translateCall(tree);
      case "arrow":
        return this.#refuse(spanOf(tree), { message: ARROWS });
    }
  }

  /** What is missing or null is nothing in a text. */
  #translateTemplate({ parts }: TemplateTree): Expr {
    const put = (tree: Tree): TextPart => {
      const value: Expr = { op: "call", fn: "coalesce", args: [this.translate(tree)] };
      return { value, written: "" };
    };
    return { op: "text", parts: parts.map((part) => (typeof part === "string" ? part : put(part))) };
  }

  #translateSum(terms: readonly Tree[]): Expr {
    const isText = (tree: Tree) =>
      (tree.kind === "literal" && typeof tree.value === "string") || tree.kind === "template";
    const other = terms.find((tree) => tree.kind === "literal" && typeof tree.value !== "string");
    if (other !== undefined && terms.some(isText))
      return this.#refuse(spanOf(other), {
        message: "`+` takes numbers, or texts, and not both.",
        remedy: "Write the text in backticks, with the value in it.",
      });
    return { op: "call", fn: "add", args: this.#translateAll(terms) };
  }

  #translateAll(trees: readonly Tree[]): readonly Expr[] {
    return trees.map((tree) => this.translate(tree));
  }

  /** A path is kept as one as far as it is written out. After a key that is computed, each link is looked up by itself. */
  #translatePath(tree: Tree): Expr {
    const { base, links } = unwind(tree);
    const keys: Key[] = [];
    for (const link of links) {
      const key = base.kind === "name" ? this.#keyOf(link) : undefined;
      if (key === undefined) break;
      keys.push(key);
    }
    return links
      .slice(keys.length)
      .reduce(
        (of, link): Expr => ({ op: "index", of, at: this.#translateLink(link), readsJson: true }),
        base.kind === "name" ? this.#translateName(base, keys) : this.#translateBase(base),
      );
  }

  #translateName(name: NameToken, keys: readonly Key[]): Expr {
    if (this.#parameters.includes(name.text))
      return { op: "path", root: "local", name: toLocal(name.text), path: toPath(keys), readsJson: true };
    const resolved = resolvePath({ key: name.text, start: name.start, end: name.end }, keys, this.#scope);
    if ("fault" in resolved) {
      this.faults.push(resolved.fault);
      return NOTHING;
    }
    if (resolved.expr.op === "path" && resolved.expr.root === "vars") this.readsLastError = true;
    return resolved.expr;
  }

  #translateBase(base: Tree): Expr {
    if (base.kind !== "literal" && base.kind !== "template") return this.translate(base);
    return this.#refuse(base, { message: "Only a path or what a function gives has fields.", remedy: HOW_TO_JOIN });
  }

  #translateLink(link: Link): Expr {
    const key = this.#keyOf(link);
    if (key !== undefined) return { op: "literal", value: key.key };
    return link.kind === "index" ? this.translate(link.at) : NOTHING;
  }

  /** Undefined for a key that is computed. */
  #keyOf(link: Link): Key | undefined {
    if (link.kind === "field") return { key: toKey(link.name.text), start: link.name.start, end: link.name.end };
    if (link.at.kind !== "literal") return undefined;
    const { value, start, end } = link.at;
    if (typeof value === "string" || (typeof value === "number" && value >= 0 && Number.isInteger(value)))
      return { key: value, start, end };
    const message = `\`${String(value)}\` is no index.`;
    this.#refuse(link.at, { message, remedy: "Write a whole number from 0, or a name as `['name']`." });
    return { key: "", start, end };
  }

  #translateCall(call: CallTree): Expr {
    const { callee } = call;
    if (callee.kind !== "name") return this.#refuseCallee(callee);
    const signature = FUNCTIONS.get(callee.text);
    if (signature === undefined) return this.#refuseFunction(callee);
    if (call.args.length < signature.least || call.args.length > signature.most)
      return this.#refuseCount(callee, signature, call.args.length);
    const { does } = signature;
    if (does === "map" || does === "filter" || does === "reduce") return this.#translateLoop(does, call);
    if (does === "defined") return this.#translateDefined(call.args[0]);
    if (does === "now") return { op: "path", root: "run", path: ["now"] };
    if (does === "uuid") return { op: "call", fn: does, args: [this.#translatePlace()] };
    if (does === "matches") this.#checkPattern(call.args[1]);
    this.#checkTexts(does, call.args);
    const { arrow } = signature;
    const args = arrow === undefined ? this.#translateAll(call.args) : this.#translateArrows(call, signature, arrow);
    return { op: "call", fn: does, args };
  }

  /** The arguments of a function that may take arrows. */
  #translateArrows({ callee, args }: CallTree, { name, usage }: Signature, { gives, without }: Arrow): readonly Expr[] {
    const [list, ...arrows] = args;
    if (without !== undefined && !args.some(({ kind }) => kind === "arrow")) {
      if (args.length === 1) return this.#translateAll(args);
      if (without === "values") return [{ op: "list", items: this.#translateAll(args) }];
    }
    const areArrows = arrows.length > 0 && arrows.every((arrow) => arrow.kind === "arrow" && arrow.names.length === 1);
    // Where any number of values may stand there is one arrow.
    if (list === undefined || list.kind === "arrow" || !areArrows || (without === "values" && arrows.length > 1)) {
      const message = `\`${name}\` takes a list and what to do with each element.`;
      return [this.#refuse(spanOf(arrows[0] ?? callee), { message, remedy: `Write \`${usage}\`.` })];
    }
    const over = gives === "filter" ? "filter" : "map";
    const loops = arrows.map((arrow) => this.#translateArrow(over, list, arrow as ArrowTree));
    return gives === "beside" ? [this.translate(list), ...loops] : loops;
  }

  #translateLoop(op: "map" | "filter" | "reduce", { callee, args: [list, arrow, first] }: CallTree): Expr {
    const names = op === "reduce" ? 2 : 1;
    if (list === undefined || arrow?.kind !== "arrow" || list.kind === "arrow" || arrow.names.length !== names)
      return this.#refuse(spanOf(arrow ?? callee), {
        message: `\`${op}\` takes a list and what to do with each element.`,
        remedy: `Write \`${FUNCTIONS.get(op)?.usage}\`.`,
      });
    const loop = this.#translateArrow(op === "filter" ? op : "map", list, arrow);
    const [into] = arrow.names;
    if (op !== "reduce" || first === undefined || into.kind !== "name") return loop;
    return { ...loop, op, into: toLocal(into.text), first: this.translate(first) };
  }

  /** Of two names the last one is the element's. */
  #translateArrow(op: "map" | "filter", list: Tree, { names, body }: ArrowTree): LoopExpr {
    const parameters = names.map((name) => this.#readParameter(name));
    const translated = this.translate(list);
    this.#parameters.push(...parameters);
    const of = this.translate(body);
    this.#parameters.length -= names.length;
    return { op, list: translated, as: toLocal(parameters.at(-1) ?? ""), body: of };
  }

  #readParameter(as: Tree): string {
    if (as.kind === "name" && PARAMETER.test(as.text)) return as.text;
    this.#refuse(spanOf(as), {
      message: "Before `=>` stands one name of letters, digits and `_`.",
      remedy: "Write `x => ...`.",
    });
    return "";
  }

  #translateDefined(of: Tree | undefined): Expr {
    const isPath = of?.kind === "name" || of?.kind === "field" || of?.kind === "index" || of?.kind === "call";
    if (isPath) return { op: "defined", of: this.translate(of) };
    return this.#refuse(of === undefined ? NOWHERE : spanOf(of), {
      message: "`defined` takes a path.",
      remedy: "Write `defined(steps.ID.output.name)`, without quotes.",
    });
  }

  #checkPattern(pattern: Tree | undefined): void {
    if (pattern?.kind !== "literal" || typeof pattern.value !== "string") return;
    const why = checkRegex(pattern.value);
    if (why === undefined) return;
    const message = `The regular expression cannot be used: ${toExcerpt(why)}.`;
    const remedy = "Look-around and back-references are not supported; in `'...'` a backslash stays as it is.";
    this.#refuse(pattern, { code: "REGEX_INVALID", message, remedy });
  }

  /** What an input makes is not what an output makes. */
  #translatePlace(): Expr {
    const place: Expr = { op: "path", root: "run", path: ["place"] };
    return { op: "list", items: [place, { op: "literal", value: this.#scope.allowsOutput }] };
  }

  /** Patterns, units and zones that are written out. */
  #checkTexts(does: Signature["does"], args: readonly Tree[]): void {
    for (const [at, { is, message, remedy }] of Object.entries(TEXTS[does] ?? {})) {
      const arg = args[Number(at)];
      if (arg?.kind === "literal" && !(typeof arg.value === "string" && is(arg.value)))
        this.#refuse(arg, { message: message(toExcerpt(String(arg.value))), remedy });
    }
  }

  #refuseCallee(callee: Tree): Expr {
    if (callee.kind !== "field")
      return this.#refuse(spanOf(callee), { message: "Only functions can be called.", remedy: FUNCTION_LIST });
    const { text } = callee.name;
    const usage = usageOf(text);
    const remedy = usage === undefined ? FUNCTION_LIST : `Write \`${usage}\`.`;
    return this.#refuse(callee.name, { message: `Values have no methods such as \`${toExcerpt(text)}\`.`, remedy });
  }

  #refuseFunction(name: NameToken): Expr {
    const usage = usageOf(name.text);
    const remedy = usage === undefined ? FUNCTION_LIST : `Did you mean \`${usage}\`?`;
    return this.#refuse(name, { message: `There is no function \`${toExcerpt(name.text)}\`.`, remedy });
  }

  #refuseCount(name: NameToken, { least, most, usage }: Signature, count: number): Expr {
    const wanted =
      least === most ? `${least}` : most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} or ${most}`;
    const noun = wanted === "1" ? "argument" : "arguments";
    const message = `\`${name.text}\` takes ${wanted} ${noun}, not ${count}.`;
    return this.#refuse(name, { message, remedy: `Write \`${usage}\`.` });
  }

  #refuse(at: Span, texts: FaultTexts): Expr {
    this.faults.push(toFault(at, texts));
    return NOTHING;
  }
}

type LoopExpr = Extract<Expr, { op: "map" | "filter" }>;

interface TextRule {
  readonly is: (text: string) => boolean;
  readonly message: (text: string) => string;
  readonly remedy: string;
}

const ZONE: TextRule = {
  is: isZone,
  message: (text) => `There is no time zone \`${text}\`.`,
  remedy: "Write its name as in `'Europe/Berlin'`, an offset as in `'+02:00'`, or `'UTC'`.",
};

const TEXTS: { readonly [does: string]: { readonly [argument: number]: TextRule } } = {
  addTime: {
    1: {
      is: (text) => isDuration(text),
      message: (text) => `\`${text}\` is no duration.`,
      remedy: "Write `'P1M'` or `'-P7D'` of the calendar, or exact ones such as `'PT36H'` and `'1h30m'`.",
    },
    2: ZONE,
  },
  timeBetween: {
    2: {
      is: (text) => TIME_UNITS.includes(text),
      message: (text) => `There is no unit \`${text}\`.`,
      remedy: `Units: ${TIME_UNITS.join(", ")}.`,
    },
    3: ZONE,
  },
  format: {
    1: {
      is: (text) => isNumberPattern(text) || isTimePattern(text),
      message: (text) => `\`${text}\` is no pattern.`,
      remedy: `Of a time: ${FORMAT_LETTERS}, and letters that stand for themselves in "'". Of a number: \`'0.00'\`, \`'#,##0.00'\`.`,
    },
    2: ZONE,
  },
};

const NOTHING: Expr = { op: "literal", value: null };
const NOWHERE: Span = { start: 0, end: 0 };
const PARAMETER = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;
const HOW_TO_JOIN = "Put texts together with `+`, or write one in backticks.";
const PRODUCTS = { "*": "multiply", "/": "divide", "%": "remainder" } as const;
const FUNCTION_LIST = `Functions: ${[...FUNCTIONS.keys()].join(", ")}.`;

/** No name that the core gives a local of its own: it has `item` for the elements of a fan-out. */
function toLocal(parameter: string): string {
  return `$${parameter}`;
}

type Link = Extract<Tree, { kind: "field" | "index" }>;

/** `a.b[0].c` is the base `a` and three links. */
function unwind(tree: Tree): { readonly base: Tree; readonly links: readonly Link[] } {
  const links: Link[] = [];
  let base = tree;
  while (base.kind === "field" || base.kind === "index") {
    links.push(base);
    base = base.of;
  }
  return { base, links: links.reverse() };
}

function usageOf(name: string): string | undefined {
  const known = OTHER_NAMES.get(name.toLowerCase());
  const usage = FUNCTIONS.get(known ?? name)?.usage;
  if (usage !== undefined) return usage;
  return FUNCTIONS.get(didYouMean(name, FUNCTIONS.keys()) ?? "")?.usage;
}
