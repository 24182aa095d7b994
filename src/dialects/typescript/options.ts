import { toMilliseconds } from "../../core/iso-time.ts";
import { suggest } from "../did-you-mean.ts";
import { referredBy } from "./reference.ts";
import { invalid } from "./scope.ts";

/** What an option may be. */
interface Rule {
  readonly is: string;
  readonly isNeeded?: true;
  holds(value: unknown): boolean;
}

/** One for each option: the compiler asks for it. */
export type Rules<Options> = { readonly [Name in keyof Options]-?: Rule };

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";
const isReference = (value: unknown) => referredBy(value) !== undefined;

export const ANYTHING: Rule = { is: "anything", holds: () => true };
export const TEXT: Rule = { is: "a text", holds: isText };
export const GIVEN_TEXT: Rule = {
  is: "a text, or a reference to one",
  holds: (value) => isText(value) || isReference(value),
};
const texts = (least: number) => (value: unknown) => isList(value) && value.length >= least && value.every(isText);
export const TEXTS: Rule = { is: "a list of texts", holds: texts(0) };
export const NAMES: Rule = { is: "a list of one text or more", holds: texts(1) };
export const FLAG: Rule = { is: "true or false", holds: (value) => typeof value === "boolean" };
export const FUNCTION: Rule = {
  is: "a function",
  holds: (value) => typeof value === "function" && !isReference(value),
};
export const COUNT: Rule = {
  is: "a whole number from 1",
  holds: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};
export const AMOUNT: Rule = { is: "a number from 0", holds: (value) => Number.isFinite(value) && Number(value) >= 0 };
export const DURATION: Rule = {
  is: "a duration with its unit, such as `90s`, `5m` or `2d`",
  holds: (value) => isText(value) && /[a-z]/.test(value) && toMilliseconds(value) !== undefined,
};
export const SCHEMA: Rule = {
  is: "a schema, such as `z.object({ ... })` of zod or `jsonSchema({ ... })`",
  holds: (value) =>
    (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value,
};
export const REFERENCES: Rule = {
  is: "a list of steps",
  holds: (value) => isList(value) && value.every(isReference),
};

export const needed = (rule: Rule): Rule => ({ ...rule, isNeeded: true });

export function oneOf(...words: readonly string[]): Rule {
  return {
    is: words.map((word) => `\`${word}\``).join(" or "),
    holds: (value) => words.some((word) => word === value),
  };
}

/** Programs in JavaScript have no compiler that says so; and some of it the compiler cannot say. */
export function checkOptions<Options extends object>(of: string, options: Options, rules: Rules<Options>): void {
  if (typeof options !== "object" || options === null || isList(options) || isReference(options))
    throw invalid(`The options of ${of} are no object`, "Write `{ name: value }`.");
  const names = Object.keys(rules);
  const odd = Object.keys(options).find((name) => !Object.hasOwn(rules, name));
  if (odd !== undefined) {
    const known = `It has ${names.map((name) => `\`${name}\``).join(", ")}.`;
    throw invalid(`\`${odd}\` is no option of ${of}`, suggest(odd, names) ?? known);
  }
  for (const [name, { is, isNeeded, holds }] of Object.entries<Rule>(rules)) {
    const value: unknown = options[name as keyof Options];
    if (value === undefined ? isNeeded !== true : holds(value)) continue;
    const isScalar = typeof value === "string" || typeof value === "number";
    const given = value === undefined ? "missing" : isScalar ? `\`${value}\`` : `of the type ${typeof value}`;
    throw invalid(`\`${name}\` of ${of} is ${given}`, `Give ${is}.`);
  }
}
