import { toMilliseconds } from "../../../core/iso-time.ts";
import { anyMap, anything, either } from "../../shape/containers.ts";
import { filled, flag, number, text } from "../../shape/scalars.ts";
import { type DialectRules, named, type Shape, to } from "../../shape/shape.ts";
import type { YamlMap, YamlScalar } from "../../source/yaml-node.ts";
import type { Reference } from "../workflow.ts";

/** Unknown keys are ignored with a warning, because files of other programs hold some. Types are those of JSON. */
export const rules: DialectRules = { unknownKeys: "warning", nulls: "absent", scalars: "strict" };

/** `startAt: 1` names the step `1:`, of which YAML makes a number. */
export const reference: Shape<Reference> = {
  expected: "a text",
  kinds: ["text", "number"],
  read(node, spot, reader) {
    const isNumber = node.kind === "scalar" && Number.isInteger(node.value);
    return isNumber ? { value: node.written, at: node } : filled().read(node, spot, reader);
  },
  toSchema: () => ({ type: ["string", "integer"], minLength: 1 }),
};

/** The rule for ids of steps and names of branches and routes. */
export const ids = {
  pattern: "^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$",
  wrong: (written: string) => ({
    message: `\`${written}\` cannot be an id.`,
    remedy: "Use 1 to 100 letters, digits, `_` and `-`, not beginning with `-`, for example `validate_order`.",
  }),
};

/** Texts are expressions. What they may name depends on where their step runs. */
export const expression = anything("an expression");

/** Names, and expressions or values. */
export const mapping = anyMap();

export const written: Shape<YamlScalar> = to(text(), ({ at }) => at);

export const condition: Shape<YamlScalar> = named("condition", either(written, scalarOf(flag())));

export const textOrMap: Shape<YamlScalar | YamlMap> = either(written, anyMap());

/** The scalar itself, because a text in its place is an expression. */
export function scalarOf(shape: Shape<boolean | number>): Shape<YamlScalar> {
  return {
    ...shape,
    read(node, spot, reader) {
      const value = shape.read(node, spot, reader);
      return value === undefined || node.kind !== "scalar" ? undefined : node;
    },
  };
}

const LONGEST_SECONDS = 99_999_999;
const WRITTEN = "([0-9]{1,8}|([0-9]{1,3}d)?([0-9]{1,5}h)?([0-9]{1,7}m)?([0-9]{1,8}s)?([0-9]{1,11}ms)?)";
const TIMES = ["30", "90s"];

/** Milliseconds; written as seconds, or as a text such as `90s` or `1h30m`. */
export const delay: Shape<number> = named(
  "delay",
  either(
    to(number({ min: 0, max: LONGEST_SECONDS }), toMilliseconds),
    to(text({ pattern: `^(?=.)${WRITTEN}$`, examples: TIMES }), ({ value }) => toMilliseconds(value)),
  ),
);

const remedy = "Write a time of more than 0, for example `30` or `90s`.";
const noTime = (value: string, name: string) => ({ message: `${name} cannot be \`${value}\`.`, remedy });

/** A time of at least one millisecond: none would mean no limit. */
export const timeLimit: Shape<number> = named(
  "time-limit",
  to(
    either(
      to(number({ above: 0, max: LONGEST_SECONDS, remedy }), toMilliseconds),
      to(text({ pattern: `^(?=.*[1-9])${WRITTEN}$`, wrong: noTime, examples: TIMES }), ({ value }) =>
        toMilliseconds(value),
      ),
    ),
    (limitMs) => Math.max(1, limitMs),
  ),
);

/** US dollars. */
export const cost = number({ above: 0, max: 1_000_000 });
