import type { TemplateError } from "../template-error.ts";
import type { CallArguments, Constant, Expression } from "./nodes.ts";
import type { TokenReader } from "./token-reader.ts";

/** The names that a template may apply. */
export interface KnownNames {
  readonly filters: { has(name: string): boolean };
  readonly tests: { has(name: string): boolean };
}

const CONSTANTS: ReadonlyMap<string, Constant> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);
const NO_ARGUMENTS: CallArguments = { positional: [], named: [], list: undefined, map: undefined };

/** Single values, and what stands behind them: members, calls, filters and tests. */
export abstract class OperandParser {
  /** Unknown filters and tests. One in a branch is only wrong when it is reached, and is taken out again. */
  readonly unknown: TemplateError[] = [];
  readonly tokens: TokenReader;
  readonly #known: KnownNames;

  constructor(tokens: TokenReader, known: KnownNames) {
    this.tokens = tokens;
    this.#known = known;
  }

  abstract parse(): Expression;

  parsePrimary(): Expression {
    const { tokens } = this;
    const { kind, text, at } = tokens.current;
    if (kind === "name") {
      const name = tokens.next();
      const constant = CONSTANTS.get(text);
      if (constant !== undefined) return { kind: "constant", at, value: constant };
      tokens.noteRead(name);
      return { kind: "name", at, name: text };
    }
    if (kind === "string") return { kind: "constant", at, value: this.#parseText() };
    if (kind === "integer") return { kind: "constant", at, value: BigInt(tokens.next().text.replaceAll("_", "")) };
    if (kind === "float") return { kind: "constant", at, value: Number(tokens.next().text.replaceAll("_", "")) };
    if (tokens.skipOperator("(")) {
      const inner = this.parseTuple({ mayBeEmpty: true });
      tokens.expectOperator(")");
      return inner;
    }
    if (tokens.isOperator("[")) return this.#parseList();
    if (tokens.isOperator("{")) return this.#parseDict();
    throw tokens.unexpected("an expression");
  }

  /** Values with commas between them make a tuple; a single one stands for itself. */
  parseTuple(options: { mayBeEmpty?: boolean; item?: () => Expression; end?: string } = {}): Expression {
    const { tokens } = this;
    const { at } = tokens.current;
    const items: Expression[] = [];
    do {
      if (this.#isTupleEnd(options.end)) {
        if (items.length === 0 && options.mayBeEmpty !== true) throw tokens.unexpected("an expression");
        return { kind: "tuple", at, items };
      }
      const item = options.item?.() ?? this.parse();
      if (items.length === 0 && !tokens.isOperator(",")) return item;
      items.push(item);
    } while (tokens.skipOperator(","));
    return { kind: "tuple", at, items };
  }

  #isTupleEnd(end: string | undefined): boolean {
    const { tokens } = this;
    if (tokens.is("variableEnd") || tokens.is("blockEnd") || tokens.isOperator(")")) return true;
    return end !== undefined && tokens.isWord(end);
  }

  parsePostfix(operand: Expression): Expression {
    let result = operand;
    for (;;) {
      if (this.tokens.isOperator(".")) result = this.#parseMember(result);
      else if (this.tokens.isOperator("[")) result = this.#parseSubscript(result);
      else if (this.tokens.isOperator("(")) result = this.#parseCall(result);
      else return result;
    }
  }

  parseFilters(operand: Expression): Expression {
    let result = operand;
    for (;;) {
      if (this.tokens.isOperator("|")) result = this.parseFilter(result);
      else if (this.tokens.isWord("is")) result = this.#parseTest(result);
      else if (this.tokens.isOperator("(")) result = this.#parseCall(result);
      else return result;
    }
  }

