import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isNumber, type JsonObject } from "../../core/json.ts";
import type { Finding, ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range, SourceText } from "../source/source-text.ts";
import {
  describeNode,
  findBracesKey,
  isNull,
  READ_AS_MAP,
  type YamlNode,
  type YamlScalar,
} from "../source/yaml-node.ts";

/**
 * A description of the values that may stand at a place of a definition. One shape reads the place to a typed value and reports what does not fit,
 * describes it to editors as a JSON Schema, and names it in the tables of the docs.
 */
export interface Shape<T> {
  /** In messages: `a text`, `a map`. */
  readonly expected: string;
  /** Undefined: it does not fit, which has been reported. */
  read(node: YamlNode, spot: Spot, reader: Reader): T | undefined;
  /** Accepts exactly what `read` takes without a call of `reader.refuse`. */
  toSchema(writer: SchemaWriter): JsonObject;
  /** Kinds of node that fit, for a choice between shapes. */
  readonly kinds: readonly NodeKind[];
  /** Shapes inside, so that the docs can list their keys. */
  readonly parts?: readonly Shape<unknown>[];
}

export type NodeKind = "text" | "number" | "flag" | "list" | "map" | "null";

export type ReadOf<S> = S extends Shape<infer T> ? T : never;

/** The place of a value, for messages about it. */
export interface Spot {
  /** `timeout` in backticks, or `An entry of ...`. */
  readonly name: string;
  /** Keys and indices from the top, empty there. */
  readonly path: string;
  /** The key before it. Absent at the top and in lists. */
  readonly key?: Range;
}

/** The path of a part of what stands at a spot. */
export function pathTo({ path }: Spot, key: string | number): string {
  return path === "" ? toExcerpt(String(key)) : `${path}.${toExcerpt(String(key))}`;
}

export const TOP: Spot = { name: "The definition", path: "" };

export function kindOf(node: YamlNode): NodeKind {
  if (node.kind !== "scalar") return node.kind;
  if (node.value === null) return "null";
  return typeof node.value === "string" ? "text" : isNumber(node.value) ? "number" : "flag";
}

/** The same places, read to another value. `convert` may report what a JSON Schema cannot say. */
export function to<T, U>(shape: Shape<T>, convert: (value: T, reader: Reader, spot: Spot) => U | undefined): Shape<U> {
  return {
    ...shape,
    read(node, spot, reader) {
      const value = shape.read(node, spot, reader);
      return value === undefined ? undefined : convert(value, reader, spot);
    },
  };
}

/** The same, once in the JSON Schema. */
export function named<T>(name: string, shape: Shape<T>): Shape<T> {
  return { ...shape, toSchema: (writer) => writer.define(name, () => shape.toSchema(writer)) };
}

/** A map that few files have: it is described when one is met. */
export function seldom<T>(describe: () => Shape<T>): Shape<T> {
  let known: Shape<T> | undefined;
  const described = () => {
    known ??= describe();
    return known;
  };
  return {
    expected: "a map",
    kinds: ["map"],
    get parts() {
      return [described()];
    },
    read: (...at) => described().read(...at),
    toSchema: (writer) => described().toSchema(writer),
  };
}

/** Collects the definitions of a JSON Schema while shapes describe themselves. */
export interface SchemaWriter {
  readonly rules: DialectRules;
  /** A reference to a part that stands once in the schema. `write` may refer to it again. */
  define(name: string, write: () => JsonObject): JsonObject;
  /** The schema of a key that need not be there. */
  optional(schema: JsonObject): JsonObject;
  /** That a key is there, with a value. */
  has(key: string): JsonObject;
}

/** A text with the place where it is written. */
export interface Text {
  readonly value: string;
  readonly at: YamlScalar;
}

/** In what dialects differ wherever they are read. */
export interface DialectRules {
  readonly unknownKeys: "warning" | "error";
  /** A key without a value: as if it were not there, or a mistake. */
  readonly nulls: "absent" | "refused";
  /**
   * `strict`: as in JSON. `yaml`: numbers count as the text that was written, and `yes`, `no`, `on`, `off` as flags.
   * `loose`: besides, numbers and flags may be written as texts.
   */
  readonly scalars: "strict" | "yaml" | "loose";
}

