import { writeExact } from "../exact-json.ts";
import type { Policy, PolicyDecision, PolicyTrigger } from "../graph/policy.ts";
import { isJsonObject, isNumber, type Json } from "../json.ts";
import { type FindAll, findInText } from "./find-in-text.ts";
import { redactValue } from "./redact-value.ts";

/** A task's output with what it took. */
export interface Judged {
  readonly output: Json;
  /** Null: unknown. */
  readonly costMicro: number | null;
  readonly tokens: number;
}

export interface Verdict {
  /** Without what is to be redacted. */
  readonly output: Json;
  /** In the order of the policies; empty where none has anything against it. */
  readonly decisions: readonly PolicyDecision[];
  /** The output may not be used. */
  readonly blockedBy: PolicyDecision | undefined;
  /** A person decides first. */
  readonly asks: PolicyDecision | undefined;
}

/** Applies the policies to an output. Pure: the verdict is recorded, and policies are not asked again. */
export function judgeOutput(policies: readonly Policy[], judged: Judged, findAll: FindAll): Verdict {
  const texts = textsOf(judged.output);
  const decisions: PolicyDecision[] = [];
  const redacting: Policy[] = [];
  for (const policy of policies) {
    const holds = judge(policy.when, judged, texts, findAll);
    if (holds === undefined) continue;
    if (holds === "unknown") {
      decisions.push(unsearchable(policy));
      continue;
    }
    decisions.push({ policy: policy.id, action: policy.action, ...holds });
    if (policy.action === "redact") redacting.push(policy);
  }
  const redacted = redacting.length === 0 ? judged.output : redactValue(redacting, judged.output, findAll);
  // The replacement of one policy may be something that the next cannot search.
  const [last] = redacting.slice(-1);
  if (redacted === undefined && last !== undefined) decisions.push(unsearchable(last));
  return {
    output: redacted ?? null,
    decisions,
    blockedBy: decisions.find(({ action }) => action === "block"),
    asks: decisions.find(({ action }) => action === "approve"),
  };
}

/** In doubt the policy holds; and what cannot be searched cannot be redacted either. */
function unsearchable({ id, action }: Policy): PolicyDecision {
  const why = "it could not be searched in full: it is too long for a regular expression";
  return { policy: id, action: action === "redact" ? "block" : action, why };
}

function judge(
  when: PolicyTrigger,
  { costMicro, tokens, output }: Judged,
  texts: readonly string[],
  findAll: FindAll,
): Omit<PolicyDecision, "policy" | "action"> | "unknown" | undefined {
  const reasons: string[] = [];
  const { costOverMicro, tokensOver, lengthOver } = when;
  if (costOverMicro !== undefined) {
    if (costMicro !== null && costMicro <= costOverMicro) return undefined;
    reasons.push(
      costMicro === null ? "its cost is not known" : `it cost $${costMicro / 1e6}, over $${costOverMicro / 1e6}`,
    );
  }
  if (tokensOver !== undefined) {
    if (tokens <= tokensOver) return undefined;
    reasons.push(`it took ${tokens} tokens, over ${tokensOver}`);
  }
  if (lengthOver !== undefined) {
    const length = typeof output === "string" ? output.length : writeExact(output).length;
    if (length <= lengthOver) return undefined;
    reasons.push(`it has ${length} characters, over ${lengthOver}`);
  }
  if (when.patterns === undefined && when.contains === undefined) return { why: reasons.join(", ") };
  const found = countFound(when, texts, findAll);
  if (found === "unknown") return "unknown";
  const kinds = Object.entries(found);
  if (kinds.length === 0) return undefined;
  reasons.push(`it contains ${kinds.map(([kind, count]) => `${kind} (${count})`).join(", ")}`);
  return { found, why: reasons.join(", ") };
}

function countFound(
  when: PolicyTrigger,
  texts: readonly string[],
  findAll: FindAll,
): { readonly [kind: string]: number } | "unknown" {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const found = findInText(when, text, findAll);
    if (found === undefined) return "unknown";
    for (const { kind } of found) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/** Texts, names and numbers, however deep. */
function textsOf(value: Json): readonly string[] {
  const texts: string[] = [];
  const left: Json[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === "string") texts.push(next);
    else if (isNumber(next)) texts.push(String(next));
    // One by one: a list may be longer than a call may have arguments.
    else if (Array.isArray(next)) for (const item of next) left.push(item);
    else if (isJsonObject(next)) {
      for (const [name, item] of Object.entries(next)) {
        texts.push(name);
        if (item !== undefined) left.push(item);
      }
    }
  }
  return texts;
}
