import { PawlError } from "../errors/pawl-error.ts";
import { isJsonObject, type Json } from "../json.ts";
import { MAX_TEXT_CHARS, MAX_WORK, type Scope } from "./expr.ts";

/** The longest value that an expression makes, in characters as it is printed. */
const MAX_MADE_CHARS = 32 * 1024 * 1024;

/** What a value costs that is walked through: its parts count as often as they stand in it. */
interface Size {
  /** As it is printed, about. */
  readonly chars: number;
  /** Looks at a part of an expression in the time of one walk. */
  readonly looks: number;
}

/** A number and a comma; a name and its quotes. */
const PART_CHARS = 4;
const LOOKS_PER_PART = 4;

/** One evaluation under way: what it may still do. Everything is paid for before it is done. Throws `EXPRESSION_TOO_COSTLY`. */
export class Work {
  readonly scope: Scope;
  #left = MAX_WORK;
  #hasMade = false;
  #uuids = 0;
  #sizes: Map<object, Size> | undefined;

  constructor(scope: Scope) {
    this.scope = scope;
  }

  pay(looks: number): void {
    this.#left -= looks;
    if (this.#left < 0) throw tooCostly("It would take more than a quarter of a second to evaluate.");
  }

  /** How many the evaluation has made before. */
  nextUuid(): number {
    this.#uuids += 1;
    return this.#uuids;
  }

  /** Pays for a walk through the whole value, at that price. */
  payWalk(value: Json | undefined, times = 1): void {
    this.pay(times * this.#sizeOf(value).looks);
  }

  /** Pays for a walk through both at once, which ends with the smaller one. */
  payWalkOfBoth(left: Json, right: Json): void {
    this.pay(Math.min(this.#sizeOf(left).looks, this.#sizeOf(right).looks));
  }

  /** A list or an object that the expression has made: it may hold one part many times. */
  made<Value extends Json | undefined>(value: Value): Value {
    this.#hasMade ||= typeof value === "object";
    return value;
  }

  /** The result is printed sooner or later. */
  checkMade(value: Json | undefined): void {
    if (this.#hasMade && this.#sizeOf(value).chars > MAX_MADE_CHARS) throw tooLarge(MAX_MADE_CHARS);
  }

  /** A part that stands in the value many times is looked at once. */
  #sizeOf(value: Json | undefined): Size {
    if (typeof value !== "object" || value === null) return sizeOfOwn(value);
    this.#sizes ??= new Map();
    const sizes = this.#sizes;
    const known = sizes.get(value);
    if (known !== undefined) return known;
    const few = countFew(value);
    // To count is a walk as well, many times as fast, whatever is then paid for.
    this.pay((few?.looks ?? LOOKS_PER_PART * FEW_PARTS) >> 4);
    if (few !== undefined) {
      sizes.set(value, few);
      return few;
    }
    const pending: object[] = [value];
    for (let next = pending.at(-1); next !== undefined; next = pending.at(-1)) {
      const before = pending.length;
      const size = sizes.get(next) ?? addUp(next, sizes, pending);
      if (pending.length > before) continue;
      sizes.set(next, size);
      pending.pop();
    }
    return sizes.get(value) ?? ONE_PART;
  }
}

const FEW_PARTS = 100_000;

/** Undefined: it has many parts. Most values have few: to count those as they are printed takes a tenth of the time of remembering each. */
function countFew(value: Json): Size | undefined {
  const pending: Json[] = [value];
  let chars = 0;
  let looks = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    const size = sizeOfOwn(part);
    chars += size.chars;
    looks += size.looks;
    if (Array.isArray(part)) {
      if (part.length > FEW_PARTS) return undefined;
      for (const each of part as readonly Json[]) pending.push(each);
    } else if (isJsonObject(part)) {
      // Without a list of entries for each object: they are all plain ones.
      for (const name in part) {
        chars += name.length + PART_CHARS;
        pending.push(part[name] ?? null);
      }
    }
    if (looks / LOOKS_PER_PART + pending.length > FEW_PARTS) return undefined;
  }
  return { chars, looks };
}

/** The sum of the parts. Those whose size is not known are added to `pending`. */
function addUp(value: object, sizes: ReadonlyMap<object, Size>, pending: object[]): Size {
  let { chars, looks } = ONE_PART;
  const add = (part: Json) => {
    const size = typeof part !== "object" || part === null ? sizeOfOwn(part) : sizes.get(part);
    if (size === undefined) pending.push(part as object);
    else {
      chars += size.chars;
      looks += size.looks;
    }
  };
  if (Array.isArray(value)) for (const part of value as readonly Json[]) add(part);
  else {
    for (const [name, part] of Object.entries(value)) {
      chars += name.length + PART_CHARS;
      add(part as Json);
    }
  }
  return { chars, looks };
}

const ONE_PART: Size = { chars: PART_CHARS, looks: LOOKS_PER_PART };

/** Without the parts of a list or an object. */
function sizeOfOwn(value: Json | undefined): Size {
  if (typeof value !== "string") return ONE_PART;
  return { chars: value.length + PART_CHARS, looks: (value.length >> 5) + LOOKS_PER_PART };
}

/** A text or a list beyond the limits, or a value in which one part stands many times. */
export function tooLarge(chars = MAX_TEXT_CHARS): PawlError {
  return tooCostly(`It makes a value of more than ${chars >> 20} MB.`);
}

function tooCostly(message: string): PawlError {
  return new PawlError("EXPRESSION_TOO_COSTLY", { message });
}
