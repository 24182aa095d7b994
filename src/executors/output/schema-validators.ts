import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { compileExactSchema, hasBigInt, toDoubles } from "../../core/exact-schema.ts";
import type { Json, JsonObject } from "../../core/json.ts";

/** Users' JSON Schemas (draft-07 and 2020-12, by `$schema`), each compiled once. */
export interface SchemaValidators {
  compile(schema: JsonObject): Promise<CompiledSchema>;
}

type CompiledSchema =
  | { readonly ok: true; readonly validate: Validate }
  | { readonly ok: false; readonly message: string };

/** Empty: the value fits. */
export type Validate = (value: Json) => readonly SchemaViolation[];

export interface SchemaViolation {
  /** JSON pointer into the value; "" is the whole. */
  readonly path: string;
  readonly message: string;
}

/** Describes violations in one line. `whole` names the value itself. */
export function describeViolations(violations: readonly SchemaViolation[], whole = ""): string {
  return violations.map(({ path, message }) => `${path || whole} ${message}`.trim()).join("; ");
}

const MAX_LISTED = 10;

/** Lists violations for a model that has to correct them. */
export function listViolations(violations: readonly SchemaViolation[], whole: string): string {
  return violations
    .slice(0, MAX_LISTED)
    .map((violation) => `- ${describeViolations([violation], whole)}`)
    .join("\n");
}

const DRAFTS = ["draft-07", "2020-12"] as const;
type Draft = (typeof DRAFTS)[number];

const MAX_COMPILED = 500;
const MAX_VIOLATIONS = 20;

export function createSchemaValidators(): SchemaValidators {
  const compiled = new Map<string, Promise<CompiledSchema>>();
  const ajvs = new Map<Draft, Promise<Ajv>>();
  return {
    compile(schema) {
      const key = JSON.stringify(schema);
      const known = compiled.get(key);
      if (known !== undefined) return known;
      if (compiled.size >= MAX_COMPILED) {
        // ajv holds on to what it compiled, so it goes together with our own map.
        compiled.clear();
        ajvs.clear();
      }
      const fresh = compileSchema(schema, ajvs);
      compiled.set(key, fresh);
      return fresh;
    },
  };
}

/** Nothing is fetched: a reference to another document is an error. */
async function compileSchema(schema: JsonObject, ajvs: Map<Draft, Promise<Ajv>>): Promise<CompiledSchema> {
  const draft = draftOf(schema);
  if (draft === undefined)
    return { ok: false, message: `the draft ${JSON.stringify(schema["$schema"])} is not supported` };
  if (schema["$async"] === true) return { ok: false, message: "`$async` is not supported" };
  const ajv = await chooseAjv(schema, draft, ajvs);
  try {
    const validate = ajv.compile(toDoubles(schema));
    const isExact = hasBigInt(schema);
    let exact: ((value: Json) => readonly ErrorObject[]) | undefined;
    const validateExactly = (value: Json) => {
      exact ??= compileExactSchema<ErrorObject>(schema, withContext(ajv));
      return exact(value).slice(0, MAX_VIOLATIONS).map(toViolation);
    };
    return {
      ok: true,
      validate: (value) => (isExact || hasBigInt(value) ? validateExactly(value) : findViolations(validate, value)),
    };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** One for all, since a new one costs milliseconds; but schemas with ids of their own must never see each other. */
function chooseAjv(schema: JsonObject, draft: Draft, ajvs: Map<Draft, Promise<Ajv>>): Promise<Ajv> {
  if (JSON.stringify(schema).includes('"$id"')) return loadAjv(draft);
  const shared = ajvs.get(draft) ?? loadAjv(draft);
  ajvs.set(draft, shared);
  return shared;
}

/** Loaded when first needed: most commands never validate an answer. */
async function loadAjv(draft: Draft): Promise<Ajv> {
  const options = { allErrors: true, strict: false, logger: false } as const;
  const { default: formats } = await import("ajv-formats");
  if (draft === "draft-07") return formats.default(new (await import("ajv")).Ajv(options));
  return formats.default(new (await import("ajv/dist/2020.js")).Ajv2020(options));
}

/** Another of the same draft, for `compileExactSchema`. The schema has been checked. */
function withContext(ajv: Ajv): Ajv {
  const Compiler = ajv.constructor as new (options: object) => Ajv;
  return new Compiler({ ...ajv.opts, formats: ajv.formats, passContext: true, validateSchema: false });
}

function draftOf(schema: JsonObject): Draft | undefined {
  const written = schema["$schema"];
  if (written === undefined) return "draft-07";
  return DRAFTS.find((draft) => isDraft(draft, written));
}

function isDraft(draft: Draft, written: Json): boolean {
  return (
    typeof written === "string" && new RegExp(`^https?://json-schema\\.org/(draft/)?${draft}/schema#?$`).test(written)
  );
}

function findViolations(validate: ValidateFunction, value: Json): readonly SchemaViolation[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).slice(0, MAX_VIOLATIONS).map(toViolation);
}

function toViolation(error: ErrorObject): SchemaViolation {
  const named: unknown = error.params["additionalProperty"] ?? error.params["allowedValues"];
  const message = error.message ?? `fails ${error.keyword}`;
  return { path: error.instancePath, message: named === undefined ? message : `${message}: ${JSON.stringify(named)}` };
}
