import { decodeSegment, type PathPattern, splitPath } from "../../core/graph/path-pattern.ts";

/** The routes that a request is matched against. */
export interface Route<Target> {
  /** In capitals. */
  readonly method: string;
  readonly pattern: PathPattern;
  readonly target: Target;
}

export type RouteMatch<Target> =
  | {
      readonly is: "route";
      readonly route: Route<Target>;
      /** By name, percent-decoded. */
      readonly parameters: Readonly<Record<string, string>>;
    }
  /** The path is known, with these methods. */
  | { readonly is: "other methods"; readonly methods: readonly string[] }
  | { readonly is: "nothing" }
  /** The path is not encoded as it should be. */
  | { readonly is: "malformed" };

interface Node<Target> {
  readonly literals: Map<string, Node<Target>>;
  parameter: Node<Target> | undefined;
  rest: Node<Target> | undefined;
  readonly routes: Map<string, Route<Target>>;
}

/** Finds the most specific route: from left to right a literal goes before a parameter, and a parameter before the rest of the path. */
export class RouteTable<Target> {
  readonly #root: Node<Target> = newNode();
  readonly #all: Route<Target>[] = [];

  /** The route that answers the same requests already, if there is one: then nothing is added. */
  add(route: Route<Target>): Route<Target> | undefined {
    let node = this.#root;
    for (const segment of route.pattern.segments) {
      if ("literal" in segment) node = literalOf(node, segment.literal);
      else node = node[segment.isRest ? "rest" : "parameter"] ??= newNode();
    }
    const known = node.routes.get(route.method);
    if (known !== undefined) return known;
    node.routes.set(route.method, route);
    this.#all.push(route);
    return undefined;
  }

  /** In the order in which they were added. */
  list(): readonly Route<Target>[] {
    return this.#all;
  }

  /** `path` as it stands in the URL. A `HEAD` that has no route of its own is a `GET` without its body. */
  match(method: string, path: string): RouteMatch<Target> {
    const segments = splitPath(path).map(decodeSegment);
    if (segments.includes(undefined)) return { is: "malformed" };
    const decoded = segments.filter((segment) => segment !== undefined);
    const methods = new Set<string>();
    const nodes = [...nodesFor(this.#root, decoded, 0)];
    for (const wanted of method === "HEAD" ? ["HEAD", "GET"] : [method]) {
      const route = nodes.map((node) => node.routes.get(wanted)).find((each) => each !== undefined);
      if (route !== undefined) return { is: "route", route, parameters: parametersOf(route.pattern, decoded) };
    }
    for (const node of nodes) for (const each of node.routes.keys()) methods.add(each);
    if (methods.size === 0) return { is: "nothing" };
    if (methods.has("GET")) methods.add("HEAD");
    return { is: "other methods", methods: [...methods.add("OPTIONS")].sort() };
  }
}

function newNode<Target>(): Node<Target> {
  return { literals: new Map(), parameter: undefined, rest: undefined, routes: new Map() };
}

function literalOf<Target>(node: Node<Target>, literal: string): Node<Target> {
  const next = node.literals.get(literal) ?? newNode<Target>();
  node.literals.set(literal, next);
  return next;
}

/** Those that the path leads to, the most specific first. */
function* nodesFor<Target>(node: Node<Target>, segments: readonly string[], at: number): Generator<Node<Target>> {
  const segment = segments[at];
  if (segment === undefined) {
    if (node.routes.size > 0) yield node;
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) yield* nodesFor(literal, segments, at + 1);
  // A parameter is never empty: `/a//b` is no path of `/a/{x}/b`.
  if (segment === "") return;
  if (node.parameter !== undefined) yield* nodesFor(node.parameter, segments, at + 1);
  if (node.rest !== undefined) yield node.rest;
}

function parametersOf({ segments }: PathPattern, decoded: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    segments.flatMap((segment, index) => {
      if (!("parameter" in segment)) return [];
      return [[segment.parameter, segment.isRest ? decoded.slice(index).join("/") : (decoded[index] ?? "")]];
    }),
  );
}