  /** One filter or several. `isFirst`: that of a block, before which no `|` stands. */
  parseFilter(value: Expression | undefined, isFirst = false): Expression {
    const { tokens } = this;
    let result = value;
    if (!isFirst) tokens.expectOperator("|");
    do {
      const name = tokens.expectName();
      const full = this.#parseDotted(name.text);
      if (!this.#known.filters.has(full)) this.unknown.push(tokens.error(`filter ${full} is unknown`, name));
      if (result?.kind === "name" && (full === "default" || full === "d")) tokens.settled.add(result.name);
      const args = tokens.isOperator("(") ? this.parseArguments() : NO_ARGUMENTS;
      result = { kind: "filter", at: name.at, name: full, value: result, args };
    } while (tokens.skipOperator("|"));
    return result;
  }

  parseArguments(): CallArguments {
    const { tokens } = this;
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    let list: Expression | undefined;
    let map: Expression | undefined;
    tokens.expectOperator("(");
    while (!tokens.isOperator(")")) {
      const isFirst = positional.length + named.length === 0 && list === undefined && map === undefined;
      if (!isFirst) tokens.expectOperator(",");
      if (tokens.isOperator(")")) break;
      const { current } = tokens;
      const isMisplaced = tokens.error("this argument cannot stand behind those before it", current);
      if (tokens.skipOperator("*")) {
        if (list !== undefined || map !== undefined) throw isMisplaced;
        list = this.parse();
      } else if (tokens.skipOperator("**")) {
        if (map !== undefined) throw isMisplaced;
        map = this.parse();
      } else if (current.kind === "name" && tokens.followsOperator("=")) {
        if (map !== undefined) throw isMisplaced;
        const name = tokens.next().text;
        tokens.next();
        named.push([name, this.parse()]);
      } else {
        if (named.length > 0 || list !== undefined || map !== undefined) throw isMisplaced;
        positional.push(this.parse());
      }
    }
    tokens.expectOperator(")");
    return { positional, named, list, map };
  }

  #parseTest(value: Expression): Expression {
    const { tokens } = this;
    const { at } = tokens.next();
    const isNegated = tokens.skipWord("not");
    const name = tokens.expectName();
    const full = this.#parseDotted(name.text);
    if (!this.#known.tests.has(full)) this.unknown.push(tokens.error(`test ${full} is unknown`, name));
    if (value.kind === "name") tokens.settled.add(value.name);
    const args = this.#parseTestArguments();
    const test: Expression = { kind: "test", at: name.at, name: full, value, args };
    return isNegated ? { kind: "not", at, operand: test } : test;
  }

  #parseTestArguments(): CallArguments {
    const { tokens } = this;
    if (tokens.isOperator("(")) return this.parseArguments();
    const begins =
      ["name", "string", "integer", "float"].includes(tokens.current.kind) ||
      tokens.isOperator("[") ||
      tokens.isOperator("{");
    if (!begins || tokens.isWord("else", "or", "and")) return NO_ARGUMENTS;
    if (tokens.isWord("is")) throw tokens.error("tests with `is` cannot be chained");
    return { ...NO_ARGUMENTS, positional: [this.parsePostfix(this.parsePrimary())] };
  }

  #parseDotted(first: string): string {
    let name = first;
    while (this.tokens.skipOperator(".")) name += `.${this.tokens.expectName().text}`;
    return name;
  }

  #parseMember(object: Expression): Expression {
    const { tokens } = this;
    tokens.next();
    const { at } = object;
    if (!tokens.is("integer")) return { kind: "attribute", at, object, name: tokens.expectName().text };
    const index = tokens.next();
    return { kind: "item", at, object, index: { kind: "constant", at: index.at, value: BigInt(index.text) } };
  }

  #parseSubscript(object: Expression): Expression {
    const { tokens } = this;
    tokens.next();
    const parts: Expression[] = [];
    do {
      if (parts.length > 0 && tokens.isOperator("]")) break;
      parts.push(this.#parseSubscribed());
    } while (tokens.skipOperator(","));
    tokens.expectOperator("]");
    const [first = object] = parts;
    const index: Expression = parts.length === 1 ? first : { kind: "tuple", at: first.at, items: parts };
    return { kind: "item", at: object.at, object, index };
  }

  #parseSubscribed(): Expression {
    const { tokens } = this;
    const { at } = tokens.current;
    const parsePart = () => (/[:\],]/.test(tokens.current.text) ? undefined : this.parse());
    const start = tokens.isOperator(":") ? undefined : this.parse();
    if (!tokens.skipOperator(":")) return start ?? { kind: "constant", at, value: null };
    const stop = parsePart();
    const step = tokens.skipOperator(":") ? parsePart() : undefined;
    return { kind: "slice", at, start, stop, step };
  }

  #parseCall(callee: Expression): Expression {
    return { kind: "call", at: callee.at, callee, args: this.parseArguments() };
  }

  /** Texts side by side are one. */
  #parseText(): string {
    let text = "";
    while (this.tokens.is("string")) text += this.tokens.next().text;
    return text;
  }

  #parseList(): Expression {
    const { at } = this.tokens.expectOperator("[");
    const items = this.#parseItems("]", () => this.parse());
    return { kind: "list", at, items };
  }

  #parseDict(): Expression {
    const { at } = this.tokens.expectOperator("{");
    const entries = this.#parseItems("}", (): readonly [Expression, Expression] => {
      const key = this.parse();
      this.tokens.expectOperator(":");
      return [key, this.parse()];
    });
    return { kind: "dict", at, entries };
  }

  #parseItems<Item>(close: string, parseItem: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.tokens.isOperator(close)) {
      if (items.length > 0) this.tokens.expectOperator(",");
      if (this.tokens.isOperator(close)) break;
      items.push(parseItem());
    }
    this.tokens.expectOperator(close);
    return items;
  }
}
