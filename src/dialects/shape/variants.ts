import type { JsonObject } from "../../core/json.ts";
import { isNull, type YamlEntry, type YamlMap } from "../source/yaml-node.ts";
import { type Fields, type Missing, type Owner, type ReadFields, readFields } from "./fields.ts";
import {
  EXPECTED,
  keysOf,
  type ObjectRules,
  type ObjectShape,
  object,
  type ReadMap,
  readObject,
  refuseNoMap,
  toObjectSchema,
  toOwner,
} from "./object.ts";
import { type ChoiceRules, choice } from "./scalars.ts";
import type { Reader, SchemaWriter, Shape } from "./shape.ts";

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
  /** In place of "... has no TAG". */
  readonly missing?: (map: YamlMap) => Missing;
  /** The keys may stand in a map under this key as well, where a text is the kind. Those of the object itself win. */
  readonly spread?: string;
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
  { common, kinds, default: usual, says, missing, spread, unsupported, ...rules }: VariantRules<Common, K>,
): VariantShape<ReadVariants<Tag, Common, K>> {
  const names = Object.keys(kinds);
  const tagShape = choice(names, { unsupported });
  const base: ObjectRules = { ...rules, ...(spread === undefined ? {} : { spread }) };
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
      const owner = spreadOut(toOwner(node, spot, base), spread, tag);
      const kind = readTag(owner, { tag, tagShape, usual, missing }, reader);
      const chosen = kind === undefined ? undefined : kinds[kind];
      if (kind === undefined || chosen === undefined) {
        readFields(owner, common, reader);
        return undefined;
      }
      const fields = { ...common, ...chosen.fields };
      const read = readObject(owner, { fields, rules: { ...base, ...chosen.rules }, known: [tag] }, reader);
      // The types of the fields say so, key by key.
      return read && ({ ...read, [tag]: kind } as unknown as ReadVariants<Tag, Common, K>);
    },
    toSchema(writer) {
      const tagSchema = { ...tagShape.toSchema(writer), description: says, ...(usual && { default: usual }) };
      const isNeeded = usual === undefined && spread === undefined;
      const shared = Object.fromEntries([tag, ...keysOf(common)].map((key) => [key, {}]));
      const kindIs = (value: JsonObject) =>
        toTagSchema(value, { tag, spread, isUsual: usual !== undefined && value["const"] === usual }, writer);
      const branches = Object.entries(kinds).map(([kind, shape]) => ({
        if: kindIs({ const: kind }),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: toObjectSchema(shape.fields, { ...base, ...shape.rules }, writer, { shared, name: `${tag}-${kind}` }),
      }));
      const whole = toObjectSchema(common, { ...base, open: true }, writer, {
        shared: { [tag]: isNeeded ? tagSchema : writer.optional(tagSchema) },
        name: tag,
      });
      const { required = [], allOf = [] } = whole;
      return {
        ...whole,
        required: [...(required as string[]), ...(isNeeded ? [tag] : [])],
        allOf: [...(allOf as JsonObject[]), ...(spread === undefined ? [] : [kindIs({ enum: names })]), ...branches],
      };
    },
  };
}

/** The object with the keys that stand under `spread`. What they say besides is kept apart. */
function spreadOut(owner: Owner, spread: string | undefined, tag: string): Owner {
  const { map } = owner;
  const outer = spread === undefined ? undefined : map.entries.get(spread);
  if (spread === undefined || outer === undefined) return owner;
  const isTag = outer.value.kind === "scalar" && typeof outer.value.value === "string";
  if (outer.value.kind !== "map" && !isTag) return owner;
  const moved: YamlMap["entries"] = outer.value.kind === "map" ? outer.value.entries : new Map([[tag, outer]]);
  const own = [...map.entries].filter(([key, { value }]) => key !== spread && !(isNull(value) && moved.has(key)));
  const entries = new Map<string, YamlEntry>([...moved, ...own]);
  const hidden = new Map([...moved].filter(([key, entry]) => entries.get(key) !== entry));
  return { ...owner, map: { ...map, entries }, hidden: { under: spread, entries: hidden } };
}

function readTag(
  owner: Owner,
  {
    tag,
    tagShape,
    usual,
    missing,
  }: Pick<VariantRules<Fields, Kinds>, "missing"> & {
    readonly tag: string;
    readonly tagShape: Shape<string>;
    readonly usual: string | undefined;
  },
  reader: Reader,
): string | undefined {
  const entry = owner.map.entries.get(tag);
  if (entry !== undefined && !reader.isAbsent(entry.value))
    return tagShape.read(entry.value, { name: `\`${tag}\``, path: tag, key: entry.key }, reader);
  if (usual !== undefined) return usual;
  const message = `${owner.name} has no \`${tag}\`.`;
  const texts = { message, remedy: `Add \`${tag}:\`.`, ...missing?.(owner.map) };
  return reader.refuse({ code: "KEY_MISSING", at: owner.missingAt, ...texts });
}

/** That the kind is `value`, wherever it is said. */
function toTagSchema(
  value: JsonObject,
  { tag, spread, isUsual }: { readonly tag: string; readonly spread: string | undefined; readonly isUsual: boolean },
  writer: SchemaWriter,
): JsonObject {
  if (isUsual) return { properties: { [tag]: { enum: [value["const"] ?? null, null] } } };
  const own = { properties: { [tag]: value }, required: [tag] };
  if (spread === undefined) return own;
  const outer = { anyOf: [value, { type: "object", ...own }] };
  return { anyOf: [own, { not: writer.has(tag), properties: { [spread]: outer }, required: [spread] }] };
}
