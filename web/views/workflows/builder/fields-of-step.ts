import { type DefinitionSchema, resolveRef, schemasAt } from "../editor/definition-schema.ts";

export interface StepField {
  readonly name: string;
  readonly description?: string | undefined;
  readonly types: readonly string[];
  readonly choices: readonly string[];
  readonly isRequired: boolean;
}

/** What an object at a path may have, by the published schema and what the object says already, such as its `type`. */
export function fieldsAt(
  root: DefinitionSchema | undefined,
  path: readonly string[],
  value: Readonly<Record<string, unknown>>,
): readonly StepField[] {
  if (root === undefined) return [];
  const fields = new Map<string, DefinitionSchema[]>();
  const required = new Set<string>();
  const ignored = new Set<string>();
  const add = (schema: DefinitionSchema, seen: Set<DefinitionSchema>) => {
    if (seen.has(schema)) return;
    seen.add(schema);
    for (const each of schema.required ?? []) required.add(each);
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      const about = each.description ?? "";
      if (/^(?:Ignored:|The same as|Not supported)/.test(about)) ignored.add(name);
      fields.set(name, [...(fields.get(name) ?? []), each]);
    }
    const { allOf = [], if: condition, then, else: otherwise } = schema;
    const named = resolveRef(schema, root);
    const branch = condition === undefined ? undefined : holds(condition, value) ? then : otherwise;
    for (const part of [named, ...allOf, branch]) if (part !== undefined) add(part, seen);
  };
  for (const schema of schemasAt(root, path, { isWhole: false })) add(schema, new Set());
  return [...fields]
    .filter(([name]) => !ignored.has(name))
    .map(([name, schemas]) =>
      toField(
        name,
        schemas.flatMap((each) => parts(each, root)),
        required.has(name),
      ),
    );
}

function toField(name: string, schemas: readonly DefinitionSchema[], isRequired: boolean): StepField {
  return {
    name,
    description: schemas.find(({ description }) => description !== undefined)?.description,
    types: [...new Set(schemas.flatMap(({ type }) => type ?? []))].filter((type) => type !== "null"),
    choices: [...new Set(schemas.flatMap(({ enum: choices = [] }) => choices))].filter(
      (each) => typeof each === "string",
    ),
    isRequired,
  };
}

function parts(schema: DefinitionSchema, root: DefinitionSchema, depth = 0): readonly DefinitionSchema[] {
  if (depth > 6) return [];
  const inside = [resolveRef(schema, root), ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return [schema, ...inside.flatMap((each) => (each === undefined ? [] : parts(each, root, depth + 1)))];
}

/** As far as the published schemas use conditions: constants, choices, and what has to be there. */
function holds(schema: DefinitionSchema, value: unknown): boolean {
  const { const: only, enum: choices, required = [], properties = {}, anyOf, allOf = [], not, type } = schema;
  if (only !== undefined && value !== only) return false;
  if (choices !== undefined && !choices.includes(value)) return false;
  if (type === "null" && value !== null) return false;
  if (type === "object" && (typeof value !== "object" || value === null)) return false;
  if (not !== undefined && holds(not, value)) return false;
  if (anyOf !== undefined && !anyOf.some((each) => holds(each, value))) return false;
  if (!allOf.every((each) => holds(each, value))) return false;
  if (typeof value !== "object" || value === null) return true;
  const object = value as Readonly<Record<string, unknown>>;
  return (
    required.every((name) => name in object) &&
    Object.entries(properties).every(([name, each]) => !(name in object) || holds(each, object[name]))
  );
}
