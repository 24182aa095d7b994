import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { type DefinitionSchema, schemasAt } from "./definition-schema.ts";
import { placeInJson, placeInYaml } from "./place-in-text.ts";

interface CompleteOptions {
  readonly schema: DefinitionSchema | undefined;
  readonly isJson: boolean;
}

/** Completes keys and values by what the published schema says of the place. */
export function complete(context: CompletionContext, { schema, isJson }: CompleteOptions): CompletionResult | null {
  if (schema === undefined) return null;
  const text = context.state.doc.toString();
  const place = (isJson ? placeInJson : placeInYaml)(text, context.pos);
  if (place === undefined || (place.from === context.pos && !context.explicit && place.wants === "key")) return null;
  const found = schemasAt(schema, place.path);
  const options = place.wants === "key" ? keysOf(found, place.taken, isJson) : valuesOf(found, isJson);
  return options.length === 0 ? null : { from: place.from, options, validFor: /^"?[\w$-]*$/ };
}

function keysOf(schemas: readonly DefinitionSchema[], taken: readonly string[], isJson: boolean): Completion[] {
  const keys = new Map<string, Completion>();
  for (const { properties = {} } of schemas) {
    for (const [name, { description, type, default: usual }] of Object.entries(properties)) {
      if (taken.includes(name) || (keys.has(name) && description === undefined)) continue;
      const types = [type].flat().filter((each) => each !== undefined && each !== "null");
      keys.set(name, {
        label: isJson ? `"${name}"` : name,
        apply: isJson ? `"${name}": ` : `${name}: `,
        type: "property",
        detail: usual === undefined ? types.join(" or ") : `usually ${JSON.stringify(usual)}`,
        ...(description === undefined ? {} : { info: description }),
      });
    }
  }
  return [...keys.values()];
}

function valuesOf(schemas: readonly DefinitionSchema[], isJson: boolean): Completion[] {
  const values = new Set<unknown>();
  for (const { enum: choices = [], const: only, type } of schemas) {
    for (const choice of choices) values.add(choice);
    if (only !== undefined) values.add(only);
    if ([type].flat().includes("boolean")) values.add(true).add(false);
  }
  values.delete(null);
  return [...values].map((value) => {
    const label = isJson || typeof value !== "string" ? JSON.stringify(value) : value;
    return { label, type: "enum" };
  });
}
