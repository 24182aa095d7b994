import { ExpressionParser } from "./expression-parser.ts";
import type { Expression, MacroDefinition, Parameter, Statement, Target, Template } from "./nodes.ts";
import type { KnownNames } from "./operand-parser.ts";
import type { TokenReader } from "./token-reader.ts";
import type { Token } from "./tokens.ts";

const SPECIAL = ["true", "True", "false", "False", "none", "None"];
/** Names that a template has without being given them. Globals are not among them. */
const OWN_NAMES = new Set(["loop", "self", "super", "caller", "varargs", "kwargs"]);
const ENDINGS = /^(?:end\w+|elif|else)$/;

/** Tags, and the text between them. */
export class StatementParser {
  readonly #tokens: TokenReader;
  readonly #expressions: ExpressionParser;
  readonly #blocks = new Map<string, readonly Statement[]>();
  #loops = 0;

  constructor(tokens: TokenReader, known: KnownNames) {
    this.#tokens = tokens;
    this.#expressions = new ExpressionParser(tokens, known);
  }

  parseTemplate(source: string): Template {
    const body = this.#parseBody([]);
    const [unknown] = this.#expressions.unknown;
    if (unknown !== undefined) throw unknown;
    const { reads, settled } = this.#tokens;
    const unsettled = new Map([...reads].filter(([name]) => !settled.has(name) && !OWN_NAMES.has(name)));
    return { source, body, blocks: this.#blocks, reads: unsettled };
  }

  /** Up to one of the words, which is the next token then. */
  #parseBody(ends: readonly string[], opened?: Token): Statement[] {
    const tokens = this.#tokens;
    const body: Statement[] = [];
    while (!tokens.is("end")) {
      const { kind, text, at } = tokens.next();
      if (kind === "data") body.push({ kind: "text", at, text });
      else if (kind === "variableBegin") {
        body.push({ kind: "print", at, value: this.#expressions.parseTuple() });
        tokens.expect("variableEnd", "end of variable block");
      } else {
        if (tokens.isWord(...ends)) return body;
        body.push(...this.#parseTag(ends));
        tokens.expect("blockEnd", "end of block tag");
      }
    }
    if (opened === undefined) return body;
    throw tokens.error(`unexpected end of template, expected end of block: ${toChoice(ends)} of \`${opened.text}\``);
  }

  #parseTag(ends: readonly string[]): readonly Statement[] {
    const tag = this.#tokens.expect("name", "the name of a tag");
    const { at } = tag;
    switch (tag.text) {
      case "for":
        return [this.#parseFor(tag)];
      case "if":
        return [this.#parseIf(tag)];
      case "set":
        return [this.#parseSet(tag)];
      case "print":
        return this.#parsePrint(at);
      case "with":
        return [this.#parseWith(tag)];
      case "macro": {
        const { text: name } = this.#tokens.expectName();
        return [{ kind: "macro", at, macro: this.#parseMacro(name, this.#parseSignature(), tag) }];
      }
      case "call":
        return [this.#parseCall(tag)];
      case "filter": {
        const filter = this.#expressions.parseFilter(undefined, true);
        return [{ kind: "filter", at, filter, body: this.#parseBlock(tag) }];
      }
      case "block":
        return [this.#parseNamedBlock(tag)];
      case "autoescape":
        return [{ kind: "autoescape", at, value: this.#expressions.parse(), body: this.#parseBlock(tag) }];
      case "do":
        return [{ kind: "do", at, value: this.#expressions.parseTuple() }];
      case "break":
      case "continue":
        if (this.#loops === 0) throw this.#tokens.error(`\`${tag.text}\` is only possible in a loop`, tag);
        return [{ kind: tag.text, at }];
      case "include":
      case "extends":
      case "import":
      case "from":
        return [this.#parseLoad(tag)];
      default:
        throw this.#tokens.error(describeUnknown(tag.text, ends), tag);
    }
  }

  /** The body of a tag up to its end, which is taken too. */
  #parseBlock(tag: Token): Statement[] {
    const end = `end${tag.text}`;
    const body = this.#parseBranch(tag, end);
    this.#tokens.expectWord(end);
    return body;
  }

  #parseBranch(tag: Token, ...ends: readonly string[]): Statement[] {
    this.#tokens.skipOperator(":");
    this.#tokens.expect("blockEnd", "end of block tag");
    return this.#parseBody(ends, tag);
  }

  #parseFor(tag: Token): Statement {
    const tokens = this.#tokens;
    const target = this.#parseTarget("in");
    if (target.kind === "member") throw tokens.error("only a name can be the variable of a loop", tag);
    if (target.kind === "name" && target.name === "loop")
      throw tokens.error("`loop` is the loop itself and cannot be assigned", tag);
    tokens.expectWord("in");
    const over = this.#expressions.parseTuple({ item: () => this.#expressions.parseWithoutIf(), end: "recursive" });
    const filter = tokens.skipWord("if") ? this.#expressions.parse() : undefined;
    const isRecursive = tokens.skipWord("recursive");
    this.#loops += 1;
    const body = this.#parseBranch(tag, "endfor", "else");
    this.#loops -= 1;
    const otherwise = tokens.skipWord("else") ? this.#parseBranch(tag, "endfor") : [];
    tokens.expectWord("endfor");
    return { kind: "for", at: tag.at, target, over, filter, isRecursive, body, otherwise };
  }

  #parseIf(tag: Token): Statement {
    const tokens = this.#tokens;
    const known = this.#expressions.unknown.length;
    const branches: { test: Expression; body: Statement[] }[] = [];
    do {
      const test = this.#expressions.parseTested(() =>
        this.#expressions.parseTuple({ item: () => this.#expressions.parseWithoutIf() }),
      );
      branches.push({ test, body: this.#parseBranch(tag, "elif", "else", "endif") });
    } while (tokens.skipWord("elif"));
    const otherwise = tokens.skipWord("else") ? this.#parseBranch(tag, "endif") : [];
    tokens.expectWord("endif");
    this.#expressions.unknown.length = known;
    return { kind: "if", at: tag.at, branches, otherwise };
  }

  #parseSet(tag: Token): Statement {
    const { at } = tag;
    const target = this.#parseTarget();
    if (this.#tokens.skipOperator("=")) return { kind: "set", at, target, value: this.#expressions.parseTuple() };
    const filter = this.#tokens.isOperator("|") ? this.#expressions.parseFilter(undefined) : undefined;
    return { kind: "setBlock", at, target, filter, body: this.#parseBlock(tag) };
  }

  #parsePrint(at: number): readonly Statement[] {
    const statements: Statement[] = [];
    while (!this.#tokens.is("blockEnd")) {
      if (statements.length > 0) this.#tokens.expectOperator(",");
      statements.push({ kind: "print", at, value: this.#expressions.parse() });
    }
    return statements;
  }

  #parseWith(tag: Token): Statement {
    const values: { target: Target; value: Expression }[] = [];
    while (!this.#tokens.is("blockEnd")) {
      if (values.length > 0) this.#tokens.expectOperator(",");
      const target = this.#parseTargetItem();
      this.#tokens.expectOperator("=");
      values.push({ target, value: this.#expressions.parse() });
    }
    return { kind: "with", at: tag.at, values, body: this.#parseBlock(tag) };
  }

  #parseMacro(name: string, parameters: readonly Parameter[], tag: Token): MacroDefinition {
    const loops = this.#loops;
    this.#loops = 0;
    const { part: body, names: uses } = this.#tokens.namesOf(() => this.#parseBlock(tag));
    this.#loops = loops;
    this.#tokens.settled.add(name);
    return { name, parameters, body, uses };
  }

  #parseSignature(): readonly Parameter[] {
    const tokens = this.#tokens;
    const parameters: Parameter[] = [];
    tokens.expectOperator("(");
    while (!tokens.isOperator(")")) {
      if (parameters.length > 0) tokens.expectOperator(",");
      const name = this.#parseName();
      if (parameters.some((other) => other.name === name.text))
        throw tokens.error(`the parameter \`${name.text}\` is there twice`, name);
      const fallback = tokens.skipOperator("=") ? this.#expressions.parse() : undefined;
      if (fallback === undefined && parameters.at(-1)?.fallback !== undefined)
        throw tokens.error("a parameter without a default follows one that has one", name);
      parameters.push({ name: name.text, fallback });
    }
    tokens.expectOperator(")");
    return parameters;
  }

  #parseCall(tag: Token): Statement {
    const parameters = this.#tokens.isOperator("(") ? this.#parseSignature() : [];
    const start = this.#tokens.current;
    const call = this.#expressions.parse();
    if (call.kind !== "call") throw this.#tokens.error("expected a call", start);
    return { kind: "call", at: tag.at, call, caller: this.#parseMacro("caller", parameters, tag) };
  }

  #parseNamedBlock(tag: Token): Statement {
    const name = this.#tokens.expectName();
    if (this.#blocks.has(name.text)) throw this.#tokens.error(`the block \`${name.text}\` is there twice`, name);
    const isScoped = this.#tokens.skipWord("scoped");
    this.#tokens.skipWord("required");
    this.#blocks.set(name.text, []);
    const body = this.#parseBlock(tag);
    this.#tokens.skipWord(name.text);
    this.#blocks.set(name.text, body);
    return { kind: "block", at: tag.at, name: name.text, isScoped, body };
  }

  /** There are no other templates. What the tag says of them is read, so that one that is never reached does no harm. */
  #parseLoad(tag: Token): Statement {
    this.#expressions.parse();
    if (tag.text === "import") this.#tokens.expectWord("as");
    if (tag.text === "from") this.#tokens.expectWord("import");
    if (tag.text === "import" || tag.text === "from") this.#tokens.expectName();
    while (!this.#tokens.is("blockEnd") && !this.#tokens.is("end")) this.#tokens.next();
    return { kind: "load", at: tag.at };
  }

  #parseTarget(end?: string): Target {
    const { at } = this.#tokens.current;
    const first = this.#parseTargetItem();
    if (!this.#tokens.isOperator(",")) return first;
    const items = [first];
    while (this.#tokens.skipOperator(",")) {
      if (this.#tokens.isOperator("=") || this.#tokens.isOperator(")") || (end && this.#tokens.isWord(end))) break;
      items.push(this.#parseTargetItem());
    }
    return { kind: "tuple", at, items };
  }

  #parseTargetItem(): Target {
    const { at } = this.#tokens.current;
    if (this.#tokens.skipOperator("(")) {
      const inner = this.#parseTarget();
      this.#tokens.expectOperator(")");
      return inner;
    }
    const { text: name } = this.#parseName();
    if (!this.#tokens.skipOperator(".")) return { kind: "name", at, name };
    return { kind: "member", at, name, attribute: this.#tokens.expectName().text };
  }

  #parseName(): Token {
    const name = this.#tokens.expectName();
    if (SPECIAL.includes(name.text)) throw this.#tokens.error(`\`${name.text}\` cannot be assigned`, name);
    this.#tokens.settled.add(name.text);
    return name;
  }
}

function describeUnknown(word: string, ends: readonly string[]): string {
  const expected = ends.length === 0 ? "" : `, expected ${toChoice(ends)}`;
  return ENDINGS.test(word) ? `unexpected \`${word}\`${expected}` : `unknown tag \`${word}\`${expected}`;
}

function toChoice(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(" or ");
}
