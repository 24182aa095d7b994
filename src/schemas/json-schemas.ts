import { BoundedMap } from "../core/bounded-map.ts";
import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import { writeExact } from "../core/exact-json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isDeeperThan } from "../core/json-depth.ts";
import { DeadlineThreads } from "./deadline-threads.ts";
import type { SchemaFault } from "./find-heavy-part.ts";
import { type Check, type Draft, SchemaCompiler, type SchemaUse, type SchemaViolation } from "./schema-compiler.ts";
import { estimateCost, isCheap, isSmall, type SchemaCost } from "./schema-cost.ts";
import type { SchemaAnswer, SchemaJob } from "./thread-main.ts";

export type CompiledSchema =
  | { readonly ok: true; readonly validate: Validate }
  | { readonly ok: false; readonly message: string };

/** Empty: the value fits. Rejects with `SCHEMA_TOO_COSTLY`. */
export type Validate = (value: Json) => Promise<readonly SchemaViolation[]>;

/** A schema as it was found, before anything is compiled. */
interface ReadSchema {
  /** JSON without `$schema`. */
  readonly text: string;
  readonly use: SchemaUse;
  /** Why it is not compiled. */
  readonly fault: string | undefined;
  /** Absent: it is a thread's to compile and to check. */
  readonly cost: SchemaCost | undefined;
  /** Compiled here. */
  check?: Promise<Check>;
  compiled?: Promise<CompiledSchema>;
}

const MAX_KEPT = 500;
const MAX_CHARS = 1_000_000;
const MAX_DEPTH = 200;

/**
 * Users' JSON Schemas: draft-07, or 2020-12 where `$schema` says so. What takes milliseconds is done at once; whatever may
 * take longer is done by a thread, which is ended after a second.
 */
export class JsonSchemas {
  readonly #compiler = new SchemaCompiler();
  readonly #byText = new BoundedMap<string, ReadSchema>(MAX_KEPT);
  readonly #byObject = new WeakMap<JsonObject, ReadSchema>();

  async findFault(schema: JsonObject): Promise<SchemaFault | undefined> {
    if (draftOf(schema) === undefined) return { message: "Only draft-07 and 2020-12 are known.", path: ["$schema"] };
    const { text, use, fault, cost } = this.#read(schema, false);
    if (fault !== undefined) return { message: `The schema ${fault}.`, path: [] };
    const remote = findRemoteRef(schema);
    if (remote !== undefined)
      return { message: "A `$ref` must stay inside the schema and begin with `#`.", path: remote };
    if (cost !== undefined) return this.#compiler.findFault(text, use);
    try {
      return (await schemaThreads.perform({ kind: "fault", text, use })).fault;
    } catch (error) {
      if (!isPawlError(error)) throw error;
      return { message: `The schema ${TOO_LONG}.`, path: [] };
    }
  }

  /** Why a value does not fit a schema without faults. Rejects with `SCHEMA_TOO_COSTLY`. */
  async explainMismatch(schema: JsonObject, value: Json): Promise<string | undefined> {
    const mismatches = await this.listMismatches(schema, value);
    return mismatches.length === 0
      ? undefined
      : mismatches.map(({ path, message }) => `it${path} ${message}`).join(", ");
  }

  /** In what a value does not fit a schema without faults, up to a bound. Formats do not count. Rejects with `SCHEMA_TOO_COSTLY`. */
  listMismatches(schema: JsonObject, value: Json): Promise<readonly SchemaViolation[]> {
    return this.#check(this.#read(schema, false), value);
  }

  /** A schema of an output or of a tool, whose formats count. Nothing is fetched: a reference to another document is refused. */
  compile(schema: JsonObject): Promise<CompiledSchema> {
    const read = this.#read(schema, true);
    read.compiled ??= this.#findRefusal(schema, read).then((message) =>
      message === undefined ? { ok: true, validate: (value) => this.#check(read, value) } : { ok: false, message },
    );
    return read.compiled;
  }

  async #findRefusal(schema: JsonObject, read: ReadSchema): Promise<string | undefined> {
    if (draftOf(schema) === undefined) return `the draft ${writeExact(schema["$schema"])} is not supported`;
    if (schema["$async"] === true) return "`$async` is not supported";
    const { text, use, fault, cost } = read;
    if (fault !== undefined) return `it ${fault}`;
    try {
      if (cost === undefined) return (await schemaThreads.perform({ kind: "compile", text, use })).refused;
      await this.#compile(read);
      return undefined;
    } catch (error) {
      if (isPawlError(error)) return `it ${TOO_LONG}`;
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #check(read: ReadSchema, value: Json): Promise<readonly SchemaViolation[]> {
    const { text, use, cost } = read;
    if (cost !== undefined && isCheap(cost, value)) return (await this.#compile(read))(value);
    const { violations, refused } = await schemaThreads.perform({ kind: "check", text, use, value });
    return violations ?? [{ path: "", message: `cannot be checked: ${refused}` }];
  }

  #compile(read: ReadSchema): Promise<Check> {
    read.check ??= this.#compiler.compile(read.text, read.use);
    return read.check;
  }

  #read(schema: JsonObject, formats: boolean): ReadSchema {
    const known = this.#byObject.get(schema);
    if (known?.use.formats === formats) return known;
    const text = writeExact(schema);
    const key = `${formats} ${text}`;
    const read = this.#byText.get(key) ?? readSchema(schema, text, formats);
    this.#byText.set(key, read);
    this.#byObject.set(schema, read);
    return read;
  }
}

function readSchema(schema: JsonObject, whole: string, formats: boolean): ReadSchema {
  const { $schema: _, ...rest } = schema;
  const text = "$schema" in schema ? writeExact(rest) : whole;
  const fault = findSizeFault(schema, text);
  const isOurs = fault === undefined && isSmall(rest, text);
  const use = { draft: draftOf(schema) ?? "draft-07", formats } as const;
  return { text, use, fault, cost: isOurs ? estimateCost(rest) : undefined };
}

const TOO_LONG = "takes too long to compile";

function draftOf({ $schema: declared = null }: JsonObject): Draft | undefined {
  if (declared === null) return "draft-07";
  const [, draft] =
    /^https?:\/\/json-schema\.org\/(?:draft\/)?(draft-07|2020-12)\/schema#?$/.exec(String(declared)) ?? [];
  return draft === "draft-07" || draft === "2020-12" ? draft : undefined;
}

function findSizeFault(schema: JsonObject, text: string): string | undefined {
  if (isDeeperThan(schema, MAX_DEPTH)) return `is nested more deeply than ${MAX_DEPTH} levels`;
  return text.length > MAX_CHARS ? `is longer than ${MAX_CHARS} characters` : undefined;
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

/** Throws `SCHEMA_TOO_COSTLY`. A process has these threads once, as it has its event loop once. */
const schemaThreads = new DeadlineThreads<SchemaJob, SchemaAnswer>({
  program: new URL("./thread-main.ts", import.meta.url),
  maxMs: 1_000,
  toError: (cause) =>
    new PawlError("SCHEMA_TOO_COSTLY", {
      message: "A value could not be checked against its JSON Schema in a second of work.",
      cause,
    }),
});
