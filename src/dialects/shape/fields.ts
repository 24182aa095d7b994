import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Finding } from "../problem-list.ts";
import type { Range } from "../source/source-text.ts";
import { toJson, type YamlEntry, type YamlMap } from "../source/yaml-node.ts";
import { anything } from "./containers.ts";
import { pathTo, type Reader, type SchemaWriter, type Shape, type Spot, to } from "./shape.ts";

export interface Field<T> {
  readonly shape: Shape<T>;
  /** One sentence, for editors and docs. */
  readonly says: string;
  readonly need: "optional" | "expected" | "required";
  readonly hints: FieldHints;
}

export interface FieldHints {
  /** Other spellings of the key. */
  readonly also?: readonly string[];
  /** Names at which the value may stand in the map under another key. */
  readonly within?: { readonly key: string; readonly names: readonly string[] };
  /** In place of "... has no KEY". */
  readonly missing?: Missing | ((map: YamlMap) => Missing);
  /** The value where the key is absent, as it would be written. */
  readonly default?: Json;
  /** The default in words, where it depends on something else. */
  readonly otherwise?: string;
}

export type Missing = Partial<Finding>;

export interface Fields {
  readonly [key: string]: Field<unknown>;
}

type ValueOf<F> = F extends Field<infer T> ? T : never;
export type ReadFields<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

export function optional<T>(shape: Shape<T>, says: string, hints: FieldHints = {}): Field<T | undefined> {
  return { shape, says, need: "optional", hints };
}

/** Absent, or wrong: the default, which is read as if it were written. */
export function withDefault<T>(shape: Shape<T>, written: Json, says: string, hints: FieldHints = {}): Field<T> {
  return { shape, says, need: "optional", hints: { ...hints, default: written } };
}

/** It is an error where the key is absent, and the rest is still read. */
export function expected<T>(shape: Shape<T>, says: string, hints: FieldHints = {}): Field<T | undefined> {
  return { shape, says, need: "expected", hints };
}

/** Without it there is nothing to be made of the object. */
export function required<T>(shape: Shape<T>, says: string, hints: FieldHints = {}): Field<T> {
  return { shape, says, need: "required", hints };
}

/** A key that may stand there and changes nothing. */
export function ignored(says: string): Field<undefined> {
  return { shape: to(anything(), () => undefined), says: `Ignored: ${says}`, need: "optional", hints: {} };
}

/** The object that the fields belong to, with its name for messages. */
export interface Owner {
  readonly map: YamlMap;
  /** Values that count for nothing, because the map itself has some under the same keys. */
  readonly hidden?: { readonly under: string; readonly entries: YamlMap["entries"] };
  /** `The step`, or where it stands. */
  readonly name: string;
  readonly missingAt: Range;
  readonly spot: Spot;
}

/** The values by key. Undefined: a required one is not there. */
export function readFields(owner: Owner, fields: Fields, reader: Reader): { [key: string]: unknown } | undefined {
  const values: { [key: string]: unknown } = {};
  let isWhole = true;
  for (const [key, field] of Object.entries(fields)) {
    const value = readField(owner, { key, field }, reader);
    if (value === undefined && field.need === "required") isWhole = false;
    else values[key] = value;
  }
  return isWhole ? values : undefined;
}

interface NamedField {
  readonly key: string;
  readonly field: Field<unknown>;
}

interface WrittenValue {
  readonly name: string;
  readonly entry: YamlEntry;
}

function readField(owner: Owner, { key, field }: NamedField, reader: Reader): unknown {
  const read = ({ name, entry }: WrittenValue) =>
    field.shape.read(entry.value, { name: `\`${name}\``, path: pathTo(owner.spot, name), key: entry.key }, reader);
  const [first, ...others] = findValues(owner, { key, field }, reader);
  if (first === undefined) {
    if (field.need !== "optional") reportMissing(owner, { key, field }, reader);
    return toDefault(owner, field, reader);
  }
  for (const second of others) {
    reportSecond(first, second, reader);
    read(second);
  }
  const value = read(first);
  return value === undefined ? toDefault(owner, field, reader) : value;
}

