import { isNumber, type Json } from "../../core/json.ts";
import type { Range } from "./source-text.ts";

/** A parsed definition with the place of every part. What an alias repeats is the same object, with its first place. */
export type YamlNode = YamlScalar | YamlList | YamlMap;

interface YamlCommon extends Range {
  /** Nodes in it, itself included, with aliases counted as often as they stand. */
  readonly size: number;
}

export interface YamlScalar extends YamlCommon {
  readonly kind: "scalar";
  readonly value: null | boolean | number | bigint | string;
  /** The text as written: `007` is a number whose text is `007`. */
  readonly written: string;
}

interface YamlList extends YamlCommon {
  readonly kind: "list";
  readonly items: readonly YamlNode[];
}

export interface YamlMap extends YamlCommon {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, YamlEntry>;
  /** Written as `{...}`. */
  readonly inBraces: boolean;
}

export interface YamlEntry {
  readonly key: Range;
  readonly value: YamlNode;
}

export function toJson(node: YamlNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toJson);
    case "map":
      // `fromEntries` defines own properties: a key such as `__proto__` stays data.
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toJson(entry.value)]));
  }
}

/** The beginning of a node: its first key, rather than all of it. */
export function startOf(node: YamlNode): Range {
  const [first] = node.kind === "map" ? node.entries.values() : [];
  return first?.key ?? { start: node.start, end: Math.min(node.end, node.start + 1) };
}

/** The key itself, rather than its value. */
export function keyOf(map: YamlMap, key: string): Range {
  return map.entries.get(key)?.key ?? startOf(map);
}

export function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && node.value === null;
}

export function describeNode(node: YamlNode): string {
  if (node.kind !== "scalar") return node.kind === "list" ? "a list" : "a map";
  if (node.value === null) return "nothing";
  if (typeof node.value === "string") return "a text";
  return isNumber(node.value) ? "a number" : `\`${node.written}\``;
}

export const READ_AS_MAP = "YAML reads these braces as a map, not as a text.";

/** The text in the braces where `{input.x}` without quotes was read as a map with one key and no value. */
export function findBracesKey(node: YamlNode): string | undefined {
  if (node.kind !== "map" || !node.inBraces || node.entries.size !== 1) return undefined;
  const [[key, entry] = []] = node.entries;
  const isBare = key !== undefined && entry !== undefined && isNull(entry.value);
  return isBare && /^[A-Za-z_][\w.[\]-]*$/.test(key) ? key : undefined;
}

/** The deepest part of a node that a path of keys and indices reaches. */
export function findPart(node: YamlNode, path: readonly string[]): YamlNode {
  let part = node;
  for (const key of path) {
    const next: YamlNode | undefined =
      part.kind === "map" ? part.entries.get(key)?.value : part.kind === "list" ? part.items[Number(key)] : undefined;
    if (next === undefined) return part;
    part = next;
  }
  return part;
}
