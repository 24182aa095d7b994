import type { PublishedShape } from "../src/dialects/published-schemas.ts";
import type { Field, Fields } from "../src/dialects/shape/fields.ts";
import { DefinitionWriter } from "../src/dialects/shape/json-schema.ts";
import type { SchemaWriter, Shape } from "../src/dialects/shape/shape.ts";

type AnyShape = Shape<unknown> & {
  readonly fields?: Fields;
  readonly rules?: { readonly says?: string };
  readonly tag?: string;
  readonly says?: string;
  readonly common?: AnyShape;
  readonly kindShapes?: { readonly [kind: string]: AnyShape };
};

/** Tables of every key that a file may have, in the order in which one comes upon them. */
export function renderKeyTables({ shape, rules }: PublishedShape): string {
  const writer = new DefinitionWriter(rules);
  const seen = new Set<unknown>();
  const sections: string[] = [];
  const visit = (each: AnyShape, heading: string): void => {
    const identity = each.common?.fields ?? each.fields ?? each;
    if (seen.has(identity)) return;
    seen.add(identity);
    if (each.kindShapes !== undefined) visitKinds(each, heading);
    else if (each.fields !== undefined) visitFields(each.fields, heading, { says: each.rules?.says });
    else for (const part of each.parts ?? []) visit(part, heading);
  };
  const visitFields = (
    fields: Fields,
    heading: string,
    { first = [], says }: { readonly first?: readonly string[]; readonly says?: string | undefined } = {},
  ): void => {
    const rows = Object.entries(fields).map(([key, field]) => toRow(key, field, writer));
    const table = ["| key | value | |", "|---|---|---|", ...first, ...rows];
    sections.push([says === undefined ? `**${heading}**` : `**${heading}** ${says}`, "", ...table].join("\n"));
    for (const [key, field] of Object.entries(fields)) visit(field.shape, `\`${key}\``);
  };
  const visitKinds = ({ tag = "", says = "", common, kindShapes = {} }: AnyShape, heading: string): void => {
    const kinds = Object.keys(kindShapes).map((kind) => `\`${kind}\``);
    visitFields(common?.fields ?? {}, heading, {
      first: [`| \`${tag}\` | ${kinds.join(", ")} | ${cell(says)} |`],
    });
    const byFields = Map.groupBy(Object.entries(kindShapes), ([, kind]) => kind.fields ?? kind);
    for (const group of byFields.values()) {
      const names = group.map(([kind]) => `\`${tag}: ${kind}\``).join(", ");
      for (const [, kind] of group) visit(kind, names);
    }
  };
  visit(shape, "The file");
  return sections.join("\n\n");
}

function toRow(key: string, { shape, says, need, hints }: Field<unknown>, writer: SchemaWriter): string {
  const { enum: values } = shape.toSchema(writer);
  const shown = Array.isArray(values) ? values.map((value) => `\`${value}\``).join(", ") : shape.expected;
  const usual =
    hints.default === undefined ? hints.otherwise : `\`${JSON.stringify(hints.default).replaceAll('"', "")}\``;
  const names = [key, ...(hints.also ?? [])].map((name) => `\`${name}\``).join(", ");
  const notes = [need === "optional" ? "" : " Required.", usual === undefined ? "" : ` Default: ${usual}.`];
  return `| ${names} | ${cell(shown)} | ${cell(says + notes.join(""))} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
