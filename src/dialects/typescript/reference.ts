import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import { literal } from "../build-expr.ts";
import type { Scope } from "./open-definition.ts";
import { placeOfCaller } from "./place.ts";
import type { Value } from "./types.ts";

/** What a reference stands for. */
export interface Referred {
  readonly expr: Expr;
  /** What must be known before it: steps of scopes, and the scopes whose item it reads. */
  readonly needs: readonly Need[];
}

export interface Need {
  readonly scope: Scope;
  /** Absent: the scope itself, whose item or error it is. */
  readonly step?: string;
}

/** The same in every copy of this module, so that one reads the references of another. */
const REFERRED = Symbol.for("pawl.reference/1");

/** What a reference stands for. Undefined: the value is none. */
export function referredBy(value: unknown): Referred | undefined {
  if (typeof value !== "function" || !(REFERRED in value)) return undefined;
  return (value as { readonly [REFERRED]: Referred })[REFERRED];
}

/** The types say of it what the value will have; what stands here is a proxy that knows its path. */
export function makeReference<T>(referred: Referred): Value<T> {
  referred.needs[0]?.scope.definition.running?.noteReference();
  // Of a function, so that a call of what it has not, such as `page.trim()`, comes here too.
  return new Proxy(() => undefined, handlerOf(referred)) as unknown as Value<T>;
}

/** The field of a reference that has a name which its type does not show, such as `then`. */
export function fieldOf({ expr, needs }: Referred, key: string | number): Referred {
  const extended: Expr =
    expr.op === "path" ? { ...expr, path: [...expr.path, key] } : { op: "index", of: expr, at: literal(key) };
  return { expr: extended, needs };
}

function handlerOf(referred: Referred): ProxyHandler<object> {
  const definition = referred.needs[0]?.scope.definition;
  const misused = (how: string) => (): never => {
    throw misuse(how);
  };
  return {
    get(_, key) {
      if (key === REFERRED) return referred;
      if (definition?.isSealed === true)
        throw new PawlError("REFERENCE_IN_STEP", {
          message: `A function of a step reads a reference of its definition${placeOfCaller().words}.`,
        });
      if (key === "then") {
        // An await or Promise.all reads it. Throwing here would be an unhandled rejection, so that the definition throws when it has ended.
        if (definition !== undefined) definition.fault ??= misuse("awaited");
        return undefined;
      }
      if (key === "toJSON") throw misuse("written as JSON");
      if (typeof key === "symbol") {
        if (key === Symbol.toPrimitive) return misused("used as a text or a number");
        if (key === Symbol.iterator) throw misuse("taken apart as a list");
        return undefined;
      }
      return makeReference(fieldOf(referred, /^(0|[1-9]\d*)$/.test(key) ? Number(key) : key));
    },
    has(_, key) {
      if (key === REFERRED) return true;
      throw misuse("asked for its fields");
    },
    ownKeys: misused("taken apart"),
    apply: misused("called"),
    construct: misused("called"),
    set: misused("changed"),
    deleteProperty: misused("changed"),
    defineProperty: misused("changed"),
  };
}

function misuse(how: string): PawlError {
  const { words } = placeOfCaller();
  return new PawlError("REFERENCE_MISUSED", { message: `A value that only a run will have is ${how}${words}.` });
}
