import { type ExpressionFault, type FaultTexts, type Span, toFault } from "./expression-fault.ts";
import {
  COMPARISONS,
  type LiteralToken,
  type NameToken,
  refuseSecondValue,
  type SignToken,
  type Token,
} from "./tokenize.ts";

/** How values and operators belong together. Parentheses are gone: the tree says what they said. */
export type Tree =
  | NameToken
  | LiteralToken
  | TemplateTree
  | { readonly kind: "field"; readonly of: Tree; readonly name: NameToken }
  | { readonly kind: "index"; readonly of: Tree; readonly at: Tree }
  | CallTree
  | ArrowTree
  | { readonly kind: "list"; readonly items: readonly Tree[] }
  | ObjectTree
  | { readonly kind: "not" | "minus"; readonly of: Tree }
  | { readonly kind: "and" | "or" | "given" | "sum"; readonly of: readonly Tree[] }
  | { readonly kind: "compare"; readonly by: (typeof COMPARISONS)[number]; readonly left: Tree; readonly right: Tree }
  | { readonly kind: "product"; readonly by: "*" | "/" | "%"; readonly left: Tree; readonly right: Tree }
  | { readonly kind: "if"; readonly of: Tree; readonly yes: Tree; readonly no: Tree };

export interface TemplateTree extends Span {
  readonly kind: "template";
  readonly parts: readonly (string | Tree)[];
}

interface ObjectTree extends Span {
  readonly kind: "object";
  readonly entries: readonly (readonly [string, Tree])[];
}

export interface CallTree {
  readonly kind: "call";
  readonly callee: Tree;
  readonly args: readonly Tree[];
}

export interface ArrowTree {
  readonly kind: "arrow";
  /** One, or two in parentheses. */
  readonly names: readonly [Tree, ...Tree[]];
  readonly body: Tree;
}

type Parsed = { readonly tree: Tree; readonly fault?: never } | { readonly fault: ExpressionFault };

/** Builds the tree of tokens, up to the first that cannot stand where it stands. */
export function parseTree(tokens: readonly Token[]): Parsed {
  try {
    return { tree: new Parser(tokens).parseAll() };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.fault };
    throw error;
  }
}

/** Levels of the tree: brackets, fields, calls, `!`, `-` and `? :`, and each `*`, `/` or `%` of a chain. */
const MAX_HEIGHT = 100;

class Fault extends Error {
  readonly fault: ExpressionFault;

  constructor(fault: ExpressionFault) {
    super(fault.message);
    this.fault = fault;
  }
}

function fail(at: Span, texts: FaultTexts): never {
  throw new Fault(toFault(at, texts));
}

type Sign = SignToken["text"];
const CLOSING = new Map<Sign, Sign>([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
]);

