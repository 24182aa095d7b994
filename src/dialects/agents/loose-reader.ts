import type { ProblemPlace } from "../../core/errors/problem.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { MapReader, type Text } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import { describeNode, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import type { Named, Setting } from "./agents-file.ts";
import type { ParseContext } from "./parse-context.ts";

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly integer?: boolean;
}

/**
 * Reads one component. Files of this format write numbers and flags as texts as well ("0.7", "True"): they are taken for
 * what they mean. What means nothing is `Invalid parameter type for agent 'X'`, as in the original, and says why.
 */
export class LooseReader {
  readonly keys: MapReader;
  readonly #context: ParseContext;
  readonly #owner: string;

  /** `owner`: in messages, e.g. `agent 'X'`. */
  constructor(map: YamlMap, owner: string, context: ParseContext) {
    this.keys = new MapReader(map, context.problems);
    this.#owner = owner;
    this.#context = context;
  }

  text(key: string): Text | undefined {
    const node = this.keys.node(key);
    if (node === undefined) return undefined;
    if (node.kind === "scalar" && typeof node.value === "string") return { value: node.value, at: node };
    if (node.kind === "scalar" && typeof node.value === "number") return { value: node.written, at: node };
    return this.#wrongType(key, "a text", node);
  }

  number(key: string, range: NumberRange): Setting | undefined {
    const node = this.keys.node(key);
    if (node === undefined) return undefined;
    const value = node.kind === "scalar" ? toNumber(node.value) : undefined;
    const kind = range.integer === true ? "a whole number" : "a number";
    if (value === undefined) return this.#wrongType(key, kind, node);
    const fits = value >= range.min && value <= range.max && (range.integer !== true || Number.isInteger(value));
    return fits
      ? this.setting(value, node)
      : this.#wrong(`\`${key}\` must be ${kind} from ${range.min} to ${range.max}`, node);
  }

  flag(key: string): Setting | undefined {
    const node = this.keys.node(key);
    if (node === undefined) return undefined;
    const word = node.kind === "scalar" ? node.written.trim().toLowerCase() : "";
    if (TRUE.includes(word)) return this.setting(true, node);
    if (FALSE.includes(word)) return this.setting(false, node);
    return this.#wrongType(key, "true or false", node);
  }

  /** A text alone counts as a list of one. */
  names(key: string): readonly Named[] | undefined {
    const node = this.keys.node(key);
    if (node === undefined) return undefined;
    const nodes = node.kind === "list" ? node.items : [node];
    return nodes.flatMap((item): readonly Named[] => {
      if (item.kind === "scalar" && typeof item.value === "string") return [{ name: item.value, at: item }];
      if (item.kind === "scalar" && typeof item.value === "number") return [{ name: item.written, at: item }];
      this.#wrong(`an entry of \`${key}\` must be a text, not ${describeNode(item)}`, item);
      return [];
    });
  }

  /** Texts by name, e.g. of an environment; numbers and flags as they are written. */
  texts(key: string): JsonObject | undefined {
    const node = this.keys.node(key);
    if (node === undefined) return undefined;
    if (node.kind !== "map") return this.#wrongType(key, "a map of texts", node);
    const entries = [...node.entries].flatMap(([name, { value }]): [string, Json][] => {
      if (value.kind === "scalar") return [[name, typeof value.value === "string" ? value.value : value.written]];
      this.#wrong(`\`${key}.${toExcerpt(name)}\` must be a text, not ${describeNode(value)}`, value);
      return [];
    });
    return Object.fromEntries(entries);
  }

  setting(value: Json, at: YamlNode): Setting {
    return { value, place: this.place(at) };
  }

  place(at: { readonly start: number; readonly end: number }): ProblemPlace {
    return this.#context.source.place(at);
  }

  #wrongType(key: string, expected: string, node: YamlNode): undefined {
    return this.#wrong(`\`${key}\` must be ${expected}, not ${describeNode(node)}`, node);
  }

  #wrong(why: string, at: YamlNode): undefined {
    const message = `Invalid parameter type for ${this.#owner}: ${why}.`;
    this.#context.problems.error({ code: "WRONG_TYPE", at, message });
    return undefined;
  }
}

const TRUE = ["true", "yes", "on", "y", "t", "1"];
const FALSE = ["false", "no", "off", "n", "f", "0"];

function toNumber(value: null | boolean | number | string): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/.test(value.trim())) return undefined;
  return Number(value);
}
