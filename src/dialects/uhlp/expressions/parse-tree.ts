import jsep from "jsep";
import type { Span } from "./expression-fault.ts";
import { COMPARISONS, type LiteralToken, type NameToken, type Token } from "./tokenize.ts";

/** How values and operators belong together. Parentheses are gone: the tree says what they said. */
export type Tree =
  | NameToken
  | LiteralToken
  | { readonly kind: "field"; readonly of: Tree; readonly name: NameToken }
  | { readonly kind: "index"; readonly of: Tree; readonly at: Tree }
  | CallTree
  | ArrowTree
  | { readonly kind: "list"; readonly items: readonly Tree[] }
  | { readonly kind: "not"; readonly of: Tree }
  | { readonly kind: "and" | "or"; readonly of: readonly Tree[] }
  | { readonly kind: "compare"; readonly by: (typeof COMPARISONS)[number]; readonly left: Tree; readonly right: Tree };

export interface CallTree {
  readonly kind: "call";
  readonly callee: Tree;
  readonly args: readonly Tree[];
}

export interface ArrowTree {
  readonly kind: "arrow";
  readonly as: Tree;
  readonly body: Tree;
}

/**
 * Builds the tree of tokens whose order has been checked. jsep knows how tightly operators bind, but neither the names of
 * this language nor where they stand: it is given every value as the number of its token, and so cannot read it wrongly.
 */
export function parseTree(tokens: readonly Token[]): Tree {
  // The only change to jsep's settings, which are the process's: adding it again changes nothing.
  jsep.addBinaryOp("=>", 0.1, true);
  const numbered = tokens.map((token, index) => (token.kind === "sign" ? token.text : `t${index}`));
  return toTree(jsep(numbered.join(" ")) as JsepNode, tokens);
}

/** The nodes that jsep makes of such tokens. */
type JsepNode =
  | { readonly type: "Identifier"; readonly name: string }
  | {
      readonly type: "MemberExpression";
      readonly object: JsepNode;
      readonly property: JsepNode;
      readonly computed: boolean;
    }
  | { readonly type: "CallExpression"; readonly callee: JsepNode; readonly arguments: readonly JsepNode[] }
  | { readonly type: "ArrayExpression"; readonly elements: readonly JsepNode[] }
  | { readonly type: "UnaryExpression"; readonly argument: JsepNode }
  | JsepBinary;

interface JsepBinary {
  readonly type: "BinaryExpression";
  readonly operator: string;
  readonly left: JsepNode;
  readonly right: JsepNode;
}

function toTree(node: JsepNode, tokens: readonly Token[]): Tree {
  const toChild = (child: JsepNode) => toTree(child, tokens);
  switch (node.type) {
    case "Identifier":
      return valueAt(tokens, node.name);
    case "MemberExpression": {
      const of = toChild(node.object);
      const property = toChild(node.property);
      return !node.computed && property.kind === "name"
        ? { kind: "field", of, name: property }
        : { kind: "index", of, at: property };
    }
    case "CallExpression":
      return { kind: "call", callee: toChild(node.callee), args: node.arguments.map(toChild) };
    case "ArrayExpression":
      return { kind: "list", items: node.elements.map(toChild) };
    case "UnaryExpression":
      return { kind: "not", of: toChild(node.argument) };
    case "BinaryExpression":
      return toBinary(node, toChild);
  }
}

function toBinary(node: JsepBinary, toChild: (child: JsepNode) => Tree): Tree {
  const { operator, left, right } = node;
  if (operator === "&&" || operator === "||")
    return { kind: operator === "&&" ? "and" : "or", of: operandsOf(node).map(toChild) };
  const by = COMPARISONS.find((comparison) => comparison === operator);
  return by === undefined
    ? { kind: "arrow", as: toChild(left), body: toChild(right) }
    : { kind: "compare", by, left: toChild(left), right: toChild(right) };
}

/** `a || b || c` leans to the left, as deep as it is long. */
function operandsOf(node: JsepBinary): readonly JsepNode[] {
  const operands: JsepNode[] = [];
  let rest: JsepNode = node;
  while (rest.type === "BinaryExpression" && rest.operator === node.operator) {
    operands.push(rest.right);
    rest = rest.left;
  }
  return [rest, ...operands.reverse()];
}

function valueAt(tokens: readonly Token[], name: string): NameToken | LiteralToken {
  const token = tokens[Number(name.slice(1))];
  if (token === undefined || token.kind === "sign") throw new Error(`jsep made up the token ${name}.`);
  return token;
}

/** The place of a tree, from its first value to its last; brackets at its ends are left out. */
export function spanOf(tree: Tree): Span {
  const leaves = leavesOf(tree);
  return { start: leaves[0]?.start ?? 0, end: leaves.at(-1)?.end ?? 0 };
}

function leavesOf(tree: Tree): readonly Span[] {
  switch (tree.kind) {
    case "name":
    case "literal":
      return [tree];
    case "field":
      return [...leavesOf(tree.of), tree.name];
    case "index":
      return [...leavesOf(tree.of), ...leavesOf(tree.at)];
    case "call":
      return [tree.callee, ...tree.args].flatMap(leavesOf);
    case "arrow":
      return [...leavesOf(tree.as), ...leavesOf(tree.body)];
    case "list":
      return tree.items.flatMap(leavesOf);
    case "not":
      return leavesOf(tree.of);
    case "and":
    case "or":
      return tree.of.flatMap(leavesOf);
    case "compare":
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
  }
}