/** One function for each level of how tightly operators bind, the loosest first. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  /** Levels around the token under way. */
  #depth: number;
  /** Levels of what is not a single value. */
  readonly #heights = new WeakMap<Tree, number>();
  /** Operators whose operands are not in parentheses of their own. */
  readonly #bare = new WeakSet<Tree>();

  constructor(tokens: readonly Token[], depth = 0) {
    this.#tokens = tokens;
    this.#depth = depth;
  }

  parseAll(): Tree {
    if (this.#tokens.length === 0)
      fail({ start: 0, end: 0 }, { message: "The expression is empty.", remedy: "For an empty text write `''`." });
    const tree = this.#parseChoice();
    if (this.#peek() !== undefined) this.#refuseRest(undefined);
    return tree;
  }

  #parseChoice(): Tree {
    const of = this.#parseGiven();
    const question = this.#take("?");
    if (question === undefined) return of;
    return this.#inside(question, () => {
      const yes = this.#parseChoice();
      if (this.#take(":") === undefined) this.#refuseChoice(question);
      const no = this.#parseChoice();
      return this.#rise({ kind: "if", of, yes, no }, question, of, yes, no);
    });
  }

  #refuseChoice(question: SignToken): never {
    if (this.#peek() !== undefined) this.#refuseRest(undefined);
    fail(question, { message: "`?` has no `:`.", remedy: "Write `condition ? value : other`." });
  }

  #parseGiven(): Tree {
    const first = this.#parseOr();
    if (this.#peekSign() !== "??") return first;
    const of = [first];
    for (let sign = this.#take("??"); sign !== undefined; sign = this.#take("??")) {
      const next = this.#parseOr();
      for (const one of [of.at(-1), next]) if (one !== undefined && this.#bare.has(one)) fail(sign, MIXED);
      of.push(next);
    }
    return this.#rise({ kind: "given", of }, undefined, ...of);
  }

  #parseOr(): Tree {
    return this.#parseChain("||", "or", () => this.#parseAnd());
  }

  #parseAnd(): Tree {
    return this.#parseChain("&&", "and", () => this.#parseComparison());
  }

  #parseChain(sign: Sign, kind: "and" | "or", next: () => Tree): Tree {
    const first = next();
    if (this.#peekSign() !== sign) return first;
    const of = [first];
    while (this.#take(sign) !== undefined) of.push(next());
    return this.#rise({ kind, of }, undefined, ...of);
  }

  #parseComparison(): Tree {
    const left = this.#parseSum();
    const by = COMPARISONS.find((comparison) => comparison === this.#peekSign());
    if (by === undefined || this.#take(by) === undefined) return left;
    const right = this.#parseSum();
    const after = this.#peek();
    if (after?.kind === "sign" && COMPARISONS.some((comparison) => comparison === after.text)) fail(after, CHAIN);
    return this.#rise({ kind: "compare", by, left, right }, undefined, left, right);
  }

  #parseSum(): Tree {
    const first = this.#parseProduct();
    const of = [first];
    for (let sign = this.#takeOf("+", "-"); sign !== undefined; sign = this.#takeOf("+", "-")) {
      const term = this.#parseProduct();
      of.push(sign.text === "+" ? term : this.#rise({ kind: "minus", of: term }, sign, term));
    }
    return of.length === 1 ? first : this.#rise({ kind: "sum", of }, undefined, ...of);
  }

  #parseProduct(): Tree {
    let left = this.#parseUnary();
    for (let sign = this.#takeOf("*", "/", "%"); sign !== undefined; sign = this.#takeOf("*", "/", "%")) {
      const right = this.#parseUnary();
      left = this.#rise({ kind: "product", by: sign.text as "*", left, right }, sign, left, right);
    }
    return left;
  }

  #parseUnary(): Tree {
    const sign = this.#takeOf("!", "-");
    if (sign === undefined) return this.#parseLinks();
    return this.#inside(sign, () => {
      const of = this.#parseUnary();
      return this.#grow({ kind: sign.text === "!" ? "not" : "minus", of }, sign, of);
    });
  }

  /** Fields, indexes and calls. */
  #parseLinks(): Tree {
    let tree = this.#parseValue();
    for (;;) {
      const sign = this.#takeOf(".", "[", "(");
      if (sign === undefined) return tree;
      const of = tree;
      if (sign.text === ".") tree = this.#grow({ kind: "field", of, name: this.#takeField(sign) }, sign, of);
      else if (sign.text === "[") {
        const [at] = this.#inside(sign, () => [this.#parseChoice(), this.#close(sign)] as const);
        tree = this.#grow({ kind: "index", of, at }, sign, of, at);
      } else {
        const args = this.#parseItems(sign, () => this.#parseArgument());
        tree = this.#grow({ kind: "call", callee: of, args }, sign, of, ...args);
      }
    }
  }

  #takeField(dot: SignToken): NameToken {
    const token = this.#peek();
    if (token === undefined) fail(dot, TOO_EARLY);
    if (token.kind !== "name")
      fail(token, { message: "A name is missing after `.`.", remedy: "For any other text write `['text']`." });
    this.#at += 1;
    return token;
  }

  #parseValue(): Tree {
    const token = this.#peek();
    if (token === undefined) fail(this.#tokens.at(-1) ?? { start: 0, end: 0 }, TOO_EARLY);
    this.#at += 1;
    if (token.kind === "template") return this.#parseTemplate(token);
    if (token.kind !== "sign") return token;
    if (token.text === "(") {
      const [tree] = this.#inside(token, () => [this.#parseChoice(), this.#close(token)] as const);
      this.#bare.delete(tree);
      this.#heights.set(tree, this.#heightOf(tree) + 1);
      return tree;
    }
    if (token.text === "[") {
      const items = this.#parseItems(token, () => this.#parseChoice());
      return this.#grow({ kind: "list", items }, token, ...items);
    }
    if (token.text === "{") {
      const entries = this.#parseItems(token, () => this.#parseEntry());
      const { start } = token;
      const end = this.#tokens[this.#at - 1]?.end ?? start;
      return this.#grow({ kind: "object", entries, start, end }, token, ...entries.map(([, value]) => value));
    }
    const message = `A value is missing before \`${token.text}\`.`;
    fail(token, { message, remedy: "Write the value." });
  }

  #parseTemplate({ parts, start, end }: Extract<Token, { kind: "template" }>): Tree {
    const trees = parts.map((part) => {
      if (typeof part === "string") return part;
      if (part.length === 0)
        fail({ start, end }, { message: "The braces in this text are empty.", remedy: "Write a value in them." });
      return this.#inside({ start, end }, () => new Parser(part, this.#depth).parseAll());
    });
    return { kind: "template", parts: trees, start, end };
  }

  #parseEntry(): readonly [string, Tree] {
    const token = this.#peek();
    const isName = token?.kind === "name" || (token?.kind === "literal" && typeof token.value === "string");
    if (!isName) fail(token ?? this.#tokens.at(-1) ?? { start: 0, end: 0 }, ENTRY);
    this.#at += 1;
    const name = token.kind === "name" ? token.text : String(token.value);
    if (this.#take(":") === undefined) fail(this.#peek() ?? token, ENTRY);
    return [name, this.#parseChoice()];
  }

  #parseArgument(): Tree {
    const names = this.#takePair() ?? ([this.#parseChoice()] as const);
    const arrow = this.#take("=>");
    if (arrow === undefined) return names[0];
    const body = this.#parseChoice();
    if (this.#peekSign() === "=>") this.#refuseRest(undefined);
    return this.#rise({ kind: "arrow", names, body }, arrow, body);
  }

  /** `(sum, x)` where `=>` follows: a value in parentheses has no comma. */
  #takePair(): readonly [Tree, Tree] | undefined {
    const [open, first, comma, second, close, arrow] = this.#tokens.slice(this.#at, this.#at + 6);
    const signs = [open, comma, close, arrow].map((token) => (token?.kind === "sign" ? token.text : ""));
    if (first?.kind !== "name" || second?.kind !== "name" || signs.join(" ") !== "( , ) =>") return undefined;
    this.#at += 5;
    return [first, second];
  }

  /** What stands between brackets, with commas. */
  #parseItems<Item>(opened: SignToken, parse: () => Item): readonly Item[] {
    return this.#inside(opened, () => {
      const items: Item[] = [];
      const closing = CLOSING.get(opened.text);
      if (closing !== undefined && this.#take(closing) !== undefined) return items;
      do items.push(parse());
      while (this.#take(",") !== undefined);
      this.#close(opened);
      return items;
    });
  }

  #close(opened: SignToken): void {
    const closing = CLOSING.get(opened.text);
    if (closing === undefined || this.#take(closing) === undefined) this.#refuseRest(opened);
  }

  /** The next token cannot follow a value here. */
  #refuseRest(opened: SignToken | undefined): never {
    const token = this.#peek();
    if (token === undefined) {
      const { text: sign = "(" } = opened ?? {};
      const remedy = `Write \`${CLOSING.get(sign)}\`.`;
      fail(opened ?? { start: 0, end: 0 }, { message: `\`${sign}\` is never closed.`, remedy });
    }
    if (token.kind !== "sign") throw new Fault(refuseSecondValue(this.#tokens[this.#at - 1], token));
    fail(token, afterValue(token.text));
  }

  #inside<Result>(by: Span, parse: () => Result): Result {
    this.#depth += 1;
    if (this.#depth > MAX_HEIGHT) fail(by, TOO_HIGH);
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  /** What an operator between values makes: without parentheses around it, it does not stand beside `??`. */
  #rise(tree: Tree, by: Span | undefined, ...parts: readonly Tree[]): Tree {
    this.#bare.add(tree);
    return this.#grow(tree, by, ...parts);
  }

  /** As high as its parts, and one level more where `by` is given. */
  #grow(tree: Tree, by: Span | undefined, ...parts: readonly Tree[]): Tree {
    const height = Math.max(0, ...parts.map((part) => this.#heightOf(part))) + (by === undefined ? 0 : 1);
    if (by !== undefined && height > MAX_HEIGHT) fail(by, TOO_HIGH);
    this.#heights.set(tree, height);
    return tree;
  }

  #heightOf(tree: Tree): number {
    return this.#heights.get(tree) ?? 1;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #peekSign(): Sign | undefined {
    const token = this.#peek();
    return token?.kind === "sign" ? token.text : undefined;
  }

  #take(sign: Sign): SignToken | undefined {
    return this.#takeOf(sign);
  }

  #takeOf(...signs: readonly Sign[]): SignToken | undefined {
    const token = this.#peek();
    if (token?.kind !== "sign" || !signs.includes(token.text)) return undefined;
    this.#at += 1;
    return token;
  }
}

