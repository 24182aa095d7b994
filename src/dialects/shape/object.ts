import type { JsonObject } from "../../core/json.ts";
import { suggest, toMisspeltPattern } from "../did-you-mean.ts";
import { toLostPattern } from "../problem-list.ts";
import { capitalize, toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { startOf, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import { type Fields, isWritten, type Owner, type ReadFields, readFields, toPlaces, toProperties } from "./fields.ts";
import { type Reader, type SchemaWriter, type Shape, type Spot, to } from "./shape.ts";

export interface ObjectRules {
  /** In messages: `a step`. Absent: the place is named. */
  readonly title?: string;
  /** One sentence, for editors and docs. */
  readonly says?: string;
  /** The form that is expected, for messages about values that are no map. */
  readonly expected?: string;
  readonly elsewhere?: { readonly [key: string]: string };
  /** Every other key is allowed, and is found under `rest`. */
  readonly open?: boolean;
  readonly filled?: boolean;
  /** At least one of these keys is there. */
  readonly someOf?: {
    readonly keys: readonly string[];
    readonly none: string;
    /** The message where there is more than one. Absent: there may be several. */
    readonly several?: string;
    readonly remedy: string;
  };
  /** The keys may stand in a map under this key as well. Those of the object itself win. */
  readonly spread?: string;
}

export interface ObjectShape<F extends Fields, T = ReadFields<F> & ReadMap> extends Shape<T> {
  readonly fields: F;
  readonly rules: ObjectRules;
}

export type ReadMap = {
  readonly at: YamlMap;
  /** Entries of keys that the shape does not name, of an open object. */
  readonly rest: YamlMap;
};

export const EXPECTED = "a map";

export function object<F extends Fields>(fields: F, rules: ObjectRules = {}): ObjectShape<F> {
  return {
    fields,
    rules,
    expected: EXPECTED,
    kinds: ["map"],
    parts: Object.values(fields).map(({ shape }) => shape),
    read(node, spot, reader) {
      if (node.kind !== "map") return refuseNoMap(node, { spot, rules, reader });
      if (rules.filled && node.entries.size === 0) reader.invalid(node, `${spot.name} is empty.`, "Add an entry.");
      return readObject<F>(toOwner(node, spot, rules), { fields, rules, known: [] }, reader);
    },
    toSchema(writer) {
      const { title } = rules;
      if (title === undefined) return toObjectSchema(fields, rules, writer);
      // Things with a name of their own stand once in the schema.
      const name = title
        .replace(/^an? /, "")
        .replace(/[^a-z_]+/g, "-")
        .replace(/^-|-$/g, "");
      return writer.define(name, () => toObjectSchema(fields, rules, writer));
    },
  };
}

/** How a dialect writes keys of several words. What is read has the names of the fields. */
export type Spelling = <F extends Fields>(shape: ObjectShape<F>) => Shape<ReadFields<F> & ReadMap>;

/** `max_pages` for `maxPages`, which is taken as well. */
export const inSnakeCase: Spelling = <F extends Fields>({ fields, rules }: ObjectShape<F>) => {
  const names = Object.keys(fields).map(
    (key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] as const,
  );
  const spelt = names.flatMap(([key, name]) => {
    const field = fields[key];
    if (field === undefined) return [];
    const also = [key, ...(field.hints.also ?? [])].filter((other) => other !== name);
    return [[name, { ...field, hints: { ...field.hints, also } }] as const];
  });
  return to(object<Fields>(Object.fromEntries(spelt), rules), (read) => {
    const named = names.map(([key, name]) => [key, read[name]] as const);
    return { at: read.at, rest: read.rest, ...Object.fromEntries(named) } as unknown as ReadFields<F> & ReadMap;
  });
};

export function refuseNoMap(
  node: YamlNode,
  { spot, rules, reader }: { readonly spot: Spot; readonly rules: ObjectRules; readonly reader: Reader },
): undefined {
  const { title, expected } = rules;
  if (expected === undefined) return reader.wrongType(node, spot, { expected: EXPECTED, kinds: ["map"] });
  return reader.wrongType(node, { ...spot, name: capitalize(title ?? spot.name) }, { expected, kinds: ["map"] });
}

export function toOwner(map: YamlMap, spot: Spot, { title }: ObjectRules): Owner {
  const inside = startOf(map);
  // An object with a title says itself what it lacks.
  if (title !== undefined) return { map, spot, name: capitalize(title.replace(/^an? /, "the ")), missingAt: inside };
  return { map, spot, name: spot.path === "" ? spot.name : `\`${spot.path}\``, missingAt: spot.key ?? inside };
}

interface ObjectParts<F extends Fields> {
  readonly fields: F;
  readonly rules: ObjectRules;
  /** Keys that have been read before. */
  readonly known: readonly string[];
}

export function readObject<F extends Fields>(
  owner: Owner,
  { fields, rules, known }: ObjectParts<F>,
  reader: Reader,
): (ReadFields<F> & ReadMap) | undefined {
  const { map } = owner;
  const names = new Set([...known, ...keysOf(fields)]);
  const unknown = [...map.entries].filter(([key]) => !names.has(key));
  if (rules.open !== true)
    for (const [key, entry] of unknown.slice(0, MAX_REPORTED))
      reportUnknown(key, entry.key, { owner, rules, names, reader });
  checkSomeOf(owner, { fields, rules }, reader);
  const values = readFields(owner, fields, reader);
  const rest: YamlMap = { ...map, entries: new Map(unknown) };
  // Each value has been read by the shape of its field.
  return values && ({ ...values, at: map, rest } as unknown as ReadFields<F> & ReadMap);
}

/** More are not shown, and finding what each may have meant takes its time. */
const MAX_REPORTED = 200;

interface UnknownContext {
  readonly owner: Owner;
  readonly rules: ObjectRules;
  readonly names: ReadonlySet<string>;
  readonly reader: Reader;
}

function reportUnknown(key: string, at: Range, { owner, rules, names, reader }: UnknownContext): void {
  const isError = reader.rules.unknownKeys === "error";
  // `x-...` is where YAML files by custom keep what they repeat.
  if (key.startsWith("x-") && !isError) return;
  const { path } = owner.spot;
  const where = rules.title === undefined ? (path === "" ? "here" : `in \`${path}\``) : `in ${rules.title}`;
  const { elsewhere = {} } = rules;
  const isElsewhere = Object.hasOwn(elsewhere, key);
  const remedy = isElsewhere ? elsewhere[key] : (suggest(key, names) ?? listFew(names));
  if (!isError)
    return reader.problems.unknownKey(key, isElsewhere ? [] : names, {
      where,
      within: path.split(".").at(-1),
      at,
      remedy,
    });
  reader.refuse({ code: "UNKNOWN_KEY", at, message: `\`${toExcerpt(key)}\` means nothing ${where}.`, remedy });
}

/** Where few keys are possible, the word for what was meant is among them. */
function listFew(names: ReadonlySet<string>): string | undefined {
  return names.size > 0 && names.size <= 24 ? `Keys here: ${[...names].join(", ")}.` : undefined;
}

function checkSomeOf(
  owner: Owner,
  { fields, rules: { someOf } }: Pick<ObjectParts<Fields>, "fields" | "rules">,
  reader: Reader,
): void {
  if (someOf === undefined) return;
  const { keys, none, several, remedy } = someOf;
  const given = pick(fields, keys).filter((named) => isWritten(owner, named, reader)).length;
  if (given === 1 || (given > 1 && several === undefined)) return;
  const { entries } = owner.map;
  const at = entries.get("subtype")?.value ?? entries.get("type")?.value ?? owner.missingAt;
  const message = given === 0 ? none : (several ?? "").replace("{count}", String(given));
  reader.refuse({ code: given === 0 ? "KEY_MISSING" : "VALUE_INVALID", at, message, remedy });
}

function pick(fields: Fields, keys: readonly string[]) {
  return Object.entries(fields).flatMap(([key, field]) => (keys.includes(key) ? [{ key, field }] : []));
}

export function toObjectSchema(
  fields: Fields,
  rules: ObjectRules,
  writer: SchemaWriter,
  { shared = {}, name = "" }: { readonly shared?: JsonObject; readonly name?: string } = {},
): JsonObject {
  const { says, someOf, spread } = rules;
  const { properties, needed } = toProperties(fields, writer, spread);
  const required = needed.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : []));
  const others = needed.filter((part) => part["required"] === undefined);
  const some = pick(fields, someOf?.keys ?? []).map((named) => toAnyOf(toPlaces(named, writer, spread)));
  const isStrict = writer.rules.unknownKeys === "error";
  const all = { ...shared, ...properties };
  const closed =
    rules.open === true
      ? {}
      : isStrict
        ? { additionalProperties: false }
        : toOtherKeys(Object.keys(all), Object.keys(rules.elsewhere ?? {}), writer);
  const keys = { properties: all, ...closed };
  const rest = {
    ...(required.length === 0 ? {} : { required }),
    ...(others.length === 0 ? {} : { allOf: others }),
    ...(some.length === 0 ? {} : { [someOf?.several === undefined ? "anyOf" : "oneOf"]: some }),
    ...(rules.filled ? { minProperties: 1 } : {}),
  };
  const described = { ...(says === undefined ? {} : { description: says }), type: "object" };
  if (spread === undefined) return { ...described, properties: all, ...rest, ...closed };
  const part = writer.define(name, () => keys);
  return { ...described, ...rest, allOf: [...others, part, { properties: { [spread]: part } }] };
}

/** The keys that a map may have beside its own: any that is ignored without harm, as `unknownKey` decides. */
export function toOtherKeys(keys: readonly string[], elsewhere: readonly string[], writer: SchemaWriter): JsonObject {
  const lost = writer.define("key-that-would-not-hold", () => ({ pattern: toLostPattern() }));
  const misspelt = { pattern: toMisspeltPattern(keys), not: { type: "string", enum: ["", ...elsewhere] } };
  const others = { not: { anyOf: [lost, misspelt] } };
  return { propertyNames: { anyOf: [{ enum: [...keys] }, { pattern: "^x-" }, others] } };
}

function toAnyOf(schemas: readonly JsonObject[]): JsonObject {
  const [only] = schemas;
  return only !== undefined && schemas.length === 1 ? only : { anyOf: schemas };
}

/** All spellings. */
export function keysOf(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([key, { hints }]) => [key, ...(hints.also ?? [])]);
}
