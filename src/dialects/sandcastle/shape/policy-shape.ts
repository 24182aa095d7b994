import type { Policy, PolicyPattern, PolicyTrigger } from "../../../core/graph/policy.ts";
import { either, list } from "../../shape/containers.ts";
import { ignored, optional, required, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, integer, number, text } from "../../shape/scalars.ts";
import { type Reader, type ReadOf, type Shape, to } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import type { Range } from "../../source/source-text.ts";
import { url } from "./texts.ts";

const BUILT_IN = ["email", "phone", "card", "secret"] as const;

const ownPattern = object(
  {
    regex: required(text(), "A regular expression in the syntax of RE2.", {
      missing: {
        code: "VALUE_INVALID",
        message: "A pattern of your own has a `regex`.",
        remedy: "Add `regex:`, and `name:` if you like.",
      },
    }),
    name: withDefault(text(), "pattern", "What is found is recorded under this name."),
  },
  { title: "a pattern" },
);

const builtIn = choice(BUILT_IN, {
  wrong: (written) => `\`${written}\` is no pattern; it is one of ${BUILT_IN.join(", ")}, or \`{regex: ...}\`.`,
});

const pattern: Shape<PolicyPattern> = either(
  to(builtIn, (kind): PolicyPattern => ({ kind })),
  to(ownPattern, ({ regex, name }, { later }): PolicyPattern => {
    later.push({ kind: "regex", text: regex });
    return { kind: "regex", name: name.value, pattern: regex.value };
  }),
);

const filled = text({
  pattern: "[\\s\\S]",
  wrong: () => ({ message: "An empty text is in every text.", remedy: "Leave it out." }),
});

function named(key: string) {
  const missing = { message: `The policy has no \`${key}\`.`, remedy: `Add \`${key}:\`.` };
  return text({ pattern: "\\S", wrong: () => ({ code: "KEY_MISSING", ...missing }) });
}

const written = object(
  {
    id: required(named("id"), "The policy's name, which steps and records use."),
    action: required(
      choice(["redact", "block", "approve", "alert"]),
      "What happens: take it out, fail the step, ask a person, or tell someone.",
    ),
    description: ignored("for people."),
    patterns: optional(
      list(pattern),
      "Kinds of text to look for: `email`, `phone`, `card`, `secret`, or `{regex: ...}`.",
    ),
    contains: optional(list(filled), "Texts to look for, in upper or lower case."),
    cost_over_usd: optional(number({ min: 0, max: 1_000_000 }), "The step has cost more, in US dollars."),
    tokens_over: optional(integer(0), "The step has used more tokens."),
    length_over: optional(integer(0), "The output is longer, in characters."),
    replacement: optional(text(), "With `redact`: what stands in its place."),
    webhook: optional(url(), "With `alert`: the URL that is told. Absent: the URL that is told of the run's end."),
  },
  { title: "a policy", expected: "a map with `id`, what it looks for and `action`" },
);

/** A rule about outputs, and its consequence. */
export const policy: Shape<Policy> = to(written, (read, reader) => {
  const when = toTrigger(read);
  checkPolicy(read, when, reader);
  const { id, action, replacement, webhook } = read;
  return {
    id: id.value,
    when,
    action,
    ...(replacement === undefined ? {} : { replacement: replacement.value }),
    ...(webhook === undefined ? {} : { webhook }),
  };
});

function toTrigger({
  patterns = [],
  contains = [],
  cost_over_usd: costUsd,
  ...read
}: ReadOf<typeof written>): PolicyTrigger {
  return {
    ...(patterns.length === 0 ? {} : { patterns }),
    ...(contains.length === 0 ? {} : { contains: contains.map(({ value }) => value) }),
    ...(costUsd === undefined ? {} : { costOverMicro: Math.round(costUsd * 1_000_000) }),
    ...(read.tokens_over === undefined ? {} : { tokensOver: read.tokens_over }),
    ...(read.length_over === undefined ? {} : { lengthOver: read.length_over }),
  };
}

/** Checks keys of a policy against each other. */
function checkPolicy(read: ReadOf<typeof written>, when: PolicyTrigger, { problems }: Reader): void {
  const { id, action, at: map, replacement } = read;
  const at = (key: string): Range => map.entries.get(key)?.value ?? map;
  const invalid = (place: Range, message: string, remedy: string) =>
    problems.error({ code: "VALUE_INVALID", at: place, message, remedy });
  if (Object.keys(when).length === 0) {
    const message = `The policy "${toExcerpt(id.value)}" looks for nothing.`;
    const remedy = "Give `patterns`, `contains`, `cost_over_usd`, `tokens_over` or `length_over`.";
    problems.error({ code: "KEY_MISSING", at: map, message, remedy });
  }
  if (action === "redact" && when.patterns === undefined && when.contains === undefined)
    invalid(at("action"), "`redact` needs something to take out.", "Give `patterns` or `contains`.");
  if (replacement !== undefined && action !== "redact")
    invalid(at("replacement"), "`replacement` belongs to `action: redact`.", "Leave it out.");
  if (read.webhook !== undefined && action !== "alert")
    invalid(at("webhook"), "`webhook` belongs to `action: alert`.", "Leave it out.");
}
