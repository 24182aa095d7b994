import { toMilliseconds } from "../../core/expressions/to-milliseconds.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Text } from "../map-reader.ts";
import { isNull, toJson, type YamlMap, type YamlNode } from "../yaml-node.ts";

/*
 * Readers of one key. What does not have the right type is undefined here: the schema has reported it already. Of
 * several keys, which mean the same, the first that has a value counts.
 */

export function nodeAt(map: YamlMap | undefined, ...keys: readonly string[]): YamlNode | undefined {
  for (const key of keys) {
    const node = map?.entries.get(key)?.value;
    if (node !== undefined && !isNull(node)) return node;
  }
  return undefined;
}

export function mapAt(map: YamlMap | undefined, ...keys: readonly string[]): YamlMap | undefined {
  const node = nodeAt(map, ...keys);
  return node?.kind === "map" ? node : undefined;
}

export function itemsAt(map: YamlMap | undefined, ...keys: readonly string[]): readonly YamlNode[] {
  const node = nodeAt(map, ...keys);
  return node?.kind === "list" ? node.items : [];
}

export function textAt(map: YamlMap | undefined, ...keys: readonly string[]): Text | undefined {
  return toText(nodeAt(map, ...keys));
}

export function toText(node: YamlNode | undefined): Text | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" && node.value !== ""
    ? { value: node.value, at: node }
    : undefined;
}

export function numberAt(map: YamlMap | undefined, ...keys: readonly string[]): number | undefined {
  const node = nodeAt(map, ...keys);
  return node?.kind === "scalar" && typeof node.value === "number" ? node.value : undefined;
}

export function flagAt(map: YamlMap | undefined, ...keys: readonly string[]): boolean | undefined {
  const node = nodeAt(map, ...keys);
  return node?.kind === "scalar" && typeof node.value === "boolean" ? node.value : undefined;
}

export function objectAt(map: YamlMap | undefined, ...keys: readonly string[]): JsonObject | undefined {
  const node = mapAt(map, ...keys);
  const value = node && toJson(node);
  return isJsonObject(value) ? value : undefined;
}

export function durationMsAt(map: YamlMap | undefined, ...keys: readonly string[]): number | undefined {
  const node = nodeAt(map, ...keys);
  return node?.kind === "scalar" ? toMilliseconds(node.value) : undefined;
}

/** US dollars as integer micro-dollars. */
export function costMicroAt(map: YamlMap | undefined, ...keys: readonly string[]): number | undefined {
  const usd = numberAt(map, ...keys);
  return usd === undefined || usd <= 0 || usd > 1_000_000 ? undefined : Math.max(1, Math.round(usd * 1_000_000));
}
