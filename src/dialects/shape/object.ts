import type { JsonObject } from "../../core/json.ts";
import { suggest } from "../did-you-mean.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import type { YamlMap, YamlNode } from "../source/yaml-node.ts";
import { type Fields, type Owner, type ReadFields, readFields, toProperties } from "./fields.ts";
import { type ChoiceRules, choice } from "./scalars.ts";
import type { Reader, SchemaWriter, Shape, Spot } from "./shape.ts";

export interface ObjectRules {
  /** In messages: `a step`. Absent: the place is named. */
  readonly title?: string;
  /** What it must be, where it is no map. */
  readonly expected?: string;
  /** Remedies for keys that belong elsewhere. */
  readonly elsewhere?: { readonly [key: string]: string };
  /** Every other key is allowed, and is found under `rest`. */
  readonly open?: boolean;
  /** It may not be empty. */
  readonly filled?: boolean;
  /** Of these keys there is exactly one. */
  readonly oneOf?: {
    readonly keys: readonly string[];
    readonly none: string;
    readonly several: string;
    readonly remedy: string;
  };
}

export interface ObjectShape<F extends Fields, T = ReadFields<F> & ReadMap> extends Shape<T> {
  readonly fields: F;
  readonly rules: ObjectRules;
}

type ReadMap = {
  readonly at: YamlMap;
  /** Entries of keys that the shape does not name, of an open object. */
  readonly rest: YamlMap;
};

const EXPECTED = "a map";

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

interface AnyObject extends Shape<unknown> {
  readonly fields: Fields;
  readonly rules: ObjectRules;
}

type Kinds = { readonly [kind: string]: AnyObject };

type ReadVariants<Tag extends string, Common extends Fields, K extends Kinds> = {
  [Kind in keyof K]: { readonly [key in Tag]: Kind } & ReadFields<Common> & ReadFields<K[Kind]["fields"]> & ReadMap;
}[keyof K];

interface VariantRules<Common extends Fields, K extends Kinds>
  extends Pick<ObjectRules, "title" | "expected" | "elsewhere">,
    Pick<ChoiceRules, "unsupported"> {
  readonly common: Common;
  readonly kinds: K;
  /** The kind of an object that does not say it. */
  readonly default?: keyof K & string;
  readonly says: string;
}

export interface VariantShape<T> extends Shape<T> {
  readonly tag: string;
  readonly says: string;
  readonly common: ObjectShape<Fields>;
  readonly kindShapes: Kinds;
}

/** Objects of several kinds, which the key `tag` tells apart. An unknown kind is reported, and the common keys are read. */
export function variants<Tag extends string, Common extends Fields, K extends Kinds>(
  tag: Tag,
  { common, kinds, default: usual, says, title, expected, elsewhere, unsupported }: VariantRules<Common, K>,
): VariantShape<ReadVariants<Tag, Common, K>> {
  const names = Object.keys(kinds);
  const tagShape = choice(names, { unsupported });
  const base: ObjectRules = { title, expected, elsewhere };
  return {
    tag,
    says,
    common: object(common, base),
    kindShapes: kinds,
    expected: EXPECTED,
    kinds: ["map"],
    parts: [object(common), ...Object.values(kinds)],
    read(node, spot, reader) {
      if (node.kind !== "map") return refuseNoMap(node, { spot, rules: base, reader });
      const owner = toOwner(node, spot, base);
      const kind = readTag(owner, { tag, tagShape, usual }, reader);
      const chosen = kind === undefined ? undefined : kinds[kind];
      if (kind === undefined || chosen === undefined) {
        readFields(owner, common, reader);
        return undefined;
      }
      const rules = { ...base, ...chosen.rules };
      const fields = { ...common, ...chosen.fields };
      const read = readObject(owner, { fields, rules, known: [tag] }, reader);
      // The types of the fields say so, key by key.
      return read && ({ ...read, [tag]: kind } as unknown as ReadVariants<Tag, Common, K>);
    },
    toSchema(writer) {
      const tagSchema = { ...tagShape.toSchema(writer), description: says, ...(usual && { default: usual }) };
      const shared = Object.fromEntries([tag, ...keysOf(common)].map((key) => [key, {}]));
      const branches = Object.entries(kinds).map(([kind, shape]) =>
        toBranch(tag, { kind, usual }, toObjectSchema(shape.fields, shape.rules, writer, shared)),
      );
      const { properties, ...base } = toObjectSchema(common, { open: true }, writer, {
        [tag]: usual === undefined ? tagSchema : writer.optional(tagSchema),
      });
      const required = [...((base["required"] as string[] | undefined) ?? []), ...(usual === undefined ? [tag] : [])];
      return { ...base, properties: properties ?? {}, required, allOf: branches };
    },
  };
}

