import type { Ajv, ErrorObject } from "ajv";
import { compileExactSchema, hasBigInt, toDoubles } from "../core/exact-schema.ts";
import { readPath } from "../core/expressions/read-path.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { didYouMean } from "./did-you-mean.ts";
import { toExcerpt } from "./source/printable.ts";

export interface SchemaFault {
  readonly message: string;
  /** Keys and indices that lead to the faulty part. */
  readonly path: readonly string[];
}

/** A part of a value that does not fit, as a JSON pointer (empty: the value itself), and the reason. */
export interface Mismatch {
  readonly path: string;
  readonly message: string;
}

const MAX_MISMATCHES = 20;

/** Tells whether users' JSON Schemas (draft-07, or 2020-12 where `$schema` says so) can be used. Loads Ajv when first asked. */
export class JsonSchemaChecker {
  readonly #compilers = new Map<Draft, Promise<Ajv>>();
  /** Compiled schemas by schema: those that are used often are compiled once. */
  readonly #validators = new WeakMap<JsonObject, Promise<Check>>();

  async findFault(schema: JsonObject): Promise<SchemaFault | undefined> {
    const draft = draftOf(schema["$schema"]);
    if (draft === undefined) return { message: "Only draft-07 and 2020-12 are known.", path: ["$schema"] };
    const remote = findRemoteRef(schema);
    if (remote !== undefined)
      return { message: "A `$ref` must stay inside the schema and begin with `#`.", path: remote };
    const { $schema: _, ...rest } = schema;
    return findFaultWith(await this.#compilerFor(draft), rest);
  }

  /** Why a value does not fit a schema without faults. */
  async explainMismatch(schema: JsonObject, value: Json): Promise<string | undefined> {
    const ajv = await this.#compilerFor(draftOf(schema["$schema"]) ?? "draft-07");
    const { $schema: _, ...rest } = schema;
    const errors = checkerOf(rest, ajv)(value);
    return errors.length === 0 ? undefined : ajv.errorsText([...errors], { dataVar: "it" });
  }

  /** Everything in which a value does not fit a schema without faults, up to a bound. Empty: it fits. */
  async listMismatches(schema: JsonObject, value: Json): Promise<readonly Mismatch[]> {
    const compiling = this.#validators.get(schema) ?? compileForAll(schema);
    this.#validators.set(schema, compiling);
    const check = await compiling;
    return check(value)
      .slice(0, MAX_MISMATCHES)
      .map(({ instancePath, message }) => {
        return { path: instancePath, message: message ?? "does not fit" };
      });
  }

  #compilerFor(draft: Draft): Promise<Ajv> {
    const compiler = this.#compilers.get(draft) ?? loadCompiler(draft);
    this.#compilers.set(draft, compiler);
    return compiler;
  }
}

type Draft = "draft-07" | "2020-12";

function draftOf(declared: Json | undefined): Draft | undefined {
  if (declared === undefined || declared === null) return "draft-07";
  if (typeof declared !== "string") return undefined;
  return /^https?:\/\/json-schema\.org\/(draft-07|draft\/2020-12)\/schema#?$/.test(declared)
    ? declared.includes("2020-12")
      ? "2020-12"
      : "draft-07"
    : undefined;
}

/** Why a value does not fit; empty: it fits. */
type Check = (value: Json) => readonly ErrorObject[];

function checkerOf(schema: JsonObject, ajv: Ajv): Check {
  const validate = ajv.compile(toDoubles(schema));
  const isExact = hasBigInt(schema);
  let exact: Check | undefined;
  return (value) => {
    if (!isExact && !hasBigInt(value)) return validate(value) ? [] : (validate.errors ?? []);
    const Compiler = ajv.constructor as new (options: object) => Ajv;
    exact ??= compileExactSchema<ErrorObject>(
      schema,
      new Compiler({ ...ajv.opts, passContext: true, validateSchema: false }),
    );
    return exact(value);
  };
}

async function compileForAll(schema: JsonObject): Promise<Check> {
  const { $schema, ...rest } = schema;
  // It was checked when its definition was read; to compile the meta-schema for it again takes ten times as long as itself.
  const ajv = await loadCompiler(draftOf($schema) ?? "draft-07", { allErrors: true, validateSchema: false });
  return checkerOf(rest, ajv);
}

async function loadCompiler(
  draft: Draft,
  more: { readonly allErrors?: true; readonly validateSchema?: false } = {},
): Promise<Ajv> {
  // `addUsedSchema`: two steps may use the same `$id`. `ownProperties`: `constructor` is a name like any other.
  const options = {
    strict: false,
    ownProperties: true,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
    ...more,
  } as const;
  if (draft === "draft-07") return new (await import("ajv")).Ajv(options);
  return new (await import("ajv/dist/2020.js")).Ajv2020(options);
}

function findRemoteRef(schema: Json, path: readonly string[] = []): readonly string[] | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  for (const [key, value] of Object.entries(schema)) {
    const isRef = key === "$ref" || key === "$dynamicRef";
    if (isRef && typeof value === "string" && !value.startsWith("#")) return [...path, key];
    const found = findRemoteRef(value, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findFaultWith(ajv: Ajv, exactSchema: JsonObject): SchemaFault | undefined {
  const schema = toDoubles(exactSchema);
  try {
    if (ajv.validateSchema(schema) !== true) return toFault(ajv.errors?.[0], schema);
    ajv.compile(schema);
    return undefined;
  } catch (error) {
    // Ajv throws on what its meta-schema cannot say: a reference that leads nowhere, a bad regular expression.
    if (error instanceof RangeError) return { message: "It is too large to be checked.", path: [] };
    return { message: `${error instanceof Error ? error.message : String(error)}.`, path: [] };
  }
}

function toFault(error: ErrorObject | undefined, schema: JsonObject): SchemaFault {
  const path = (error?.instancePath ?? "").split("/").slice(1).map(unescapePointer);
  const allowed: unknown = error?.params["allowedValues"];
  const name = path.at(-1);
  const subject = name === undefined ? "It" : `\`${toExcerpt(name)}\``;
  if (!Array.isArray(allowed)) return { message: `${subject} ${error?.message ?? "is not valid"}.`, path };
  const written = readPath(schema, path);
  const meant = typeof written === "string" ? didYouMean(written, allowed.map(String)) : undefined;
  const hint = meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
  return { message: `${subject} must be one of ${allowed.join(", ")}.${hint}`, path };
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}
