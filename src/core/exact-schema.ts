import { writeExact } from "./exact-json.ts";
import { isEqual } from "./expressions/equality.ts";
import { isJsonObject, isNumber, type Json, type JsonObject } from "./json.ts";

/** What is needed of Ajv, which knows no bigint. The compiler passes `this` on to its keywords (`passContext`). */
export interface SchemaCompiler<E> {
  compile(schema: object): SchemaCheck<E>;
  removeKeyword(keyword: string): unknown;
  addKeyword(definition: {
    readonly keyword: string;
    readonly errors: true;
    compile(schema: unknown, parent: object): KeywordCheck;
  }): unknown;
}

/** Tells whether a value fits; what does not is in `errors` then. */
interface SchemaCheck<E> {
  (this: unknown, value: Json): unknown;
  errors?: readonly E[] | null;
}

interface KeywordCheck {
  (this: unknown, data: unknown, context?: Place): boolean;
  errors?: Flaw[];
}

interface Flaw {
  readonly message: string;
  readonly params: { readonly [name: string]: unknown };
}

interface Place {
  readonly parentData?: unknown;
  readonly parentDataProperty?: string | number;
}

/**
 * A check of values that may have integers beyond 2^53 in them, or of a schema that has. Ajv sees a copy with doubles; the
 * keywords that compare numbers look up the exact ones. Throws what Ajv throws. `compiler` is used for nothing else.
 */
export function compileExactSchema<E>(schema: JsonObject, compiler: SchemaCompiler<E>): (value: Json) => readonly E[] {
  const exactSchemas = new DoubleCopy();
  const copy = exactSchemas.of(schema) as object;
  for (const [keyword, check] of Object.entries(KEYWORDS)) {
    compiler.removeKeyword(keyword);
    compiler.addKeyword({
      keyword,
      errors: true,
      compile: (written, parent) => toKeywordCheck(check, exactSchemas.limitOf(parent, keyword, written as Json)),
    });
  }
  const validate = compiler.compile(copy);
  return (value) => {
    const exact = new DoubleCopy();
    return validate.call(exact, exact.of(value)) === true ? [] : (validate.errors ?? []);
  };
}

/** A copy of a schema that Ajv's own keywords understand. Its bounds are rounded. */
export function toDoubles(schema: JsonObject): JsonObject {
  return hasBigInt(schema) ? (new DoubleCopy().of(schema) as JsonObject) : schema;
}

/** Whether an integer is in it that Ajv does not know. */
export function hasBigInt(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasBigInt);
  return isJsonObject(value) ? Object.values(value).some(hasBigInt) : typeof value === "bigint";
}

/** A copy with doubles in place of bigints, and the way back. */
class DoubleCopy {
  readonly #originals = new WeakMap<object, Json>();
  #root: Json = null;

  of(value: Json): Json {
    this.#root = value;
    return this.#copy(value);
  }

  limitOf(schema: object, keyword: string, copied: Json): Json {
    const original = this.#originals.get(schema);
    return isJsonObject(original) ? (original[keyword] ?? copied) : copied;
  }

  exactOf(data: Json, { parentData, parentDataProperty }: Place): Json {
    if (data !== null && typeof data === "object") return this.#originals.get(data) ?? data;
    if (typeof data !== "number") return data;
    if (parentData === null || typeof parentData !== "object") return this.#root;
    const parent = this.#originals.get(parentData) as JsonObject | undefined;
    return parent?.[String(parentDataProperty)] ?? data;
  }

  #copy(value: Json): Json {
    if (typeof value === "bigint") return Number(value);
    if (value === null || typeof value !== "object") return value;
    const copy = Array.isArray(value)
      ? value.map((item: Json) => this.#copy(item))
      : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#copy(item)]));
    this.#originals.set(copy, value);
    return copy;
  }
}

/** Undefined: it fits. */
type Check = (value: Json, limit: Json) => Flaw | undefined;

const KEYWORDS: Readonly<Record<string, Check>> = {
  enum: (value, allowed) =>
    Array.isArray(allowed) && !allowed.some((each: Json) => isEqual(each, value))
      ? { message: "must be equal to one of the allowed values", params: { allowedValues: allowed } }
      : undefined,
  const: (value, allowedValue) =>
    isEqual(value, allowedValue) ? undefined : { message: "must be equal to constant", params: { allowedValue } },
  minimum: bound(">=", (value, limit) => value >= limit),
  maximum: bound("<=", (value, limit) => value <= limit),
  exclusiveMinimum: bound(">", (value, limit) => value > limit),
  exclusiveMaximum: bound("<", (value, limit) => value < limit),
  multipleOf: (value, multipleOf) =>
    isNumber(value) && isNumber(multipleOf) && !isMultipleOf(value, multipleOf)
      ? { message: `must be multiple of ${multipleOf}`, params: { multipleOf } }
      : undefined,
  uniqueItems: (value, isAsked) => (isAsked === true && Array.isArray(value) ? findTwins(value) : undefined),
};

function bound(comparison: string, fits: (value: number | bigint, limit: number | bigint) => boolean): Check {
  return (value, limit) =>
    isNumber(value) && isNumber(limit) && !fits(value, limit)
      ? { message: `must be ${comparison} ${limit}`, params: { comparison, limit } }
      : undefined;
}

function isMultipleOf(value: number | bigint, step: number | bigint): boolean {
  if (typeof value === "number" && typeof step === "number") return Number.isInteger(value / step);
  // Both times a power of ten that makes them whole.
  let power = 0;
  while (power < 20 && !(isWhole(value, power) && isWhole(step, power))) power += 1;
  const whole = scale(step, power);
  return whole !== 0n && isWhole(value, power) && scale(value, power) % whole === 0n;
}

function isWhole(value: number | bigint, power: number): boolean {
  return typeof value === "bigint" || Number.isInteger(value * 10 ** power);
}

function scale(value: number | bigint, power: number): bigint {
  return typeof value === "bigint" ? value * 10n ** BigInt(power) : BigInt(Math.round(value * 10 ** power));
}

/** Two items that are equal. Its time is linear. */
export function findTwins(items: readonly Json[]): Flaw | undefined {
  const seen = new Map<string, number>();
  for (const [i, item] of items.entries()) {
    const key = toKey(item);
    const j = seen.get(key);
    seen.set(key, i);
    if (j !== undefined)
      return { message: `must NOT have duplicate items (items ## ${j} and ${i} are identical)`, params: { i, j } };
  }
  return undefined;
}

/** Equal for equal values. */
export function toKey(value: Json): string {
  if (isNumber(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(toKey).join()}]`;
  if (!isJsonObject(value)) return writeExact(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${writeExact(name)}:${toKey(value[name] ?? null)}`).join()}}`;
}

function toKeywordCheck(check: Check, limit: Json): KeywordCheck {
  const judge: KeywordCheck = function (data, place = {}) {
    // The meta-schema is checked with the same keywords, and has no copy.
    const value = this instanceof DoubleCopy ? this.exactOf(data as Json, place) : (data as Json);
    const flaw = check(value, limit);
    if (flaw !== undefined) judge.errors = [flaw];
    return flaw === undefined;
  };
  return judge;
}
