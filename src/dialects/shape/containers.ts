import type { ErrorCode } from "../../core/errors/error-table.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { toJson, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import { kindOf, type NodeKind, pathTo, type Reader, type Shape, type Spot } from "./shape.ts";

interface SizeRules {
  readonly min?: number;
  readonly max?: number;
  /** The problem of an empty one. */
  readonly empty?: { readonly code: ErrorCode; readonly message: string; readonly remedy: string };
  readonly tooMany?: { readonly code: ErrorCode; message(count: number): string; readonly remedy?: string };
}

/** Entries that do not fit are left out. Too many: none is read. */
export function list<T>(item: Shape<T>, rules: SizeRules = {}): Shape<readonly T[]> {
  return {
    expected: "a list",
    kinds: ["list"],
    parts: [item],
    read(node, spot, reader) {
      if (node.kind !== "list") return reader.wrongType(node, spot, this);
      if (!checkSize(node, node.items.length, { rules, spot, reader })) return undefined;
      return readItems(node.items, item, { spot, reader });
    },
    toSchema(writer) {
      const size = { minItems: rules.min, maxItems: rules.max };
      return { type: "array", items: item.toSchema(writer), ...(parseExact(writeExact(size)) as JsonObject) };
    },
  };
}

/** One entry stands for a list of one. */
export function oneOrMore<T>(item: Shape<T>, rules: SizeRules = {}): Shape<readonly T[]> {
  const many = list(item, rules);
  return {
    expected: `${item.expected}, or a list`,
    kinds: ["list", ...item.kinds],
    parts: [item],
    read(node, spot, reader) {
      return node.kind === "list" ? many.read(node, spot, reader) : readItems([node], item, { spot, reader });
    },
    toSchema(writer) {
      return { anyOf: [item.toSchema(writer), many.toSchema(writer)] };
    },
  };
}

interface Around {
  readonly spot: Spot;
  readonly reader: Reader;
}

function readItems<T>(items: readonly YamlNode[], item: Shape<T>, { spot, reader }: Around): readonly T[] {
  const name = `An entry of ${spot.name}`;
  return items
    .map((node, index) => item.read(node, { name, path: pathTo(spot, index) }, reader))
    .filter((read) => read !== undefined);
}

export interface MapEntry<T> {
  readonly name: string;
  /** The place of the name. */
  readonly at: Range;
  readonly value: T;
}

interface MapRules extends SizeRules {
  /** The rule for names, like in a JSON Schema. */
  readonly names?: {
    readonly pattern: string;
    wrong(written: string): { readonly message: string; readonly remedy?: string };
  };
  /** Entries without a value are read as well, instead of counting as absent. */
  readonly readsNulls?: true;
}

/** A map with names of the writer's choice. */
export function mapOf<T>(value: Shape<T>, rules: MapRules = {}): Shape<readonly MapEntry<T>[]> {
  const pattern = rules.names && new RegExp(rules.names.pattern, "u");
  return {
    expected: "a map",
    kinds: ["map"],
    parts: [value],
    read(node, spot, reader) {
      if (node.kind !== "map") return reader.wrongType(node, spot, this);
      const entries = [...node.entries].filter(([, entry]) => rules.readsNulls || !reader.isAbsent(entry.value));
      if (!checkSize(node, node.entries.size, { rules, spot, reader })) return undefined;
      return entries.flatMap(([name, { key, value: inner }]): MapEntry<T>[] => {
        if (pattern?.test(name) === false) {
          const wrong = rules.names?.wrong(toExcerpt(name)) ?? { message: "" };
          reader.refuse({ code: "STEP_ID_INVALID", at: key, ...wrong });
        }
        const place = { name: `\`${toExcerpt(name)}\``, path: pathTo(spot, name), key };
        const read = value.read(inner, place, reader);
        return read === undefined ? [] : [{ name, at: key, value: read }];
      });
    },
    toSchema(writer) {
      const size = { minProperties: rules.min, maxProperties: rules.max };
      const names = rules.names && { propertyNames: { pattern: rules.names.pattern } };
      const schema = value.toSchema(writer);
      return {
        type: "object",
        ...(parseExact(writeExact(size)) as JsonObject),
        ...names,
        additionalProperties: rules.readsNulls ? schema : writer.optional(schema),
      };
    },
  };
}

function checkSize(
  node: YamlNode,
  count: number,
  { rules, spot, reader }: Around & { readonly rules: SizeRules },
): boolean {
  const { min = 0, max = Number.POSITIVE_INFINITY, empty, tooMany } = rules;
  if (count < min) {
    const usual = { code: "VALUE_INVALID", message: `${spot.name} is empty.`, remedy: "Add an entry." } as const;
    reader.refuse({ ...(empty ?? usual), at: node });
  } else if (count > max) {
    const code = tooMany?.code ?? "VALUE_INVALID";
    const message = tooMany?.message(count) ?? `${spot.name} has ${count} entries; ${max} are allowed.`;
    const remedy = tooMany === undefined ? "Leave some out." : tooMany.remedy;
    reader.refuse({ code, at: node, message, remedy });
  }
  return count >= min && count <= max;
}

/** One of several shapes: the first that takes this kind of node. */
export function either<const S extends readonly Shape<unknown>[]>(
  ...shapes: S
): Shape<S[number] extends Shape<infer T> ? T : never> {
  type Read = S[number] extends Shape<infer T> ? T : never;
  const kinds = shapes.flatMap((shape) => shape.kinds);
  const expectations = [...new Set(shapes.map((shape) => shape.expected))].join(" or ");
  return {
    expected: expectations,
    kinds,
    parts: shapes,
    read(node, spot, reader) {
      const kind: NodeKind = kindOf(node);
      const fitting = shapes.find((shape) => shape.kinds.includes(kind));
      if (fitting === undefined) return reader.wrongType(node, spot, this);
      // One of the shapes has read it.
      return fitting.read(node, spot, reader) as Read | undefined;
    },
    toSchema: (writer) => ({ anyOf: shapes.map((shape) => shape.toSchema(writer)) }),
  };
}

/** Whatever JSON can say, as the node that says it. */
export function anything(expected = "anything"): Shape<YamlNode> {
  return {
    expected,
    kinds: ["text", "number", "flag", "list", "map", "null"],
    read: (node) => node,
    toSchema: () => ({}),
  };
}

/** A map whose content is not ours. */
export function anyMap(): Shape<YamlMap> {
  return {
    expected: "a map",
    kinds: ["map"],
    read(node, spot, reader) {
      return node.kind === "map" ? node : reader.wrongType(node, spot, this);
    },
    toSchema: () => ({ type: "object" }),
  };
}

/** A JSON Schema. Whether it can be used is checked later, by what loads only where there is one. */
export function jsonSchema(key: string): Shape<JsonObject> {
  return {
    ...anyMap(),
    read(node, spot, reader) {
      const schema = node.kind === "map" ? toJson(node) : undefined;
      if (!isJsonObject(schema)) return reader.wrongType(node, spot, this);
      reader.later.push({ kind: "schema", key, at: node, schema });
      return schema;
    },
  };
}
