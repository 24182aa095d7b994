import type { BuiltInPattern, Policy, PolicyPattern, PolicyTrigger } from "../../core/graph/policy.ts";
import { suggest } from "../did-you-mean.ts";
import { MapReader } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { describeNode, type YamlNode } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";

const ACTIONS = ["redact", "block", "approve", "alert"] as const;
const BUILT_IN = ["email", "phone", "card", "secret"] as const satisfies readonly BuiltInPattern[];
const MAX_POLICIES = 100;

/** `policies` at the top: for every step that does work and names no others. */
export function parsePolicies(top: MapReader, context: ParseContext): readonly Policy[] {
  const list = top.list("policies");
  const policies = (list?.items ?? []).slice(0, MAX_POLICIES).flatMap((node) => parsePolicy(node, context) ?? []);
  if ((list?.items.length ?? 0) > MAX_POLICIES)
    invalid(context, top.at("policies"), `There are more than ${MAX_POLICIES} policies.`, "Leave some out.");
  refuseTwice(policies, top.at("policies"), context);
  return policies;
}

/**
 * `policies` of a step: policies of its own, and ids of those at the top that it keeps. Absent: all of those at the top; an
 * empty list: none. Undefined: absent.
 */
export function parseStepPolicies(step: MapReader, context: ParseContext): readonly Policy[] | undefined {
  const list = step.list("policies");
  if (list === undefined) return undefined;
  const policies = list.items.flatMap((node) => {
    if (node.kind === "map") return parsePolicy(node, context) ?? [];
    const id = step.asText(node, "policies");
    if (id === undefined) return [];
    const found = context.policies.find((policy) => policy.id === id.value);
    if (found !== undefined) return found;
    const known = context.policies.map((policy) => policy.id);
    const message = `There is no policy \`${toExcerpt(id.value)}\` at the top of the file.`;
    context.problems.error({ code: "VALUE_INVALID", at: id.at, message, remedy: suggest(id.value, known) });
    return [];
  });
  refuseTwice(policies, step.at("policies"), context);
  return policies;
}

function parsePolicy(node: YamlNode, context: ParseContext): Policy | undefined {
  if (node.kind !== "map") {
    const message = `A policy must be a map with \`id\`, what it looks for and \`action\`, not ${describeNode(node)}.`;
    context.problems.error({ code: "WRONG_TYPE", at: node, message });
    return undefined;
  }
  const policy = new MapReader(node, context.problems);
  const id = required(policy, "id", context);
  const action = policy.choice("action", ACTIONS);
  if (!policy.has("action")) required(policy, "action", context);
  policy.ignore("description");
  const when = parseTrigger(policy, context);
  const replacement = policy.text("replacement");
  const webhook = policy.text("webhook");
  policy.reportUnknownKeys("a policy");
  if (id === undefined || action === undefined) return undefined;
  if (Object.keys(when).length === 0) {
    const remedy = "Give `patterns`, `contains`, `cost_over_usd`, `tokens_over` or `length_over`.";
    context.problems.error({
      code: "KEY_MISSING",
      at: node,
      message: `The policy "${toExcerpt(id)}" looks for nothing.`,
      remedy,
    });
  }
  if (action === "redact" && when.patterns === undefined && when.contains === undefined)
    invalid(context, policy.at("action"), "`redact` needs something to take out.", "Give `patterns` or `contains`.");
  if (replacement !== undefined && action !== "redact")
    invalid(context, replacement.at, "`replacement` belongs to `action: redact`.", "Leave it out.");
  if (webhook !== undefined && action !== "alert")
    invalid(context, webhook.at, "`webhook` belongs to `action: alert`.", "Leave it out.");
  if (webhook !== undefined && !/^(https?:\/\/|\$\{)\S+$/.test(webhook.value))
    invalid(context, webhook.at, "`webhook` must be a URL, or a variable.", "Begin it with `http://` or `https://`.");
  return {
    id,
    when,
    action,
    ...(replacement === undefined ? {} : { replacement: replacement.value }),
    ...(webhook === undefined ? {} : { webhook: webhook.value }),
  };
}

function required(policy: MapReader, key: "id" | "action", { problems }: ParseContext): string | undefined {
  const text = policy.text(key);
  if (text !== undefined && text.value.trim() !== "") return text.value;
  if (!policy.has(key) || text !== undefined)
    problems.error({
      code: "KEY_MISSING",
      at: policy.at(key),
      message: `The policy has no \`${key}\`.`,
      remedy: `Add \`${key}:\`.`,
    });
  return undefined;
}

function parseTrigger(policy: MapReader, context: ParseContext): PolicyTrigger {
  const patterns = policy.list("patterns")?.items.flatMap((node) => parsePattern(policy, node, context) ?? []);
  const contains = policy.list("contains")?.items.flatMap((node) => {
    const text = policy.asText(node, "contains");
    if (text === undefined) return [];
    if (text.value !== "") return [text.value];
    invalid(context, text.at, "An empty text is in every text.", "Leave it out.");
    return [];
  });
  const costUsd = policy.number("cost_over_usd", { min: 0, max: 1_000_000 });
  const tokens = policy.number("tokens_over", { min: 0, integer: true });
  const length = policy.number("length_over", { min: 0, integer: true });
  return {
    ...(patterns === undefined || patterns.length === 0 ? {} : { patterns }),
    ...(contains === undefined || contains.length === 0 ? {} : { contains }),
    ...(costUsd === undefined ? {} : { costOverMicro: Math.round(costUsd * 1_000_000) }),
    ...(tokens === undefined ? {} : { tokensOver: tokens }),
    ...(length === undefined ? {} : { lengthOver: length }),
  };
}

function parsePattern(policy: MapReader, node: YamlNode, context: ParseContext): PolicyPattern | undefined {
  if (node.kind === "map") {
    const own = new MapReader(node, context.problems);
    const regex = own.text("regex");
    const name = own.text("name")?.value ?? "pattern";
    own.reportUnknownKeys("a pattern");
    if (regex === undefined) {
      invalid(
        context,
        own.at("regex"),
        "A pattern of your own has a `regex`.",
        "Add `regex:`, and `name:` if you like.",
      );
      return undefined;
    }
    context.regexes.push(regex);
    return { kind: "regex", name, pattern: regex.value };
  }
  const text = policy.asText(node, "patterns");
  const kind = BUILT_IN.find((each) => each === text?.value);
  if (kind !== undefined) return { kind };
  if (text === undefined) return undefined;
  const message = `\`${toExcerpt(text.value)}\` is no pattern; it is one of ${BUILT_IN.join(", ")}, or \`{regex: ...}\`.`;
  context.problems.error({ code: "VALUE_INVALID", at: text.at, message, remedy: suggest(text.value, BUILT_IN) });
  return undefined;
}

function refuseTwice(policies: readonly Policy[], at: Range, context: ParseContext): void {
  const ids = new Set<string>();
  for (const { id } of policies) {
    if (ids.has(id)) invalid(context, at, `Two policies have the id \`${toExcerpt(id)}\`.`, "Rename one.");
    ids.add(id);
  }
}

function invalid({ problems }: ParseContext, at: Range, message: string, remedy: string): void {
  problems.error({ code: "VALUE_INVALID", at, message, remedy });
}
