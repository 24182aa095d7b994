import { Builtin, unhide } from "../functions/builtin.ts";
import type { Meter } from "../meter.ts";
import type { Expression, MacroDefinition, Statement, Target, Template } from "../syntax/nodes.ts";
import { TemplateError, wrong } from "../template-error.ts";
import { isIterable, toList } from "../values/iterate.ts";
import { isTrue } from "../values/truth.ts";
import { Markup, Thing, typeName, Undefined, type Value } from "../values/value.ts";
import type { Expressions } from "./expressions.ts";
import { Namespace } from "./globals.ts";
import { Loop } from "./loop.ts";
import { type BoundNames, Macro } from "./macro.ts";
import { Scope } from "./scope.ts";

/** How a body ends: at its end, or by a word of the loop around it. */
type Flow = "end" | "break" | "continue";

interface Place {
  readonly scope: Scope;
  readonly output: Output;
}

/** Writes what a template says. */
export class Statements {
  readonly #expressions: Expressions;
  readonly #template: Template;
  readonly #top: Scope;
  readonly #newOutput: () => Output;

  constructor(template: Template, expressions: Expressions, top: Scope, maxLength: number) {
    this.#template = template;
    this.#expressions = expressions;
    this.#top = top;
    this.#newOutput = () => new Output(expressions.meter, maxLength);
  }

  render(): string {
    const { blocks } = this.#template;
    this.#top.set("self", new Blocks(blocks, (body) => this.#capture(body, new Scope(this.#top))));
    const output = this.#newOutput();
    this.#run(this.#template.body, { scope: this.#top, output });
    return output.text;
  }

