import type { ErrorCode } from "../../core/errors/error-table.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isNumber, type JsonObject } from "../../core/json.ts";
import { suggest } from "../did-you-mean.ts";
import { toExcerpt } from "../source/printable.ts";
import type { YamlNode } from "../source/yaml-node.ts";
import type { Reader, Shape, Spot, Text } from "./shape.ts";

interface TextRules {
  /** A regular expression, like in a JSON Schema. */
  readonly pattern?: string;
  /** The message where the pattern does not match; `name` is the key. */
  readonly wrong?: (written: string, name: string) => Wrong;
  readonly maxLength?: number;
  readonly expected?: string;
  readonly examples?: readonly string[];
}

interface Wrong {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly remedy?: string;
}

export function text({ pattern, wrong, maxLength, examples = [], expected = "a text" }: TextRules = {}): Shape<Text> {
  const regex = pattern === undefined ? undefined : new RegExp(pattern, "u");
  /** It takes only numbers that are written as digits: JSON Schema knows no patterns for others. */
  const takesDigits = regex !== undefined && !regex.test("-7.5e-7");
  const explain = wrong ?? explainByExamples(examples);
  return {
    expected,
    kinds: ["text", "number"],
    read(node, spot, reader) {
      const found = toText(node, reader);
      if (found === undefined) return reader.wrongType(node, spot, this);
      const isWrongNumber = isNumber(found.at.value) && takesDigits && !/^\d+$/.test(found.value);
      if (regex?.test(found.value) === false || isWrongNumber) {
        const { code, message, remedy } = explain(toExcerpt(found.value), spot.name);
        return code === undefined
          ? reader.invalid(node, message, remedy)
          : reader.refuse({ code, at: node, message, remedy });
      }
      const length = maxLength === undefined ? 0 : [...found.value].length;
      if (maxLength === undefined || length <= maxLength) return found;
      const message = `The ${spot.name.replaceAll("`", "")} has ${length} characters; ${maxLength} are allowed.`;
      return reader.invalid(node, message, "Shorten it.");
    },
    toSchema({ rules }) {
      const written = { type: "string", pattern, maxLength, examples: examples.length === 0 ? undefined : examples };
      const schema = parseExact(writeExact(written)) as JsonObject;
      if (rules.scalars === "strict" || regex?.test("7") === false) return schema;
      if (!takesDigits) return { ...schema, type: ["string", "number"] };
      return { ...schema, type: ["string", "integer"], minimum: 0, maximum: LARGEST_IN_DIGITS };
    },
  };
}

export function filled(...examples: readonly string[]): Shape<Text> {
  return text({
    pattern: "[\\s\\S]",
    wrong: (_, name) => ({ message: `${name} must not be empty.`, remedy: "Write a text." }),
    examples,
  });
}

/** Beyond it a number is written with an exponent. */
const LARGEST_IN_DIGITS = 100_000_000_000_000_000_000;

/** Also what a text stands for that YAML reads as a number: `id: 007` is "007". */
function toText(node: YamlNode, { rules }: Reader): Text | undefined {
  if (node.kind !== "scalar") return undefined;
  if (typeof node.value === "string") return { value: node.value, at: node };
  return isNumber(node.value) && rules.scalars !== "strict" ? { value: node.written, at: node } : undefined;
}

function explainByExamples(examples: readonly string[]) {
  const shown = examples.map((example) => `\`${example}\``).join(" or ");
  const remedy = shown === "" ? undefined : `Write it like ${shown}.`;
  return (written: string, name: string): Wrong => ({ message: `${name} cannot be \`${written}\`.`, remedy });
}

interface NumberRules {
  readonly min?: number;
  /** Instead of `min`: it must be more than this. */
  readonly above?: number;
  readonly max?: number;
  /** In place of "Write a number from ... to ...". */
  readonly remedy?: string;
}

export function number(rules: NumberRules = {}): Shape<number> {
  return numberOf("a number", rules, () => true);
}

export function integer(min: number, max?: number): Shape<number> {
  return numberOf("a whole number", { min, max }, Number.isInteger);
}

function numberOf(kind: string, rules: NumberRules, fits: (value: number) => boolean): Shape<number> {
  const { min, above, max, remedy = `Write ${kind}${toRange(rules)}.` } = rules;
  const highest = max ?? Number.MAX_SAFE_INTEGER;
  const isIn = (value: number) =>
    fits(value) && value <= highest && (min === undefined || value >= min) && (above === undefined || value > above);
  return {
    expected: kind,
    kinds: ["number"],
    read(node, spot, reader) {
      const written = node.kind === "scalar" ? node.value : undefined;
      const value = reader.rules.scalars === "loose" ? toNumber(written) : toDouble(written);
      if (typeof value !== "number")
        return reader.wrongType(node, spot, {
          ...this,
          expected: reader.rules.scalars === "loose" ? kind : "a number",
        });
      if (isIn(value)) return value;
      const message = `${spot.name} must be ${kind}${toRange(rules)}.`;
      if (isNumber(written)) return reader.invalid(node, message, remedy);
      // A JSON Schema knows no ranges of numbers that are texts.
      return reader.invalidBeyondSchema(node, message, remedy);
    },
    toSchema({ rules: { scalars } }) {
      const type = kind === "a number" ? "number" : "integer";
      const range = { minimum: min, exclusiveMinimum: above, maximum: highest };
      const schema = parseExact(writeExact({ type, ...range })) as JsonObject;
      if (scalars !== "loose") return schema;
      return { ...schema, type: [type, "string"], pattern: WRITTEN_NUMBER.source };
    },
  };
}

