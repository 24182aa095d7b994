/**
 * The types of a definition in TypeScript. A definition handles values that do not exist yet: references. The types let a
 * reference be passed on, and its fields be named; whatever would need the value itself does not compile.
 */

declare const REFERS: unique symbol;

/** A value of a run that goes on later: an input, an output, an item. */
export interface Ref<out T> {
  readonly [REFERS]: T;
}

/**
 * A reference, with a reference for each of its fields. The `symbol` is there for the compiler alone, which refuses
 * symbols in templates, sums and comparisons.
 */
export type Value<T> = Data<T> | (symbol & Data<T>);

type Data<T> = Ref<T> & Parts<NonNullable<T>, Extract<T, null | undefined>>;

/** `Gap`: a field of what may be missing may be missing. A field `then` would make a promise of the reference. */
type Parts<T, Gap> = [T] extends [readonly (infer Item)[]]
  ? { readonly [index: number]: Value<Item | undefined> }
  : [T] extends [object]
    ? {
        readonly [Key in keyof T as Key extends "then" ? never : Key]-?: Value<
          T[Key] | (Gap extends never ? never : undefined)
        >;
      }
    : unknown;

/** What may stand where a `T` is wanted: the value, a reference to one, or an object or a list with references in it. */
export type Given<T> =
  | Ref<T>
  | (T extends readonly (infer Item)[]
      ? readonly Given<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Given<T[Key]> }
        : T);

/** The value that something with references in it will be. */
export type Plain<T> = T extends Ref<infer Of> ? Of : T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T;

/** `unknown` where `T` can be recorded as JSON; a text, which no function is, where it cannot. */
export type Recorded<T> = [Fault<T>] extends [never] ? unknown : Fault<T>;

type Fault<T, Depth extends readonly 0[] = []> = 0 extends 1 & T
  ? never
  : unknown extends T
    ? never
    : T extends Ref<unknown>
      ? "not JSON: a reference to a value that a run will have; give it to the step as input"
      : T extends string | number | boolean | null | undefined
        ? never
        : T extends bigint | symbol
          ? "not JSON: a bigint or a symbol; return a string"
          : T extends Date
            ? "not JSON: a Date; return date.toISOString()"
            : T extends (...args: never) => unknown
              ? "not JSON: a function, or an object with methods"
              : Depth["length"] extends 4
                ? never
                : T extends readonly (infer Item)[]
                  ? Fault<Item, [...Depth, 0]>
                  : { [Key in keyof T]: Fault<T[Key], [...Depth, 0]> }[keyof T];

/** What a step gives for a function's result. */
// biome-ignore lint/suspicious/noConfusingVoidType: it is what a function without a result gives.
export type Output<T> = [T] extends [void] ? null : T;

/** `unknown` for what a definition may give back at once. */
export type Synchronous<T> =
  T extends PromiseLike<unknown>
    ? "a definition is synchronous: only the functions of its steps may be async"
    : unknown;

/**
 * A schema of any library of the Standard Schema (zod, valibot, arktype) that can say what it takes as JSON Schema; or `jsonSchema`.
 * `In`: what is recorded; `Out`: with its defaults filled in.
 */
export interface Schema<out In, out Out = In> {
  readonly "~standard": {
    readonly vendor: string;
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    readonly jsonSchema?: { input(options: { readonly target: "draft-2020-12" }): { [key: string]: unknown } };
  };
}

/** A duration: `90s`, `5m`, `1h30m`, `2d`, `250ms`. No number, which would be seconds to some and milliseconds to others. */
export type Duration = string;

export interface Retry {
  /** All tries together, the first included. */
  readonly attempts: number;
  /** Default: exponential. */
  readonly backoff?: "fixed" | "linear" | "exponential";
  /** Before the second try. Default: 1 s. */
  readonly delay?: Duration;
  /** Default: 5 min. */
  readonly maxDelay?: Duration;
}

/** What every step may say. */
export interface StepOptions {
  /** Steps that must have ended before, beside those whose output it is given. */
  readonly after?: readonly Ref<unknown>[];
}

/** What a step that does work may say. `F`: what stands in for its output where it fails in the end. `O`: its output. */
export interface WorkOptions<F = never, O = unknown> extends StepOptions {
  /** All tries together, or the whole policy. Default: 1. */
  readonly retry?: number | Retry;
  /** Of one try. */
  readonly timeout?: Duration;
  /** Its output where it has failed for good: a value, or what a flow gives that is told of the error. */
  readonly fallback?: F | Given<NoInfer<O>> | ((error: Value<StepError>) => F | Given<NoInfer<O>>);
  /** Runs after it whatever happened, also on cancel. */
  readonly finally?: () => void;
  /**
   * Takes back what the step has done, where the callback that declares it fails or is cancelled later: such steps run
   * backwards, each once, and one that fails does not stop those before it.
   */
  undo?(output: Value<O>): void;
  /** It is never tried again while its effect is unknown. */
  readonly atMostOnce?: boolean;
  /** In US dollars, over all its tries. */
  readonly maxCost?: number;
}

export interface StepError {
  readonly code: string;
  readonly message: string;
}
