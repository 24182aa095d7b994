import type { AnyNode, BinaryExpression, Identifier, Pattern, Position } from "acorn";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { keyOfPlace, type ParsedCallback, parseCallback } from "./parse-callback.ts";
import { placeOfCaller, type RawPlace, rawPlaceOfCaller } from "./place.ts";

/**
 * A callback of a definition while it runs. JavaScript asks nothing of an object that is tested for truth or compared, so that no
 * proxy sees it: the text of the callback says it. Only what is certain is refused: a parameter that is given a reference, and an
 * expression at whose very place one has come to be, under the names that the text gives them.
 */
export class RunningCallback {
  readonly #callback: (...args: never) => unknown;
  readonly #isReference: (argument: number, field?: string) => boolean;
  readonly #known = new Set<AnyNode>();
  #parsed: ParsedCallback | undefined;
  #isRead = false;

  /** `isReference`: what is given as an argument, or in a field of it. */
  constructor(callback: (...args: never) => unknown, isReference: (argument: number, field?: string) => boolean) {
    this.#callback = callback;
    this.#isReference = isReference;
  }

  /** A reference has come to be where the author's code on the stack stands. Throws `REFERENCE_MISUSED`. */
  noteReference(): void {
    const here = rawPlaceOfCaller();
    if (here === undefined) return;
    this.#readParameters(here);
    if (this.#parsed === undefined) return;
    const { begins, expressions } = this.#parsed;
    const { line, column, start } = here;
    const node = expressions.get(
      keyOfPlace({
        line: line - start.line + begins.line,
        column: line === start.line ? column - start.column + begins.column : column - 1,
      }),
    );
    if (node !== undefined) this.#refuse(node, this.#parsed, here);
  }

  /** Where it has made none, its parameters have not been looked at. */
  end(): void {
    this.#readParameters();
  }

  #readParameters(here?: RawPlace): void {
    if (this.#isRead) return;
    this.#isRead = true;
    this.#parsed = parseCallback(this.#callback);
    if (this.#parsed === undefined) return;
    for (const [index, pattern] of this.#parsed.parameters.entries()) {
      const names = referencesIn(pattern, (field) => this.#isReference(index, field));
      for (const name of names) this.#refuse(name, this.#parsed, here);
    }
  }

  #refuse(node: AnyNode, parsed: ParsedCallback, here: RawPlace | undefined): void {
    if (this.#known.has(node)) return;
    this.#known.add(node);
    const found = node.type === "Identifier" ? findTestOfName(node, parsed) : findTest(node, parsed);
    if (found === undefined) return;
    const { start, end, loc } = found.node;
    const words = loc ? wordsOf(loc.start, parsed, here) : "";
    throw new PawlError("REFERENCE_MISUSED", {
      message: `A value that only a run will have, \`${parsed.text.slice(start, end)}\`, is ${found.how}${words}.`,
    });
  }
}

/** A loader that has changed the text has moved its lines: then the line that is known is that of the value. */
function wordsOf({ line, column }: Position, { begins }: ParsedCallback, here: RawPlace | undefined): string {
  const { place, words } = placeOfCaller();
  if (place === undefined || here === undefined) return words;
  if (place.line !== here.line || place.column !== here.column) return `, and stands${words}`;
  const { start } = here;
  const row = line - begins.line + start.line;
  const at = line === begins.line ? column - begins.column + start.column : column + 1;
  return ` at ${place.file}:${row}:${at}`;
}

interface Test {
  readonly how: string;
  readonly node: AnyNode;
}

/** Where an expression is tested, or what is named after it. */
function findTest(node: AnyNode, parsed: ParsedCallback): Test | undefined {
  const how = howTested(node, parsed);
  if (how !== undefined) return { how, node };
  const parent = parsed.parents.get(node);
  if (parent?.type === "ChainExpression") return findTest(parent, parsed);
  if (parent?.type !== "VariableDeclarator" || parent.init !== node) return undefined;
  return firstOf(referencesIn(parent.id), (name) => findTestOfName(name, parsed));
}

function findTestOfName(name: Identifier, parsed: ParsedCallback): Test | undefined {
  if (parsed.reassigned.has(name.name)) return undefined;
  const home = homeOf(name, parsed);
  const uses = parsed.uses.get(name.name) ?? [];
  return firstOf(uses, (use) => (use !== name && homeOf(use, parsed) === home ? findTest(use, parsed) : undefined));
}

/** The block or function that a name is declared in. */
function homeOf(name: Identifier, { names, parents }: ParsedCallback): AnyNode | undefined {
  for (let scope: AnyNode | undefined = name; scope !== undefined; scope = parents.get(scope)) {
    if (names.get(scope)?.has(name.name) === true) return scope;
  }
  return undefined;
}

function howTested(node: AnyNode, parsed: ParsedCallback): string | undefined {
  const parent = parsed.parents.get(node);
  switch (parent?.type) {
    case "IfStatement":
    case "WhileStatement":
    case "DoWhileStatement":
    case "ForStatement":
      return parent.test === node ? TESTED : undefined;
    case "ConditionalExpression":
      return parent.test === node ? TESTED : howTested(parent, parsed);
    case "LogicalExpression":
      return parent.left === node ? TESTED : howTested(parent, parsed);
    case "AssignmentExpression":
      return parent.left === node && /^(&&|\|\||\?\?)=$/.test(parent.operator) ? TESTED : undefined;
    case "UnaryExpression":
      return parent.operator === "!" ? TESTED : parent.operator === "typeof" ? "asked for its type" : undefined;
    case "BinaryExpression":
      return /^[!=]==?$/.test(parent.operator) && !isOfNames(parent) ? "compared" : undefined;
    case "SwitchStatement":
      return parent.discriminant === node ? "compared" : undefined;
    case "SwitchCase":
      return parent.test === node ? "compared" : undefined;
    case "CallExpression":
      return parent.callee.type === "Identifier" && parent.callee.name === "Boolean" ? TESTED : undefined;
    case "ChainExpression":
      return howTested(parent, parsed);
    default:
      return undefined;
  }
}

/** Two names may be compared, as in any program: whether they are of one reference. */
function isOfNames({ left, right }: BinaryExpression): boolean {
  return [left, right].every((side) => side.type === "Identifier" && side.name !== "undefined");
}

const TESTED = "tested for truth";

/** The names that a pattern gives to a reference and its fields. `isReference`: of a field of what is none. */
function referencesIn(pattern: Pattern, isReference: (field?: string) => boolean = () => true): readonly Identifier[] {
  if (pattern.type === "AssignmentPattern") return referencesIn(pattern.left, isReference);
  if (pattern.type === "Identifier") return isReference() ? [pattern] : [];
  if (pattern.type !== "ObjectPattern") return [];
  return pattern.properties.flatMap((property) => {
    if (property.type !== "Property" || property.key.type !== "Identifier" || property.computed) return [];
    return isReference() || isReference(property.key.name) ? referencesIn(property.value) : [];
  });
}

function firstOf<T, R>(list: readonly T[], find: (each: T) => R | undefined): R | undefined {
  for (const each of list) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