const TOO_EARLY: FaultTexts = { message: "The expression ends too early.", remedy: "Write what is missing." };
const TOO_HIGH: FaultTexts = {
  code: "EXPRESSION_TOO_COMPLEX",
  message: `Brackets, fields and operators lie in each other more than ${MAX_HEIGHT} levels deep.`,
  remedy: "Take it apart: compute a part of it in a step of its own.",
};
const CHAIN: FaultTexts = {
  message: "Comparisons cannot be chained.",
  remedy: "Write `a < b && b < c`, or parentheses around one.",
};
const MIXED: FaultTexts = {
  message: "`??` beside another operator needs parentheses: languages differ in what belongs together.",
  remedy: "Write `(a ?? b) > c`, or `a ?? (b > c)`.",
};
const ENTRY: FaultTexts = {
  message: "Braces are an object: a name, a colon and a value.",
  remedy: "Write `{name: value}`. A path stands alone, without braces.",
};

function afterValue(sign: Sign): FaultTexts {
  if (sign === ")" || sign === "]" || sign === "}")
    return { message: `\`${sign}\` closes nothing.`, remedy: "Remove it." };
  if (sign === "!") return { message: "`!` stands before a value.", remedy: "For unequal write `!=`." };
  if (sign === "=>") return { message: ARROWS, remedy: "For greater or equal write `>=`." };
  if (sign === ",")
    return { message: "A comma separates arguments, and elements of a list.", remedy: "Write a list as `[a, b]`." };
  if (sign === ":")
    return { message: "`:` belongs to `? :` and to names of an object.", remedy: "Write text in single quotes." };
  return { message: `\`${sign}\` cannot follow a value.`, remedy: "Write an operator, or text in single quotes." };
}

