import { isJsonObject, type JsonObject } from "../core/json.ts";
import { compilePattern, PatternFault } from "./linear-pattern.ts";
import { estimateCost } from "./schema-cost.ts";
import { findReferred, partsOf, type SchemaPart } from "./schema-parts.ts";

/** A sentence, or the rule that the part at the path breaks. */
export type SchemaFault = (
  | { readonly message: string }
  | { readonly rule: string; readonly allowed: readonly string[] | undefined }
) & {
  /** Keys and indices that lead to the faulty part. */
  readonly path: readonly string[];
};

const MAX_PARTS = 10_000;
const MAX_UNFOLDED = 1_000_000;

/** What in a schema cannot be checked in time that grows with the value: a pattern, or references that lead round or unfold. */
export function findHeavyPart(root: JsonObject): SchemaFault | undefined {
  const all = listParts(root);
  if (all === undefined) return { path: [], message: `It has more than ${MAX_PARTS} schemas inside.` };
  for (const part of all) {
    const fault = findPatternFault(part);
    if (fault !== undefined) return fault;
  }
  const endless = findEndless(root, all);
  if (endless !== undefined)
    return { path: endless, message: "It refers to itself without looking at a part of the value." };
  if ((estimateCost(root)?.keywords ?? 0) <= MAX_UNFOLDED) return undefined;
  return { path: [], message: `Its references unfold to more than ${MAX_UNFOLDED} keywords.` };
}

function listParts(root: JsonObject): readonly SchemaPart[] | undefined {
  const all: SchemaPart[] = [{ path: [], schema: root, applies: "same" }];
  // It grows while it is read.
  for (const { path, schema } of all) {
    for (const part of partsOf(schema)) all.push({ ...part, path: [...path, ...part.path] });
    if (all.length > MAX_PARTS) return undefined;
  }
  return all;
}

function findPatternFault({ path, schema }: SchemaPart): SchemaFault | undefined {
  const { pattern, patternProperties } = schema;
  const written: [string, readonly string[]][] = typeof pattern === "string" ? [[pattern, ["pattern"]]] : [];
  if (isJsonObject(patternProperties))
    for (const key of Object.keys(patternProperties)) written.push([key, ["patternProperties", key]]);
  for (const [text, place] of written) {
    try {
      compilePattern(text);
    } catch (error) {
      if (!(error instanceof PatternFault)) throw error;
      return { path: [...path, ...place], message: `The regular expression cannot be used: ${error.message}.` };
    }
  }
  return undefined;
}

/** Where a schema asks itself of the same value again. */
function findEndless(root: JsonObject, all: readonly SchemaPart[]): readonly string[] | undefined {
  const state = new Map<JsonObject, "open" | "done">();
  const next = (schema: JsonObject) => {
    const referred = findReferred(root, schema["$ref"]);
    const parts = partsOf(schema).filter(({ applies }) => applies === "same");
    return [...(referred === undefined ? [] : [referred]), ...parts.map((part) => part.schema)];
  };
  for (const { schema, path } of all) {
    if (state.has(schema)) continue;
    const way = [{ schema, rest: next(schema) }];
    state.set(schema, "open");
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const following = last.rest.pop();
      if (following === undefined) {
        state.set(last.schema, "done");
        way.pop();
      } else if (state.get(following) === "open") return path;
      else if (!state.has(following)) {
        state.set(following, "open");
        way.push({ schema: following, rest: next(following) });
      }
    }
  }
  return undefined;
}
