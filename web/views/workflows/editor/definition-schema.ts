import type { Dialect } from "../dialects.ts";

/** The keywords of JSON Schema that say what may stand at a place. */
export interface DefinitionSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, DefinitionSchema>>;
  readonly patternProperties?: Readonly<Record<string, DefinitionSchema>>;
  readonly additionalProperties?: DefinitionSchema | boolean;
  readonly required?: readonly string[];
  readonly not?: DefinitionSchema;
  readonly items?: DefinitionSchema;
  readonly allOf?: readonly DefinitionSchema[];
  readonly anyOf?: readonly DefinitionSchema[];
  readonly oneOf?: readonly DefinitionSchema[];
  readonly if?: DefinitionSchema;
  readonly then?: DefinitionSchema;
  readonly else?: DefinitionSchema;
  readonly definitions?: Readonly<Record<string, DefinitionSchema>>;
}

/** The published schemas, as text: each is loaded when its dialect is edited. */
const SCHEMAS: Readonly<Record<Dialect, () => Promise<{ readonly default: string }>>> = {
  sandcastle: () => import("../../../../schemas/sandcastle-workflow.schema.json?raw"),
  uhlp: () => import("../../../../schemas/uhlp-workflow.schema.json?raw"),
  terminal: () => import("../../../../schemas/terminal-workflow.schema.json?raw"),
  agents: () => import("../../../../schemas/agents-file.schema.json?raw"),
};

export async function readSchema(dialect: Dialect): Promise<DefinitionSchema> {
  return JSON.parse((await SCHEMAS[dialect]()).default) as DefinitionSchema;
}

/** Every schema that may hold at a path, with `*` for an entry of a list. `isWhole`: with those that each is put together of. */
export function schemasAt(
  root: DefinitionSchema,
  path: readonly string[],
  { isWhole = true }: { readonly isWhole?: boolean } = {},
): readonly DefinitionSchema[] {
  let here: readonly DefinitionSchema[] = [root];
  for (const key of path) {
    const whole = here.flatMap((each) => spread(each, root));
    here = [...new Set(whole.flatMap((each) => below(each, key)))];
  }
  return isWhole ? [...new Set(here.flatMap((each) => spread(each, root)))] : here;
}

/** What a schema refers to. */
export function resolveRef({ $ref }: DefinitionSchema, root: DefinitionSchema): DefinitionSchema | undefined {
  return $ref?.startsWith("#/definitions/") ? root.definitions?.[$ref.slice("#/definitions/".length)] : undefined;
}

function below(schema: DefinitionSchema, key: string): readonly DefinitionSchema[] {
  if (key === "*") return schema.items === undefined ? [] : [schema.items];
  const named = schema.properties?.[key];
  if (named !== undefined) return [named];
  const matching = Object.entries(schema.patternProperties ?? {}).filter(([pattern]) =>
    new RegExp(pattern, "u").test(key),
  );
  if (matching.length > 0) return matching.map(([, each]) => each);
  const { additionalProperties } = schema;
  return typeof additionalProperties === "object" ? [additionalProperties] : [];
}

/** A schema with those that it refers to and those that it is put together of. */
function spread(
  schema: DefinitionSchema,
  root: DefinitionSchema,
  seen = new Set<DefinitionSchema>(),
): DefinitionSchema[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const { allOf = [], anyOf = [], oneOf = [], if: condition, then, else: otherwise } = schema;
  const named = resolveRef(schema, root);
  const parts = [named, ...allOf, ...anyOf, ...oneOf, condition, then, otherwise];
  return [schema, ...parts.flatMap((part) => (part === undefined ? [] : spread(part, root, seen)))];
}