export const ARROWS = "`=>` stands in functions that take one for each element, as `map(list, x => ...)` does.";

/** The place of a tree, from its first value to its last; brackets at its ends are left out. */
export function spanOf(tree: Tree): Span {
  const leaves = leavesOf(tree);
  return { start: leaves[0]?.start ?? 0, end: leaves.at(-1)?.end ?? 0 };
}

function leavesOf(tree: Tree): readonly Span[] {
  switch (tree.kind) {
    case "name":
    case "literal":
    case "template":
    case "object":
      return [tree];
    case "field":
      return [...leavesOf(tree.of), tree.name];
    case "index":
      return [...leavesOf(tree.of), ...leavesOf(tree.at)];
    case "call":
      return [tree.callee, ...tree.args].flatMap(leavesOf);
    case "arrow":
      return [...tree.names, tree.body].flatMap(leavesOf);
    case "list":
      return tree.items.flatMap(leavesOf);
    case "not":
    case "minus":
      return leavesOf(tree.of);
    case "and":
    case "or":
    case "given":
    case "sum":
      return tree.of.flatMap(leavesOf);
    case "compare":
    case "product":
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
    case "if":
      return [...leavesOf(tree.of), ...leavesOf(tree.yes), ...leavesOf(tree.no)];
  }
}