/** All spellings. */
function keysOf(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([key, { hints }]) => [key, ...(hints.also ?? [])]);
}

function toBranch(
  tag: string,
  { kind, usual }: { kind: string; usual: string | undefined },
  schema: JsonObject,
): JsonObject {
  const isUsual = kind === usual;
  const condition: JsonObject = isUsual
    ? { properties: { [tag]: { enum: [kind, null] } } }
    : { properties: { [tag]: { const: kind } }, required: [tag] };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: schema };
}

function readTag(
  owner: Owner,
  { tag, tagShape, usual }: { tag: string; tagShape: Shape<string>; usual: string | undefined },
  reader: Reader,
): string | undefined {
  const entry = owner.map.entries.get(tag);
  if (entry !== undefined && !reader.isAbsent(entry.value)) {
    return tagShape.read(entry.value, { name: `\`${tag}\``, path: tag, key: entry.key }, reader);
  }
  if (usual !== undefined) return usual;
  const message = `${owner.name} has no \`${tag}\`.`;
  return reader.refuse({ code: "KEY_MISSING", at: owner.missingAt, message, remedy: `Add \`${tag}:\`.` });
}

function refuseNoMap(
  node: YamlNode,
  { spot, rules, reader }: { readonly spot: Spot; readonly rules: ObjectRules; readonly reader: Reader },
): undefined {
  const { title, expected } = rules;
  if (expected === undefined) return reader.wrongType(node, spot, { expected: EXPECTED, kinds: ["map"] });
  return reader.wrongType(node, { ...spot, name: capitalize(title ?? spot.name) }, { expected, kinds: ["map"] });
}

function toOwner(map: YamlMap, spot: Spot, { title }: ObjectRules): Owner {
  const [first] = map.entries.values();
  const inside = first?.key ?? { start: map.start, end: Math.min(map.end, map.start + 1) };
  // An object with a title says itself what it lacks.
  if (title !== undefined) return { map, spot, name: capitalize(title.replace(/^an? /, "the ")), missingAt: inside };
  return { map, spot, name: spot.path === "" ? spot.name : `\`${spot.path}\``, missingAt: spot.key ?? inside };
}

function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

interface ObjectParts<F extends Fields> {
  readonly fields: F;
  readonly rules: ObjectRules;
  /** Keys that have been read before. */
  readonly known: readonly string[];
}

function readObject<F extends Fields>(
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
  checkOneOf(owner, rules, reader);
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
  const message = `\`${toExcerpt(key)}\` means nothing ${where}${isError ? "" : " and is ignored"}.`;
  const { elsewhere = {} } = rules;
  const remedy = Object.hasOwn(elsewhere, key) ? elsewhere[key] : suggest(key, names);
  if (isError) reader.refuse({ code: "UNKNOWN_KEY", at, message, remedy });
  else reader.problems.warning({ code: "UNKNOWN_KEY", at, message, remedy });
}

function checkOneOf({ map, missingAt }: Owner, { oneOf }: ObjectRules, reader: Reader): void {
  if (oneOf === undefined) return;
  const given = oneOf.keys.filter((key) => {
    const value = map.entries.get(key)?.value;
    return value !== undefined && !reader.isAbsent(value);
  });
  if (given.length === 1) return;
  const at = map.entries.get("subtype")?.value ?? map.entries.get("type")?.value ?? missingAt;
  const message = given.length === 0 ? oneOf.none : oneOf.several.replace("{count}", String(given.length));
  reader.refuse({ code: given.length === 0 ? "KEY_MISSING" : "VALUE_INVALID", at, message, remedy: oneOf.remedy });
}

function toObjectSchema(fields: Fields, rules: ObjectRules, writer: SchemaWriter, more: JsonObject = {}): JsonObject {
  const { properties, allOf } = toProperties(fields, writer);
  const required = allOf.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : []));
  const others = allOf.filter((part) => part["required"] === undefined);
  const oneOf = rules.oneOf?.keys.map((key) => writer.has(key));
  const isStrict = writer.rules.unknownKeys === "error";
  return {
    type: "object",
    properties: { ...more, ...properties },
    ...(required.length === 0 ? {} : { required }),
    ...(others.length === 0 ? {} : { allOf: others }),
    ...(oneOf === undefined ? {} : { oneOf }),
    ...(rules.filled ? { minProperties: 1 } : {}),
    ...(rules.open === true
      ? {}
      : { ...(isStrict ? {} : { patternProperties: { "^x-": {} } }), additionalProperties: false }),
  };
}
