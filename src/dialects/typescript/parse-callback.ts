import { createRequire } from "node:module";
import type { AnyNode, Identifier, Pattern, Position } from "acorn";

/** The text of a callback, read. Places are those of its text. */
export interface ParsedCallback {
  /** Where it begins. */
  readonly begins: Position;
  readonly text: string;
  readonly parameters: readonly Pattern[];
  /** Calls and fields, by the places that V8 may say of them. */
  readonly expressions: ReadonlyMap<string, AnyNode>;
  readonly parents: ReadonlyMap<AnyNode, AnyNode>;
  /** What is declared in each block and function. */
  readonly names: ReadonlyMap<AnyNode, ReadonlySet<string>>;
  readonly uses: ReadonlyMap<string, readonly Identifier[]>;
  /** What has a name that is given another value somewhere. */
  readonly reassigned: ReadonlySet<string>;
}

/** Undefined: it is no text that can be read, such as that of a bound function. */
export function parseCallback(callback: (...args: never) => unknown): ParsedCallback | undefined {
  const { parse, getLineInfo } = createRequire(import.meta.url)("acorn") as typeof import("acorn");
  // A method has no word before its name.
  for (const [before, after] of [
    ["(", ")"],
    ["({", "})"],
  ] as const) {
    const text = `${before}${callback}${after}`;
    try {
      const program = parse(text, { ecmaVersion: "latest", locations: true });
      const begins = getLineInfo(text, before.length);
      return { ...read(program, text, (offset) => getLineInfo(text, offset)), text, begins };
    } catch {
      // It is the other one, or none.
    }
  }
  return undefined;
}

export const keyOfPlace = ({ line, column }: Position): string => `${line}:${column}`;

function read(
  program: AnyNode,
  text: string,
  toPlace: (offset: number) => Position,
): Omit<ParsedCallback, "text" | "begins"> {
  const parents = new Map<AnyNode, AnyNode>();
  const names = new Map<AnyNode, Set<string>>();
  const expressions = new Map<string, AnyNode>();
  const uses = new Map<string, Identifier[]>();
  const reassigned = new Set<string>();
  const all = [program];
  // The list grows while it is gone through.
  for (const node of all) {
    for (const child of childrenOf(node)) {
      parents.set(child, node);
      all.push(child);
    }
    for (const offset of offsetsOf(node, text)) expressions.set(keyOfPlace(toPlace(offset)), node);
    for (const name of assignedBy(node)) reassigned.add(name);
    if (node.type === "Identifier") {
      const others = uses.get(node.name);
      if (others === undefined) uses.set(node.name, [node]);
      else others.push(node);
    }
  }
  for (const node of all) {
    for (const [scope, { name }] of declaredBy(node, parents))
      names.set(scope, (names.get(scope) ?? new Set()).add(name));
  }
  return { parameters: all.find(isFunction)?.params ?? [], expressions, parents, names, uses, reassigned };
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

const childrenOf = (node: AnyNode): AnyNode[] => Object.values(node).flat().filter(isNode);

type AnyFunction = Extract<AnyNode, { readonly params: Pattern[] }>;

const isFunction = (node: AnyNode): node is AnyFunction => "params" in node;

/** Where V8 may say that an expression stands which can give a reference: at its last name, or at the bracket or mark behind it. */
function offsetsOf(node: AnyNode, text: string): readonly number[] {
  switch (node.type) {
    case "MemberExpression":
      if (node.computed) return [text.indexOf("[", node.object.end)];
      return [node.optional ? text.indexOf("?.", node.object.end) : node.property.start];
    case "CallExpression":
      return [endOf(node.callee), text.indexOf("(", node.callee.end)];
    case "TaggedTemplateExpression":
      return [node.quasi.start];
    default:
      return [];
  }
}

const endOf = (called: AnyNode): number => (called.type === "MemberExpression" ? called.property : called).start;

function assignedBy(node: AnyNode): readonly string[] {
  if (node.type === "UpdateExpression") return identifiersIn(node.argument).map(({ name }) => name);
  const isAssigned =
    node.type === "AssignmentExpression" || node.type === "ForInStatement" || node.type === "ForOfStatement";
  return isAssigned ? identifiersIn(node.left).map(({ name }) => name) : [];
}

function identifiersIn(node: AnyNode): readonly Identifier[] {
  return node.type === "Identifier" ? [node] : childrenOf(node).flatMap(identifiersIn);
}

/** What a node declares, with where that is known. */
function declaredBy(
  node: AnyNode,
  parents: ReadonlyMap<AnyNode, AnyNode>,
): readonly (readonly [scope: AnyNode, name: Identifier])[] {
  const own = (pattern: AnyNode) => identifiersIn(pattern).map((name) => [node, name] as const);
  if (node.type === "CatchClause") return node.param ? own(node.param) : [];
  if (node.type === "VariableDeclaration") {
    const scope = scopeAround(node, parents, node.kind === "var");
    return node.declarations.flatMap(({ id }) => identifiersIn(id).map((name) => [scope, name] as const));
  }
  const named =
    "id" in node && node.id?.type === "Identifier" && node.type !== "VariableDeclarator" ? node.id : undefined;
  return [
    ...(named ? [[node, named] as const, [scopeAround(node, parents), named] as const] : []),
    ...(isFunction(node) ? node.params.flatMap(own) : []),
  ];
}

/** The nearest block or function, which is what a declaration is known in. */
function scopeAround(node: AnyNode, parents: ReadonlyMap<AnyNode, AnyNode>, ofFunction = false): AnyNode {
  const parent = parents.get(node);
  if (parent === undefined) return node;
  const isScope = isFunction(parent) || (!ofFunction && /^(Block|Catch|Class|For|Static|Switch)/.test(parent.type));
  return isScope ? parent : scopeAround(parent, parents, ofFunction);
}