  #run(body: readonly Statement[], place: Place): Flow {
    for (const statement of body) {
      const flow = this.#perform(statement, place);
      if (flow !== "end") return flow;
    }
    return "end";
  }

  #perform(statement: Statement, place: Place): Flow {
    const { scope, output } = place;
    this.#meter.spend();
    switch (statement.kind) {
      case "text":
        output.write(statement.text);
        return "end";
      case "print": {
        const value = this.#expressions.evaluate(statement.value, scope);
        this.#expressions.at = statement.value.at;
        output.write(this.#expressions.print(value));
        return "end";
      }
      case "if":
        return this.#if(statement, place);
      case "for":
        this.#for(statement, this.#expressions.evaluate(statement.over, scope), place, 1);
        return "end";
      case "set":
        this.#assign(statement.target, this.#expressions.evaluate(statement.value, scope), scope);
        return "end";
      case "setBlock": {
        const text = this.#captureHtml(statement.body, new Scope(scope));
        this.#assign(statement.target, this.#filtered(statement.filter, text, scope), scope);
        return "end";
      }
      case "with":
        return this.#with(statement, place);
      case "macro":
        scope.set(statement.macro.name, this.#toMacro(statement.macro, scope));
        return "end";
      case "call":
        this.#call(statement, place);
        return "end";
      case "filter": {
        const text = this.#captureHtml(statement.body, new Scope(scope));
        output.write(this.#expressions.print(this.#filtered(statement.filter, text, scope)));
        return "end";
      }
      case "block":
        return this.#run(statement.body, { scope: new Scope(statement.isScoped ? scope : this.#top), output });
      case "autoescape":
        return this.#withEscape(statement, place);
      case "do":
        this.#expressions.evaluate(statement.value, scope);
        return "end";
      case "break":
      case "continue":
        return statement.kind;
      case "load":
        this.#expressions.at = statement.at;
        throw wrong("other templates cannot be included, imported or extended");
    }
  }

  get #meter(): Meter {
    return this.#expressions.meter;
  }

  #if({ branches, otherwise }: Statement & { readonly kind: "if" }, place: Place): Flow {
    for (const { test, body } of branches)
      if (isTrue(this.#expressions.evaluate(test, place.scope))) return this.#run(body, place);
    return this.#run(otherwise, place);
  }

  #for(statement: Statement & { readonly kind: "for" }, given: Value, { scope, output }: Place, depth: number): void {
    const { target, filter, body, otherwise, isRecursive } = statement;
    this.#expressions.at = statement.over.at;
    const over = unhide(given);
    const all = Array.isArray(over) ? over : toList(over, this.#meter);
    const items = filter === undefined ? all : all.filter((item) => this.#isKept(item, target, filter, scope));
    const again = (inner: Value, level: number): Value => {
      const part = this.#newOutput();
      this.#for(statement, inner, { scope, output: part }, level);
      return this.#toHtml(part.text);
    };
    const loop = new Loop(items, depth, isRecursive ? again : undefined);
    // A list may grow while it is gone through.
    for (let index = 0; index < items.length; index += 1) {
      this.#meter.spend();
      loop.moveTo(index);
      const inner = new Scope(scope);
      this.#assign(target, items[index] ?? null, inner);
      inner.set("loop", loop);
      if (this.#run(body, { scope: inner, output }) === "break") break;
    }
    if (items.length === 0) this.#run(otherwise, { scope: new Scope(scope), output });
  }

  #isKept(item: Value, target: Target, filter: Expression, scope: Scope): boolean {
    const inner = new Scope(scope);
    this.#assign(target, item, inner);
    return isTrue(this.#expressions.evaluate(filter, inner));
  }

  /** The values see the names around the `with`, and not one another. */
  #with({ values, body }: Statement & { readonly kind: "with" }, { scope, output }: Place): Flow {
    const inner = new Scope(scope);
    for (const { target, value } of values) this.#assign(target, this.#expressions.evaluate(value, scope), inner);
    return this.#run(body, { scope: inner, output });
  }

  #withEscape({ value, body }: Statement & { readonly kind: "autoescape" }, { scope, output }: Place): Flow {
    const before = this.#expressions.autoescape;
    this.#expressions.autoescape = isTrue(this.#expressions.evaluate(value, scope));
    const flow = this.#run(body, { scope: new Scope(scope), output });
    this.#expressions.autoescape = before;
    return flow;
  }

  #toMacro(definition: MacroDefinition, scope: Scope): Macro {
    return new Macro(definition, (names) => this.#callMacro(definition, names, scope));
  }

  #callMacro(definition: MacroDefinition, names: BoundNames, scope: Scope): Value {
    const inner = new Scope(scope);
    for (const [name, value] of names) inner.set(name, value);
    if (definition.uses.has("caller") && !names.has("caller"))
      inner.set("caller", this.#expressions.missing("No caller defined"));
    for (const { name, fallback } of definition.parameters) {
      if (names.has(name)) continue;
      const missing = () => this.#expressions.missing(`the parameter \`${name}\` was not provided`);
      inner.set(name, fallback === undefined ? missing() : this.#expressions.evaluate(fallback, inner));
    }
    return this.#captureHtml(definition.body, inner);
  }

  #call({ call, caller }: Statement & { readonly kind: "call" }, { scope, output }: Place): void {
    if (call.kind !== "call") return;
    const callee = this.#expressions.evaluate(call.callee, scope);
    const { positional, named } = this.#expressions.arguments(call.args, scope);
    const all = new Map([...named, ["caller", this.#toMacro(caller, scope)] as const]);
    output.write(this.#expressions.print(this.#expressions.call(callee, { positional, named: all }, call.at)));
  }

  #filtered(filter: Expression | undefined, text: Value, scope: Scope): Value {
    if (filter?.kind !== "filter") return text;
    // Of several filters the last one is outside, and holds the others as its value.
    const inner = this.#filtered(filter.value, text, scope);
    return this.#expressions.applyFilter(filter, inner, scope);
  }

  #capture(body: readonly Statement[], scope: Scope): string {
    const output = this.#newOutput();
    this.#run(body, { scope, output });
    return output.text;
  }

  #captureHtml(body: readonly Statement[], scope: Scope): Value {
    return this.#toHtml(this.#capture(body, scope));
  }

  /** What a template has written is HTML where it escapes. */
  #toHtml(text: string): Value {
    return this.#expressions.autoescape ? new Markup(text) : text;
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    if (target.kind === "name") return scope.set(target.name, value);
    this.#expressions.at = target.at;
    if (target.kind === "member") {
      const namespace = scope.get(target.name);
      if (!(namespace instanceof Namespace)) throw wrong("cannot assign attribute on non-namespace object");
      return namespace.values.setText(target.attribute, value);
    }
    if (!isIterable(value)) {
      if (value instanceof Undefined) throw value.fault();
      throw wrong(`cannot unpack non-iterable ${typeName(value)} object`);
    }
    const items = toList(value, this.#meter);
    const expected = target.items.length;
    if (items.length > expected) throw wrong(`too many values to unpack (expected ${expected})`);
    if (items.length < expected) throw wrong(`not enough values to unpack (expected ${expected}, got ${items.length})`);
    for (const [index, each] of target.items.entries()) this.#assign(each, items[index] ?? null, scope);
  }
}

/** `self`: the blocks of the template by their names. */
class Blocks extends Thing {
  readonly type = "TemplateReference";
  readonly text = "<TemplateReference>";
  readonly #blocks: Template["blocks"];
  readonly #render: (body: readonly Statement[]) => string;

  constructor(blocks: Template["blocks"], render: (body: readonly Statement[]) => string) {
    super();
    this.#blocks = blocks;
    this.#render = render;
  }

  override attribute(name: string): Value | undefined {
    const body = this.#blocks.get(name);
    return body && new Builtin(name, () => this.#render(body));
  }
}

/** The text that a template, or a part of it, writes. */
class Output {
  readonly #meter: Meter;
  readonly #maxLength: number;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(meter: Meter, maxLength: number) {
    this.#meter = meter;
    this.#maxLength = maxLength;
  }

  write(text: string): void {
    this.#length += text.length;
    this.#meter.spendJoin(text.length);
    if (this.#length > this.#maxLength)
      throw new TemplateError(
        "limit",
        `the prompt would be longer than the ${this.#maxLength} characters that are allowed`,
      );
    this.#parts.push(text);
  }

  get text(): string {
    return this.#parts.join("");
  }
}