function toRange({ min, above, max }: NumberRules): string {
  if (above !== undefined) return ` of more than ${above}${max === undefined ? "" : `, up to ${max}`}`;
  if (min === undefined) return max === undefined ? "" : ` up to ${max}`;
  return max === undefined ? ` of ${min} or more` : ` from ${min} to ${max}`;
}

const WRITTEN_NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*$/;

function toNumber(value: unknown): unknown {
  return typeof value === "string" && WRITTEN_NUMBER.test(value) ? Number(value) : toDouble(value);
}

/** Near enough to be out of every range. */
function toDouble(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

/** YAML 1.1, which the originals read, knows more words than YAML 1.2. */
const YAML_WORDS = { true: ["yes", "on"], false: ["no", "off"] };
const LOOSE_WORDS = { true: ["true", "yes", "on", "y", "t", "1"], false: ["false", "no", "off", "n", "f", "0"] };

export function flag(): Shape<boolean> {
  return {
    expected: "true or false",
    kinds: ["flag"],
    read(node, spot, reader) {
      const value = node.kind === "scalar" ? node.value : undefined;
      if (typeof value === "boolean") return value;
      const { scalars } = reader.rules;
      const words = scalars === "loose" ? LOOSE_WORDS : YAML_WORDS;
      const isWord = scalars === "loose" ? value !== null : typeof value === "string";
      const word = isWord && scalars !== "strict" ? String(value).trim().toLowerCase() : "";
      if (words.true.includes(word)) return true;
      if (words.false.includes(word)) return false;
      return reader.wrongType(node, spot, this);
    },
    toSchema({ rules: { scalars } }): JsonObject {
      if (scalars === "strict") return { type: "boolean" };
      const words = scalars === "loose" ? LOOSE_WORDS : YAML_WORDS;
      const written = [...words.true, ...words.false].map(inAnyCase).join("|");
      const schema = { type: ["boolean", "string"], pattern: `^\\s*(${written})\\s*$` };
      return scalars === "yaml" ? schema : { anyOf: [schema, { enum: [0, 1] }] };
    },
  };
}

function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

export interface ChoiceRules {
  /** Remedies for values that are known and not supported. */
  readonly unsupported?: { readonly [value: string]: string };
  /** The message for every other value. */
  readonly wrong?: (written: string) => string;
}

export function choice<const T extends string>(
  allowed: readonly T[],
  { unsupported = {}, wrong }: ChoiceRules = {},
): Shape<T> {
  const known = [...allowed, ...Object.keys(unsupported)];
  return {
    expected: "a text",
    kinds: ["text"],
    read(node, spot, reader) {
      const found = toText(node, reader);
      if (found === undefined)
        return reader.wrongType(node, spot, { ...this, expected: `one of ${allowed.join(", ")}` });
      const chosen = allowed.find((value) => value === found.value);
      if (chosen !== undefined) return chosen;
      const remedy = Object.hasOwn(unsupported, found.value) ? unsupported[found.value] : undefined;
      if (remedy !== undefined) return refuseUnsupported(found, remedy, { spot, reader });
      const rule = allowed.length === 1 ? `must be ${allowed[0]}` : `is one of ${allowed.join(", ")}`;
      const usual = `${spot.name} cannot be \`${toExcerpt(found.value)}\`; it ${rule}.`;
      return reader.invalid(node, wrong?.(toExcerpt(found.value)) ?? usual, suggest(found.value, known));
    },
    toSchema: () => ({ enum: allowed }),
  };
}

function refuseUnsupported({ value, at }: Text, remedy: string, { spot, reader }: { spot: Spot; reader: Reader }) {
  const message = `\`${spot.name.replaceAll("`", "")}: ${value}\` is not supported yet.`;
  return reader.refuse({ code: "NOT_SUPPORTED", at, message, remedy });
}

const LONGEST_DURATION_MS = 366 * 24 * 3_600_000;
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const WRITTEN_DURATION = /^\s*(?=[0-9.]*[1-9])([0-9]{1,12}(?:\.[0-9]{1,6})?)\s?(ms|s|m|h|d)\s*$/;

/** Milliseconds; written as seconds, or as a text such as `90s`, `15m`, `2h`, `1d`, `500ms`. */
export function duration(): Shape<number> {
  const expected = "seconds, or a text such as `90s`, `15m` or `2h`, up to a year";
  return {
    expected: "seconds, or a text such as `90s`",
    kinds: ["number", "text"],
    read(node, spot, reader) {
      if (node.kind !== "scalar") return reader.wrongType(node, spot, this);
      const [, amount, unit = ""] = WRITTEN_DURATION.exec(node.written) ?? [];
      const ms = isNumber(node.value) ? Number(node.value) * 1000 : Number(amount) * (UNIT_MS.get(unit) ?? Number.NaN);
      if (ms > 0 && ms <= LONGEST_DURATION_MS) return Math.round(ms);
      const texts = { message: `${spot.name} must be ${expected}.`, remedy: `Write ${expected}.` };
      if (!(ms > 0) || isNumber(node.value)) return reader.invalid(node, texts.message, texts.remedy);
      // A JSON Schema cannot compare a text with a year.
      return reader.invalidBeyondSchema(node, texts.message, texts.remedy);
    },
    toSchema: () => ({
      type: ["number", "string"],
      exclusiveMinimum: 0,
      maximum: LONGEST_DURATION_MS / 1000,
      pattern: WRITTEN_DURATION.source,
    }),
  };
}