/** Wherever a field has a value. The first one counts. */
function findValues({ map, hidden }: Owner, { key, field }: NamedField, reader: Reader): readonly WrittenValue[] {
  const { also = [], within } = field.hints;
  const find = (entries: YamlMap["entries"], names: readonly string[], before: string) =>
    names.flatMap((name): readonly WrittenValue[] => {
      const entry = entries.get(name);
      return entry === undefined || reader.isAbsent(entry.value) ? [] : [{ name: `${before}${name}`, entry }];
    });
  const inner = within && map.entries.get(within.key)?.value;
  return [
    ...find(map.entries, [key, ...also], ""),
    ...(hidden === undefined ? [] : find(hidden.entries, [key, ...also], `${hidden.under}.`)),
    ...(within === undefined || inner?.kind !== "map" ? [] : find(inner.entries, within.names, `${within.key}.`)),
  ];
}

/** Whether a field has a value anywhere. */
export function isWritten(owner: Owner, named: NamedField, reader: Reader): boolean {
  return findValues(owner, named, reader).length > 0;
}

function toDefault({ map, spot }: Owner, { shape, hints }: Field<unknown>, reader: Reader): unknown {
  const { default: value } = hints;
  if (value === undefined || value === null || typeof value === "object") return undefined;
  const node = { kind: "scalar", start: map.start, end: map.start, size: 1, value, written: String(value) } as const;
  return shape.read(node, spot, reader);
}

function reportMissing({ map, name, missingAt }: Owner, { key, field }: NamedField, reader: Reader): void {
  const { missing } = field.hints;
  const usual = { code: "KEY_MISSING", message: `${name} has no \`${key}\`.`, remedy: `Add \`${key}:\`.` } as const;
  const own = typeof missing === "function" ? missing(map) : missing;
  reader.refuse({ ...usual, at: map.entries.get(key)?.value ?? missingAt, ...own });
}

function reportSecond(first: WrittenValue, { name, entry }: WrittenValue, { problems }: Reader): void {
  if (writeExact(toJson(first.entry.value)) === writeExact(toJson(entry.value))) return;
  const message = `\`${name}\` is ignored: \`${first.name}\` means the same, says something else, and wins.`;
  problems.warning({ code: "KEY_DUPLICATE", at: entry.key, message });
}

/**
 * The part of an object's JSON Schema that is about its keys: what may stand under each, and what must be there.
 * `spread`: the key under which all of them may stand as well.
 */
export function toProperties(
  fields: Fields,
  writer: SchemaWriter,
  spread?: string,
): { properties: { [key: string]: JsonObject }; needed: JsonObject[] } {
  const properties: { [key: string]: JsonObject } = {};
  const inner: { [key: string]: { [name: string]: JsonObject } } = {};
  const needed: JsonObject[] = [];
  for (const [key, field] of Object.entries(fields)) {
    const { shape, says, need, hints } = field;
    const schema = shape.toSchema(writer);
    const { also = [], within, default: value } = hints;
    const isAlone = need !== "optional" && also.length === 0 && within === undefined && spread === undefined;
    const described = schema["$ref"] === undefined ? schema : { allOf: [schema] };
    const full = { ...described, description: says, ...(value === undefined ? {} : { default: value }) };
    properties[key] = isAlone ? full : writer.optional(full);
    for (const name of also)
      properties[name] = writer.optional({ ...described, description: `The same as \`${key}\`.` });
    if (within !== undefined) {
      const named = within.names.map((name) => [name, writer.optional(schema)] as const);
      inner[within.key] = { ...inner[within.key], ...Object.fromEntries(named) };
    }
    if (need === "optional") continue;
    needed.push(isAlone ? { required: [key] } : { anyOf: toPlaces({ key, field }, writer, spread) });
  }
  for (const [key, names] of Object.entries(inner)) properties[key] = { ...properties[key], properties: names };
  return { properties, needed };
}

/** JSON Schemas of the objects that have a value for a field, one for each place where it may stand. */
export function toPlaces(
  { key, field: { hints } }: NamedField,
  writer: SchemaWriter,
  spread: string | undefined,
): readonly JsonObject[] {
  const { also = [], within } = hints;
  const under = (outer: string, schema: JsonObject): JsonObject => ({
    required: [outer],
    properties: { [outer]: { type: "object", ...schema } },
  });
  const own = [key, ...also].map((name) => writer.has(name));
  const inner = (within?.names ?? []).map((name) => under(within?.key ?? "", writer.has(name)));
  const here = [...own, ...inner];
  return spread === undefined ? here : [...here, ...here.map((schema) => under(spread, schema))];
}