/** Parts that another parser checks afterwards, which is loaded only where there is one. */
export type Later =
  | { readonly kind: "schema"; readonly key: string; readonly at: YamlNode; readonly schema: JsonObject }
  | { readonly kind: "cron" | "regex" | "prompt"; readonly text: Text };

interface ReaderParts {
  readonly problems: ProblemList;
  readonly rules: DialectRules;
  /** Names of environment variables that texts may read. */
  readonly envAllowed?: ReadonlySet<string>;
}

/** Goes through a definition with the shapes, and collects what they find. */
export class Reader {
  readonly source: SourceText;
  readonly problems: ProblemList;
  readonly rules: DialectRules;
  readonly envAllowed: ReadonlySet<string>;
  readonly later: Later[];
  /** Places of a wrong shape, so that nothing need be said about their consequences. */
  readonly faulty: Range[];
  readonly #parts: ReaderParts;
  readonly #opening: string | undefined;

  constructor(parts: ReaderParts, outer?: { readonly of: Reader; readonly opening: string | undefined }) {
    this.#parts = parts;
    this.source = parts.problems.source;
    this.problems = parts.problems;
    this.rules = parts.rules;
    this.envAllowed = parts.envAllowed ?? new Set();
    this.later = outer?.of.later ?? [];
    this.faulty = outer?.of.faulty ?? [];
    this.#opening = outer?.opening;
  }

  /** The same reader, whose complaints of wrong values begin with `opening`. Undefined: with the key, as usual. */
  within(opening: string | undefined): Reader {
    return new Reader(this.#parts, { of: this, opening });
  }

  /** Reports an error of shape: one that the JSON Schema finds as well. */
  refuse(finding: Finding): undefined {
    this.faulty.push(finding.at);
    this.problems.error(finding);
  }

  /** A key without a value, where that is no mistake. */
  isAbsent(node: YamlNode): boolean {
    return this.rules.nulls === "absent" && isNull(node);
  }

  wrongType(node: YamlNode, { name }: Spot, { expected, kinds }: Expectation): undefined {
    if (findBracesKey(node) !== undefined && kinds.includes("text"))
      return this.refuse({ code: "UNQUOTED_BRACES", at: node, message: READ_AS_MAP });
    if (isNull(node) && this.rules.nulls === "refused") {
      const message = `${name} has no value.`;
      return this.refuse({ code: "WRONG_TYPE", at: node, message, remedy: "Add one, or remove the key." });
    }
    const message = `${name} must be ${expected}, not ${describeNode(node)}.`;
    return this.#refuseValue("WRONG_TYPE", node, { message, remedy: `Write ${expected}.` });
  }

  /** The type is right and the value is not. */
  invalid(node: YamlNode, message: string, remedy?: string): undefined {
    return this.#refuseValue("VALUE_INVALID", node, { message, remedy });
  }

  /** Likewise, of a value that no JSON Schema could tell from a right one. */
  invalidBeyondSchema(node: YamlNode, message: string, remedy?: string): undefined {
    this.problems.error(this.#toFinding("VALUE_INVALID", node, { message, remedy }));
  }

  #refuseValue(code: ErrorCode, at: Range, texts: Texts): undefined {
    return this.refuse(this.#toFinding(code, at, texts));
  }

  #toFinding(code: ErrorCode, at: Range, { message, remedy }: Texts): Finding {
    if (this.#opening === undefined) return { code, at, message, remedy };
    const rest = message.replace(/^An? /, (article) => article.toLowerCase());
    return { code: "WRONG_TYPE", at, message: `${this.#opening}: ${rest}` };
  }
}

type Expectation = Pick<Shape<unknown>, "expected" | "kinds">;

interface Texts {
  readonly message: string;
  readonly remedy?: string | undefined;
}
