import type { ErrorCode } from "../core/errors/error-table.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { suggest } from "./did-you-mean.ts";
import type { ProblemList } from "./problem-list.ts";
import { toExcerpt } from "./source/printable.ts";
import type { Range } from "./source/source-text.ts";
import {
  describeNode,
  findBracesKey,
  isNull,
  READ_AS_MAP,
  toJson,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from "./source/yaml-node.ts";

/** A text with the place where it is written. */
export interface Text {
  readonly value: string;
  readonly at: YamlScalar;
}

/**
 * Reads the keys of one map. What it is asked for is what the map may hold: `reportUnknownKeys` reports the rest, so
 * that there is no second list of keys. A key without a value counts as absent.
 */
export class MapReader {
  readonly map: YamlMap;
  readonly #problems: ProblemList;
  readonly #known = new Set<string>();

  constructor(map: YamlMap, problems: ProblemList) {
    this.map = map;
    this.#problems = problems;
  }

  /** Where to point when the key is missing or its value is wrong as a whole. */
  at(key: string): Range {
    return this.map.entries.get(key)?.value ?? firstKey(this.map);
  }

  has(key: string): boolean {
    return this.node(key) !== undefined;
  }

  node(key: string): YamlNode | undefined {
    this.#known.add(key);
    const value = this.map.entries.get(key)?.value;
    return value === undefined || isNull(value) ? undefined : value;
  }

  text(key: string): Text | undefined {
    const node = this.node(key);
    return node === undefined ? undefined : this.asText(node, key);
  }

  /** Numbers count as the text that was written: `id: 007` is "007". */
  asText(node: YamlNode, what: string): Text | undefined {
    if (node.kind === "scalar" && typeof node.value === "string") return { value: node.value, at: node };
    if (node.kind === "scalar" && typeof node.value === "number") return { value: node.written, at: node };
    if (findBracesKey(node) !== undefined) {
      this.#problems.error({ code: "UNQUOTED_BRACES", at: node, message: READ_AS_MAP });
      return undefined;
    }
    return this.#wrongType(what, "a text", node);
  }

  number(
    key: string,
    allowed: { readonly min: number; readonly max?: number; readonly integer?: boolean },
  ): number | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    const value = node.kind === "scalar" ? node.value : undefined;
    if (typeof value !== "number") return this.#wrongType(key, "a number", node);
    const max = allowed.max ?? Number.MAX_SAFE_INTEGER;
    const fits = value >= allowed.min && value <= max && (!allowed.integer || Number.isInteger(value));
    return fits
      ? value
      : this.#invalid(key, `${allowed.integer ? "a whole number" : "a number"} from ${allowed.min} to ${max}`, node);
  }

  flag(key: string): boolean | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    // YAML 1.1, which the original reads, knows these as well.
    const word = node.kind === "scalar" ? node.written.toLowerCase() : "";
    if (word === "yes" || word === "on") return true;
    if (word === "no" || word === "off") return false;
    return this.#wrongType(key, "true or false", node);
  }

  choice<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    const chosen = allowed.find((value) => value === text.value);
    if (chosen !== undefined) return chosen;
    const message = `\`${key}\` cannot be \`${toExcerpt(text.value)}\`; it is one of ${allowed.join(", ")}.`;
    this.#problems.error({ code: "VALUE_INVALID", at: text.at, message, remedy: suggest(text.value, allowed) });
    return undefined;
  }

  /** Seconds as a number, or a text such as `90s`, `15m`, `2h`, `1d`, `500ms`. */
  durationMs(key: string): number | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    if (node.kind !== "scalar") return this.#wrongType(key, "seconds, or a text such as `90s`", node);
    const durationMs = typeof node.value === "number" ? node.value * 1000 : parseDuration(node.written);
    const fits = durationMs !== undefined && durationMs > 0 && durationMs <= LONGEST_DURATION_MS;
    return fits
      ? Math.round(durationMs)
      : this.#invalid(key, "seconds, or a text such as `90s`, `15m` or `2h`, up to a year", node);
  }

  nested(key: string): MapReader | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    return node.kind === "map" ? new MapReader(node, this.#problems) : this.#wrongType(key, "a map", node);
  }

  list(key: string): YamlList | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    return node.kind === "list" ? node : this.#wrongType(key, "a list", node);
  }

  object(key: string): { readonly value: JsonObject; readonly at: YamlNode } | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    const value: Json = toJson(node);
    return isJsonObject(value) ? { value, at: node } : this.#wrongType(key, "a map", node);
  }

  /** Keys that may stand here and change nothing. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.#known.add(key);
  }

  /** Everything that was not asked for so far; afterwards no key is unknown. */
  rest(): YamlMap {
    const entries = new Map([...this.map.entries].filter(([key]) => !this.#known.has(key)));
    this.ignore(...entries.keys());
    return { ...this.map, entries };
  }

  /** `remedies`: for keys that belong somewhere else. */
  reportUnknownKeys(what: string, remedies: ReadonlyMap<string, string> = new Map()): void {
    for (const [key, entry] of this.map.entries) {
      // `x-...` is where YAML files by custom keep what they repeat.
      if (this.#known.has(key) || key.startsWith("x-")) continue;
      const message = `\`${toExcerpt(key)}\` means nothing in ${what} and is ignored.`;
      const remedy = remedies.get(key) ?? suggest(key, this.#known);
      this.#problems.warning({ code: "UNKNOWN_KEY", at: entry.key, message, remedy });
    }
  }

  #wrongType(key: string, expected: string, node: YamlNode): undefined {
    return this.#fault("WRONG_TYPE", node, {
      message: `\`${key}\` must be ${expected}, not ${describeNode(node)}.`,
      remedy: `Write ${expected}.`,
    });
  }

  #invalid(key: string, expected: string, node: YamlNode): undefined {
    return this.#fault("VALUE_INVALID", node, {
      message: `\`${key}\` must be ${expected}.`,
      remedy: `Write ${expected}.`,
    });
  }

  #fault(code: ErrorCode, at: YamlNode, texts: { readonly message: string; readonly remedy: string }): undefined {
    this.#problems.error({ code, at, ...texts });
    return undefined;
  }
}

const LONGEST_DURATION_MS = 366 * 24 * 3_600_000;
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const unitMs = UNIT_MS.get(unit ?? "");
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}

function firstKey(map: YamlMap): Range {
  const [first] = map.entries.values();
  return first?.key ?? map;
}
