import { toMilliseconds } from "../../core/expressions/to-milliseconds.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Text } from "../shape/shape.ts";
import { isNull, toJson, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import type { Reference } from "./workflow.ts";

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

/** The id of a step. `startAt: 1` names the step `1:`, of which YAML makes a number. */
export function referenceAt(map: YamlMap | undefined, ...keys: readonly string[]): Reference | undefined {
  return toReference(nodeAt(map, ...keys));
}

export function toReference(node: YamlNode | undefined): Reference | undefined {
  const isNumber = node?.kind === "scalar" && Number.isInteger(node.value);
  return isNumber ? { value: node.written, at: node } : toText(node);
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

/** At least one millisecond: none would mean no limit. 0 has been reported. */
export function timeLimitMsAt(map: YamlMap | undefined, key: string): number | undefined {
  const limitMs = durationMsAt(map, key);
  return limitMs === undefined ? undefined : Math.max(1, limitMs);
}

/** US dollars as integer micro-dollars. */
export function costMicroAt(map: YamlMap | undefined, ...keys: readonly string[]): number | undefined {
  const usd = numberAt(map, ...keys);
  return usd === undefined || usd <= 0 || usd > 1_000_000 ? undefined : Math.max(1, Math.round(usd * 1_000_000));
}
