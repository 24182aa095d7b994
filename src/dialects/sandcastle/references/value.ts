import type { Json } from "../../../core/json.ts";
import { suggest } from "../../did-you-mean.ts";
import type { Spot, Text } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import { findBracesKey, READ_AS_MAP, toJson, type YamlNode } from "../../source/yaml-node.ts";
import { correctReference, parseReference, type Reference } from "./reference.ts";
import { parseTemplate, type Slot, slotsOf, type Template, type TemplateContext } from "./template.ts";

/** JSON with templates in its texts. */
export type Value =
  | { readonly kind: "literal"; readonly value: Json }
  | { readonly kind: "template"; readonly template: Template }
  /** One reference and nothing else: the value itself, not its text. */
  | { readonly kind: "slot"; readonly slot: Slot }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Value> }
  | { readonly kind: "list"; readonly items: readonly Value[] };

/** Reads JSON whose texts may hold references. `barePaths`: a text such as `steps.a.output.x` is one without braces, too. */
export function parseValue(node: YamlNode, context: TemplateContext, options: { readonly barePaths: boolean }): Value {
  if (node.kind === "list")
    return { kind: "list", items: node.items.map((item) => parseValue(item, context, options)) };
  if (node.kind === "map") {
    reportBraces(node, context);
    const entries = [...node.entries].map(([key, entry]) => [key, parseValue(entry.value, context, options)] as const);
    return { kind: "map", entries: new Map(entries) };
  }
  if (typeof node.value !== "string") return { kind: "literal", value: toJson(node) };
  const text = { value: node.value, at: node };
  const bare = options.barePaths ? readBarePath(text) : undefined;
  return bare === undefined ? parseTextValue(text, context) : { kind: "slot", slot: bare };
}

/** A path as `parallel_over` and `show_data` take it, with or without braces. Reports what is none. */
export function parsePath(text: Text, context: TemplateContext, { name }: Spot): Slot | undefined {
  const slot = readBarePath(text);
  if (slot !== undefined) return slot;
  const inner = stripBraces(text.value);
  const meant = correctReference(inner) ?? guessPath(inner);
  const message = `${name} must be a path such as \`input.companies\` or \`steps.ID.output.items\`, not \`${toExcerpt(text.value)}\`.`;
  const remedy = meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
  context.problems.error({ code: "EXPRESSION_INVALID", at: text.at, message, remedy });
  return undefined;
}

/** All places where a value refers to something. */
export function slotsOfValue(value: Value): readonly Slot[] {
  switch (value.kind) {
    case "literal":
      return [];
    case "slot":
      return [value.slot];
    case "template":
      return slotsOf(value.template);
    case "map":
      return [...value.entries.values()].flatMap(slotsOfValue);
    case "list":
      return value.items.flatMap(slotsOfValue);
  }
}

// Here a map is allowed, so that only what reads as a reference is taken for forgotten quotes.
function reportBraces(node: YamlNode, context: TemplateContext): void {
  if (parseReference(findBracesKey(node) ?? "") === undefined) return;
  context.problems.error({ code: "UNQUOTED_BRACES", at: node, message: READ_AS_MAP });
}

function parseTextValue(text: Text, context: TemplateContext): Value {
  const template = parseTemplate(text, context);
  const [only, ...others] = template.parts;
  if (only === undefined || template.parts.every((part) => typeof part === "string"))
    return { kind: "literal", value: text.value };
  return typeof only !== "string" && others.length === 0
    ? { kind: "slot", slot: only }
    : { kind: "template", template };
}

function readBarePath(text: Text): Slot | undefined {
  const inner = stripBraces(text.value);
  const reference: Reference | undefined = inner === "input" ? { to: "input", path: [] } : parseReference(inner);
  return reference === undefined
    ? undefined
    : { reference, written: `{${inner}}`, start: text.at.start, end: text.at.end };
}

function stripBraces(text: string): string {
  return text
    .trim()
    .replace(/^\{(.*)\}$/s, "$1")
    .trim();
}

function guessPath(word: string): string | undefined {
  if (suggest(word, ["input"]) !== undefined) return undefined;
  return /^[\w-]+$/.test(word) ? `input.${word}` : undefined;
}
