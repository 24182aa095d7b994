import type { Json, JsonObject } from "../../core/json.ts";
import type { Finding } from "../problem-list.ts";
import type { Range } from "../source/source-text.ts";
import { toJson, type YamlEntry, type YamlMap } from "../source/yaml-node.ts";
import { anything } from "./containers.ts";
import { pathTo, type Reader, type SchemaWriter, type Shape, type Spot, to } from "./shape.ts";

/** A key of an object. */
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
  /** In place of "... has no KEY". */
  readonly missing?: Missing | ((map: YamlMap) => Missing);
  /** What holds where the key is absent, as it would be written. */
  readonly default?: Json;
  /** Likewise in words, where it depends on something else. */
  readonly otherwise?: string;
}

type Missing = Partial<Pick<Finding, "code" | "message" | "remedy">>;

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

/** What messages say of the object that the fields belong to. */
export interface Owner {
  readonly map: YamlMap;
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

function readField(owner: Owner, { key, field }: NamedField, reader: Reader): unknown {
  const { shape, hints } = field;
  const [found, ...others] = [key, ...(hints.also ?? [])].flatMap((name) => {
    const entry = owner.map.entries.get(name);
    return entry === undefined || reader.isAbsent(entry.value) ? [] : [{ name, entry }];
  });
  if (found === undefined) {
    if (field.need !== "optional") reportMissing(owner, { key, field }, reader);
    return toDefault(owner, field, reader);
  }
  for (const { name, entry } of others) reportSecond({ first: found, name, entry }, reader);
  const spot = { name: `\`${found.name}\``, path: pathTo(owner.spot, found.name), key: found.entry.key };
  return shape.read(found.entry.value, spot, reader) ?? toDefault(owner, field, reader);
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
  reader.refuse({ ...usual, ...own, at: map.entries.get(key)?.value ?? missingAt });
}

function reportSecond(
  { first, name, entry }: { first: { name: string; entry: YamlEntry }; name: string; entry: YamlEntry },
  { problems }: Reader,
): void {
  if (JSON.stringify(toJson(first.entry.value)) === JSON.stringify(toJson(entry.value))) return;
  const message = `\`${name}\` is ignored: \`${first.name}\` means the same, says something else, and wins.`;
  problems.warning({ code: "KEY_DUPLICATE", at: entry.key, message });
}

/** The part of an object's JSON Schema that is about its keys. */
export function toProperties(fields: Fields, writer: SchemaWriter): { properties: JsonObject; allOf: JsonObject[] } {
  const properties: { [key: string]: JsonObject } = {};
  const needed: JsonObject[] = [];
  for (const [key, { shape, says, need, hints }] of Object.entries(fields)) {
    const schema = shape.toSchema(writer);
    const { also = [], default: value } = hints;
    const isAlone = need !== "optional" && also.length === 0;
    const described = schema["$ref"] === undefined ? schema : { allOf: [schema] };
    const full = { ...described, description: says, ...(value === undefined ? {} : { default: value }) };
    properties[key] = isAlone ? full : writer.optional(full);
    for (const name of also) {
      properties[name] = writer.optional({ ...described, description: `The same as \`${key}\`.` });
    }
    if (need !== "optional") {
      needed.push(also.length === 0 ? { required: [key] } : { anyOf: [key, ...also].map((name) => writer.has(name)) });
    }
  }
  return { properties, allOf: needed };
}
