import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import { parseExact, writeExact } from "../core/exact-json.ts";
import { compileExactSchema, findTwins, hasBigInt, toDoubles, toKey } from "../core/exact-schema.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { findHeavyPart, type SchemaFault } from "./find-heavy-part.ts";
import { compilePattern } from "./linear-pattern.ts";

/** What is known of a schema before a value is there. Formats of inputs are not checked. */
export interface SchemaUse {
  readonly draft: Draft;
  readonly formats: boolean;
}

export type Draft = "draft-07" | "2020-12";

/** A part of a value that does not fit. */
export interface SchemaViolation {
  /** JSON pointer into the value; "" is the whole. */
  readonly path: string;
  readonly message: string;
}

/** Empty: the value fits. */
export type Check = (value: Json) => readonly SchemaViolation[];

const MAX_VIOLATIONS = 20;
const MAX_INLINED = 20;

/** Compiles JSON Schemas with Ajv, which is loaded when it is first needed. How long it takes is its caller's concern. */
export class SchemaCompiler {
  readonly #ajvs = new Map<string, Promise<Ajv>>();

  /** `text` is a schema without `$schema`, as JSON. Throws what Ajv throws. */
  async compile(text: string, use: SchemaUse): Promise<Check> {
    const ajv = await this.#ajvFor(use);
    const schema = parseExact(text) as JsonObject;
    const heavy = findHeavyPart(schema);
    if (heavy !== undefined && "message" in heavy) throw new Error(heavy.message);
    const doubles = toDoubles(schema);
    const validate = compileAlone(ajv, doubles);
    const toViolation = use.formats ? describeError : toPlainViolation;
    const isExact = hasBigInt(schema);
    let exact: ((value: Json) => readonly ErrorObject[]) | undefined;
    return (value) => {
      if (!isExact && !hasBigInt(value))
        return validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_VIOLATIONS).map(toViolation);
      exact ??= compileExactSchema<ErrorObject>(schema, withContext(ajv));
      return exact(value).slice(0, MAX_VIOLATIONS).map(toViolation);
    };
  }

  async findFault(text: string, use: SchemaUse): Promise<SchemaFault | undefined> {
    const ajv = await this.#ajvFor(use);
    const schema = toDoubles(parseExact(text) as JsonObject);
    const heavy = findHeavyPart(schema);
    if (heavy !== undefined) return heavy;
    try {
      if (ajv.validateSchema(schema) !== true) return toFault(ajv.errors?.[0]);
      compileAlone(ajv, schema);
      return undefined;
    } catch (error) {
      // Ajv throws on what its meta-schema cannot say: a reference that leads nowhere.
      if (error instanceof RangeError) return { message: "It is too large to be checked.", path: [] };
      return { message: `${error instanceof Error ? error.message : String(error)}.`, path: [] };
    }
  }

  #ajvFor(use: SchemaUse): Promise<Ajv> {
    const key = `${use.draft} ${use.formats}`;
    const ajv = this.#ajvs.get(key) ?? loadAjv(use);
    this.#ajvs.set(key, ajv);
    return ajv;
  }
}

/** Two steps may use the same `$id`, and no schema is kept for good. */
function compileAlone(ajv: Ajv, schema: JsonObject): ValidateFunction {
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema();
  }
}

async function loadAjv({ draft, formats }: SchemaUse): Promise<Ajv> {
  const ajv = await createAjv(draft, formats);
  if (formats) (await import("ajv-formats")).default.default(ajv);
  // Ajv's own compare each item with each other one, and each value with each that is allowed.
  for (const [keyword, compile] of Object.entries({ uniqueItems: compileUnique, enum: compileEnum }))
    ajv.removeKeyword(keyword).addKeyword({ keyword, errors: true, compile });
  return ajv;
}

interface KeywordCheck {
  (value: Json): boolean;
  errors?: object[];
}

function compileUnique(isAsked: unknown): KeywordCheck {
  const judge: KeywordCheck = (items) => {
    const flaw = isAsked === true && Array.isArray(items) ? findTwins(items) : undefined;
    if (flaw !== undefined) judge.errors = [flaw];
    return flaw === undefined;
  };
  return judge;
}

function compileEnum(allowedValues: readonly Json[]): KeywordCheck {
  const keys = new Set(allowedValues.map(toKey));
  const judge: KeywordCheck = (value) => {
    const fits = keys.has(toKey(value));
    if (!fits) judge.errors = [{ message: "must be equal to one of the allowed values", params: { allowedValues } }];
    return fits;
  };
  return judge;
}

async function createAjv(draft: Draft, validateFormats: boolean): Promise<Ajv> {
  const options: Options = {
    allErrors: true,
    strict: false,
    // `constructor` is a name like any other.
    ownProperties: true,
    // The code of what is referred to often is not written out each time.
    inlineRefs: MAX_INLINED,
    logger: false,
    validateFormats,
    // Optimizing takes longer than what it saves.
    code: { optimize: false, regExp: Object.assign(compilePattern, { code: "compilePattern" }) },
  };
  if (draft === "draft-07") return new (await import("ajv")).Ajv(options);
  return new (await import("ajv/dist/2020.js")).Ajv2020(options);
}

/** Another of the same draft, for `compileExactSchema`. The schema has been checked. */
function withContext(ajv: Ajv): Ajv {
  const Compiler = ajv.constructor as new (options: object) => Ajv;
  return new Compiler({ ...ajv.opts, formats: ajv.formats, passContext: true, validateSchema: false });
}

function toPlainViolation({ instancePath, message, keyword }: ErrorObject): SchemaViolation {
  return { path: instancePath, message: message ?? `fails ${keyword}` };
}

function describeError(error: ErrorObject): SchemaViolation {
  const named: unknown = error.params["additionalProperty"] ?? error.params["allowedValues"];
  const { path, message } = toPlainViolation(error);
  return { path, message: named === undefined ? message : `${message}: ${writeExact(named)}` };
}

function toFault(error: ErrorObject | null | undefined): SchemaFault {
  const path = (error?.instancePath ?? "").split("/").slice(1).map(unescapePointer);
  const allowed: unknown = error?.params["allowedValues"];
  return {
    path,
    rule: error?.message ?? "is not valid",
    allowed: Array.isArray(allowed) ? allowed.map(String) : undefined,
  };
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
