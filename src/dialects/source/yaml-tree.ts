import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { toCanonicalNumber } from "../../core/exact-json.ts";
import { isNumber } from "../../core/json.ts";
import { MAX_INTEGER_DIGITS } from "../../core/long-integers.ts";
import type { Finding, ProblemList } from "../problem-list.ts";
import { toExcerpt } from "./printable.ts";
import type { Range } from "./source-text.ts";
import { READ_AS_MAP, type YamlEntry, type YamlNode, type YamlScalar } from "./yaml-node.ts";

/**
 * Turns the parser's document into our tree: aliases resolved and bounded, merge keys merged, keys checked.
 * Undefined where a part has no value at all; of a key that stands twice the first value counts.
 */
export function buildYamlTree(document: Document.Parsed, problems: ProblemList): YamlNode | undefined {
  const [start, end] = document.range;
  const builder = new TreeBuilder(problems);
  const root = builder.build(document.contents, { start, end });
  return builder.isComplete ? root : undefined;
}

/** The number of nodes that all aliases together may repeat. */
const MAX_REPEATED = 100_000;

class TreeBuilder {
  isComplete = true;
  readonly #problems: ProblemList;
  /** `undefined` while the anchored node is still being built: an alias to it would hold itself. */
  readonly #anchors = new Map<string, YamlNode | undefined>();
  #repeated = 0;

  constructor(problems: ProblemList) {
    this.#problems = problems;
  }

  /** `around`: where it would stand, if it is not there. */
  build(node: unknown, around: Range): YamlNode {
    if (isAlias(node)) return this.#resolve(node.source, toRange(node, around));
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return toNothing(around);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, undefined);
    const built = this.#buildParsed(node, toRange(node, around));
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, built);
    return built;
  }

  #buildParsed(node: Scalar | YAMLMap | YAMLSeq, at: Range): YamlNode {
    if (isScalar(node)) return this.#buildScalar(node, at);
    return isMap(node) ? this.#buildMap(node, at) : this.#buildList(node, at);
  }

  #resolve(anchor: string, at: Range): YamlNode {
    const target = this.#anchors.get(anchor);
    if (target === undefined) return this.#reject({ code: "YAML_SYNTAX", at, message: this.#explainLostAlias(anchor) });
    const before = this.#repeated;
    this.#repeated += target.size;
    if (this.#repeated <= MAX_REPEATED) return target;
    if (before > MAX_REPEATED) return toNothing(at);
    return this.#reject({
      code: "TOO_MANY_ALIASES",
      at,
      message: `Aliases repeat more than ${MAX_REPEATED} parts.`,
    });
  }

  #explainLostAlias(anchor: string): string {
    const name = toExcerpt(anchor);
    if (this.#anchors.has(anchor)) return `The alias \`*${name}\` stands inside what it repeats.`;
    return `There is no anchor \`&${name}\` before this alias.`;
  }

  #buildScalar(node: Scalar, at: Range): YamlScalar {
    const written = node.source ?? "";
    const { value: parsed } = node;
    if (typeof parsed === "bigint" && written.length > MAX_INTEGER_DIGITS + 2) {
      const message = `A number may have ${MAX_INTEGER_DIGITS} digits; this one has more.`;
      return this.#reject({ code: "WRONG_TYPE", at, message, remedy: "Put it in quotes if it is a text." });
    }
    const value = typeof parsed === "bigint" ? toCanonicalNumber(parsed) : parsed;
    if (typeof value === "number" && !Number.isFinite(value)) {
      const message = `\`${toExcerpt(written)}\` is not a finite number.`;
      return this.#reject({ code: "WRONG_TYPE", at, message, remedy: "Put it in quotes if it is a text." });
    }
    const isPlain = value === null || typeof value === "boolean" || isNumber(value) || typeof value === "string";
    // Dates and binary data of a `%YAML 1.1` file have no JSON: what was written stands for them.
    return { kind: "scalar", ...at, size: 1, value: isPlain ? value : written, written };
  }

  #buildList(node: YAMLSeq, at: Range): YamlNode {
    const items = node.items.map((item) => this.build(item, at));
    return { kind: "list", ...at, size: sizeOf(items), items };
  }

  #buildMap(node: YAMLMap, at: Range): YamlNode {
    const entries = new Map<string, YamlEntry>();
    const merged: YamlNode[] = [];
    for (const pair of node.items) {
      const key = this.#buildKey(pair, at);
      const value = this.build(pair.value, key?.at ?? at);
      if (key === undefined) continue;
      if (key.isMerge) merged.push(value);
      else if (entries.has(key.name)) this.#reportDuplicate(key.name, key.at);
      else entries.set(key.name, { key: key.at, value });
    }
    for (const value of merged) this.#merge(value, entries);
    const values = [...entries.values()].map((entry) => entry.value);
    return { kind: "map", ...at, size: sizeOf(values), entries, inBraces: node.flow === true };
  }

  #buildKey(pair: Pair, around: Range): { name: string; isMerge: boolean; at: Range } | undefined {
    const key = this.build(pair.key, around);
    const at = { start: key.start, end: key.end };
    if (key.kind === "scalar") {
      const name = typeof key.value === "string" ? key.value : key.written;
      return { name, isMerge: key.written === "<<", at };
    }
    const isBraces = key.kind === "map" && key.inBraces;
    if (isBraces) this.#reject({ code: "UNQUOTED_BRACES", at, message: READ_AS_MAP });
    else this.#reject({ code: "WRONG_TYPE", at, message: "A key must be a text, not a list or a map." });
    return undefined;
  }

  #reportDuplicate(name: string, at: Range): void {
    const message = `The key \`${toExcerpt(name)}\` stands twice in the same map.`;
    this.#problems.error({ code: "KEY_DUPLICATE", at, message });
  }

  /** `<<: *defaults`, or a list of such. What the map says itself comes first, then the earlier of the list. */
  #merge(value: YamlNode, entries: Map<string, YamlEntry>): void {
    for (const part of value.kind === "list" ? value.items : [value]) {
      if (part.kind === "map") mergeInto(entries, part.entries);
      else this.#problems.error({ code: "WRONG_TYPE", at: part, message: "A merge key (`<<`) needs a map." });
    }
  }

  #reject(finding: Finding): YamlScalar {
    this.#problems.error(finding);
    this.isComplete = false;
    return toNothing(finding.at);
  }
}

function mergeInto(entries: Map<string, YamlEntry>, more: ReadonlyMap<string, YamlEntry>): void {
  for (const [name, entry] of more) if (!entries.has(name)) entries.set(name, entry);
}

function toNothing(at: Range): YamlScalar {
  return { kind: "scalar", start: at.start, end: at.end, size: 1, value: null, written: "" };
}

function toRange(node: { readonly range?: readonly [number, number, number] | null }, around: Range): Range {
  return node.range == null ? around : { start: node.range[0], end: node.range[1] };
}

function sizeOf(children: readonly YamlNode[]): number {
  return children.reduce((size, child) => size + child.size, 1);
}
