import type { Json } from "../json.ts";

/**
 * An expression as a tree. Dialects parse their own syntax into it; the core only evaluates.
 * A path that leads nowhere is `undefined`, never an error; only own properties are read.
 */
export type Expr =
  | { readonly op: "literal"; readonly value: Json }
  | PathExpr
  | TextExpr
  | { readonly op: "object"; readonly entries: { readonly [name: string]: Expr } }
  | { readonly op: "list"; readonly items: readonly Expr[] }
  | { readonly op: "not"; readonly of: Expr }
  | { readonly op: "and" | "or"; readonly of: readonly Expr[] }
  | { readonly op: "compare"; readonly by: Comparison; readonly left: Expr; readonly right: Expr }
  | { readonly op: "defined"; readonly of: Expr }
  /** Only `true` is true. */
  | { readonly op: "if"; readonly of: Expr; readonly yes: Expr; readonly no: Expr }
  /** The first that is defined. */
  | { readonly op: "first"; readonly of: readonly Expr[] }
  /** `readsJson` as in a path. */
  | { readonly op: "index"; readonly of: Expr; readonly at: Expr; readonly readsJson?: boolean }
  | { readonly op: "call"; readonly fn: FunctionName; readonly args: readonly Expr[] }
  /** `body` sees each element as the local `as`. */
  | { readonly op: "map" | "filter"; readonly list: Expr; readonly as: string; readonly body: Expr }
  /** `body` sees each element, and as `into` what it has given for the one before; before the first one that is `first`. */
  | {
      readonly op: "reduce";
      readonly list: Expr;
      readonly as: string;
      readonly into: string;
      readonly first: Expr;
      readonly body: Expr;
    }
  /** Placed by `liftControls`: a value that was projected when `step`'s output arrived. `step` "" is the run's input. */
  | KnownExpr;

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

export interface PathExpr {
  readonly op: "path";
  readonly root: Root;
  /** `steps`: the step; `item`: the fan-out step, absent for the nearest; `vars`, `local`, `env`: the name. */
  readonly name?: string;
  readonly path: readonly (string | number)[];
  /** A string on the way that holds a JSON object or list is read as JSON. */
  readonly readsJson?: boolean;
}

/**
 * input: of the run or call · steps: output of a step · output: of the step just run · failure: how the step just run has
 * failed, for `assign`; undefined if it has not · error: what a `catch` handles ·
 * done: whether the step named has succeeded, or the one whose `catch` or `finally` this is ·
 * item, index: of the fan-out · vars: scope variables · run: id, date, startedAt, workflow, now (the time of its latest event), place (the run and the visit of a step) · storage: a stored file ·
 * env: an allowed variable · local: of map and filter.
 */
type Root =
  | "input"
  | "steps"
  | "output"
  | "failure"
  | "done"
  | "error"
  | "item"
  | "index"
  | "vars"
  | "run"
  | "storage"
  | "env"
  | "local";

/** Text with values put in once. What is put in is never expanded again. */
interface TextExpr {
  readonly op: "text";
  readonly parts: readonly TextPart[];
}

export type TextPart =
  | string
  /** `written` stays in the text where the value is undefined. */
  | { readonly value: Expr; readonly written: string };

export interface KnownExpr {
  readonly op: "known";
  readonly step: string;
  readonly key: string;
  /** Take the item's own entry of a projected column. */
  readonly column?: boolean;
  /** The path named one instance of a fan-out by its index. */
  readonly at?: number;
  /** The value if the step was skipped (`ifNull`), or has not run (`ifMissing`). */
  readonly ifNull?: Json;
  readonly ifMissing?: Json;
}

/** Of numbers, texts, lists and objects. */
export type CollectionFunction =
  | "add"
  | "multiply"
  | "divide"
  | "remainder"
  | "negate"
  | "abs"
  | "round"
  | "floor"
  | "ceil"
  | "sum"
  | "min"
  | "max"
  | "sort"
  | "sortBy"
  | "groupBy"
  | "unique"
  | "toObject"
  | "some"
  | "every"
  | "flatten"
  | "reverse"
  | "firstOf"
  | "lastOf"
  | "slice"
  | "range"
  | "zip"
  | "indexOf"
  | "values"
  | "entries"
  | "pick"
  | "omit"
  | "replace"
  | "startsWith"
  | "endsWith"
  | "padStart"
  | "padEnd"
  | "addTime"
  | "timeBetween"
  /** A time or a number by a pattern. */
  | "format"
  | "hash"
  | "base64"
  | "fromBase64"
  /** Of a text that names the place: the same for each visit of a step. */
  | "uuid";

export type FunctionName =
  | CollectionFunction
  | "length"
  /** How many items a fan-out over the value has: null 0, a list its length, anything else -1. */
  | "itemCount"
  /** A value that is no list as a list of one. */
  | "asList"
  | "contains"
  | "keys"
  | "coalesce"
  | "toNumber"
  | "toString"
  | "parseJson"
  | "toJson"
  | "lower"
  | "upper"
  | "trim"
  | "split"
  | "join"
  /** Lists one after the other; what is no list counts as one element, null and undefined as none. */
  | "concat"
  /** The entries of all objects, later ones first in line; of one list, of its elements. */
  | "merge"
  /** A list of lists of objects and the name of a field: one object per value of the field, in the order of their first. */
  | "mergeBy"
  /** Seconds, or a text such as `90s`, `5m`, `1h30m`, `2d`, in milliseconds. */
  | "toMilliseconds"
  /** The value as a text, written so that a regular expression finds exactly that text. */
  | "escapeRegex"
  /** A text with every backslash doubled, so that a reader of escapes reads the text as it is. */
  | "escapeBackslashes"
  | "matches";

/** Whether the pattern is found in the text. `pay` is told first of the work, in looks at a part of an expression, and may throw. */
export type Matches = (text: string, pattern: string, pay: (looks: number) => void) => boolean;

/** Resolves the names of an expression. */
export interface Scope {
  path(expr: PathExpr): Json | undefined;
  known?(expr: KnownExpr): Json | undefined;
  /** Linear-time regular expressions are the host's; without them `matches` is undefined. */
  matches?: Matches;
  /** Like `parseJson`, with a cache. */
  parse?(text: string): Json | undefined;
  /** Told of what a text, a name or a comparison was to have, and leads nowhere (in a text: or to null), as it is written. */
  noteMissing?(written: string): void;
}

/** The longest text that an expression makes: far more than a value may have, far less than the engine can hold. */
export const MAX_TEXT_CHARS = 64 * 1024 * 1024;

/** The longest list that an expression makes: as many elements as 16 MiB of JSON can have. */
export const MAX_LIST_ITEMS = 8 * 1024 * 1024;

/** How much one evaluation may do, in looks at a part of the expression; about a quarter of a second. */
export const MAX_WORK = 3_000_000;

/** A regular expression as it is written, and as the program that it becomes. */
export const MAX_PATTERN_CHARS = 1_000;
export const MAX_PATTERN_SIZE = 10_000;

export function literalOf(expr: Expr | undefined): Json | undefined {
  return expr?.op === "literal" ? expr.value : undefined;
}
