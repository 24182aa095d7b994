import { writeExact } from "../../../core/exact-json.ts";
import { resolveEnv } from "../../../core/expressions/resolve-env.ts";
import type { Policy, PolicyDecision, PolicyTrigger } from "../../../core/graph/policy.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import { countTokens } from "../../../core/interpreter/budget/use-limits.ts";
import { asObject, type Json } from "../../../core/json.ts";
import type { FindAll } from "../../../core/policies/find-in-text.ts";
import { judgeOutput, type Verdict } from "../../../core/policies/judge-output.ts";
import { redactValue } from "../../../core/policies/redact-value.ts";
import type { Asks, Failed, Succeeded } from "../../../ports/executor.ts";
import type { LiveRun } from "../live-run.ts";
import { POLICY_KEY } from "./policy-answer.ts";

export interface PolicyParts {
  readonly findAll: FindAll;
  env(name: string): string | undefined;
}

interface JudgedTask {
  readonly run: LiveRun;
  readonly path: string;
  readonly attempt: number;
  readonly policies: readonly Policy[];
  readonly decisions?: readonly PolicyDecision[] | undefined;
  readonly answered?: "as it is" | "edited" | undefined;
}

/** The body of an alert in the outbox. */
export interface ToldAlert {
  readonly event: "policy.alert";
  readonly url: string;
  readonly at: number;
  readonly path: string;
  readonly decision: PolicyDecision;
}

const NOT_SHOWN = "[could not be searched]";
const TOO_LONG = "[too long to show]";
const MAX_SHOWN_CHARS = 20_000;

/** Applies the policies of steps to outcomes, before anything of them is written. */
export class OutputPolicies {
  readonly #parts: PolicyParts;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  /** Some policy of the step redacts its output. */
  redacts({ policies }: JudgedTask): boolean {
    return policies.some(isRedacting);
  }

  /** Redacts what is written beside the outcome: logs, records, questions. */
  clean({ policies }: JudgedTask, value: Json): Json {
    if (!policies.some(isRedacting)) return value;
    return redactValue(policies.filter(isRedacting), value, this.#parts.findAll) ?? NOT_SHOWN;
  }

  cleanText(task: JudgedTask, text: string): string {
    return String(this.clean(task, text));
  }

  cleanFailed(task: JudgedTask, failed: Failed): Failed {
    if (!this.redacts(task)) return failed;
    const { message, details } = failed;
    const cleaned = details === undefined ? {} : { details: this.clean(task, details) };
    return { ...failed, message: this.cleanText(task, message), ...cleaned };
  }

  cleanAsks(task: JudgedTask, asks: Asks): Asks {
    if (!this.redacts(task)) return asks;
    const form = asks.schema === undefined ? {} : { schema: asObject(this.clean(task, asks.schema)) };
    return { ...asks, message: this.cleanText(task, asks.message), show: this.clean(task, asks.show), ...form };
  }

  /** Undefined: no policy applies. Where a person has let an output through, policies that ask or alert do not. */
  judge({ policies, answered }: JudgedTask, { output, costMicro, usage }: Succeeded): Verdict | undefined {
    if (policies.length === 0 || answered === "as it is") return undefined;
    const binding = answered === "edited" ? policies.filter(bindsPeople) : policies;
    return judgeOutput(binding, { output, costMicro, tokens: countTokens(usage) }, this.#parts.findAll);
  }

  /** Asks whether an output may be used. It shows why, and nothing that any policy of the step searches for. */
  toQuestion({ policies, path, attempt }: JudgedTask, outcome: Succeeded, decision: PolicyDecision): Asks {
    const searching = policies.filter(({ when }) => isSearching(when));
    const shown = redactValue(searching.map(withoutReplacement), outcome.output, this.#parts.findAll);
    const isLong = writeExact(shown ?? null).length > MAX_SHOWN_CHARS;
    return {
      status: "asks",
      key: `${POLICY_KEY}${attempt}`,
      message: `May the output of "${path}" be used? The policy "${decision.policy}" asks, since ${decision.why}.`,
      show: { policy: decision.policy, why: decision.why, output: isLong ? TOO_LONG : (shown ?? NOT_SHOWN) },
      allowEdit: true,
      costMicro: outcome.costMicro,
      usage: outcome.usage,
    };
  }

  /** Called right after the decision was applied, so that the alert is in its commit. */
  queueAlertWebhooks({ run, policies, path, decisions = [] }: JudgedTask, at: number): void {
    for (const decision of decisions) {
      if (decision.action !== "alert") continue;
      const callback = run.options["callback_url"];
      const url =
        policies.find(({ id }) => id === decision.policy)?.webhook ??
        (typeof callback === "string" ? callback : undefined);
      if (url === undefined || resolveEnv(url, this.#parts.env).trim() === "") continue;
      const told: ToldAlert = { event: "policy.alert", url, at, path, decision };
      run.addOutbox([{ kind: "webhook", body: writeExact(told) }]);
    }
  }
}

export function toBlocked({ path }: JudgedTask, { costMicro, usage }: Succeeded, decision: PolicyDecision): Failed {
  return {
    status: "failed",
    code: "POLICY_BLOCKED",
    message: `The policy "${decision.policy}" does not let the output of "${path}" be used, since ${decision.why}.`,
    retryable: false,
    effect: "done",
    costMicro,
    usage,
  };
}

function isRedacting({ action, when }: Policy): boolean {
  return action === "redact" && isSearching(when);
}

function bindsPeople({ action }: Policy): boolean {
  return action === "redact" || action === "block";
}

function isSearching({ patterns, contains }: PolicyTrigger): boolean {
  return patterns !== undefined || contains !== undefined;
}

/** Without a replacement of its own, a match is replaced by the name of what it is. */
function withoutReplacement({ replacement: _, ...policy }: Policy): Policy {
  return policy;
}

/**
 * The policies that a task's output must satisfy: those of its own step, and of every call around it, innermost first.
 * So a step does not evade the policies of a workflow by moving into another one.
 */
export function bindingPolicies(instance: Instance): readonly Policy[] {
  const { step } = instance.step;
  if (step.kind !== "task") return [];
  const own = step.policies ?? [];
  // The output that it records was judged already.
  if (step.isAside === true) return own;
  let bound: Policy[] | undefined;
  for (let around = instance.scope.parent; around !== undefined; around = around.scope.parent) {
    const { step: caller } = around.step;
    if (caller.kind !== "call" || caller.policies === undefined) continue;
    bound ??= [...own];
    const { name } = around.scope.frame.graph.graph;
    for (const policy of caller.policies) add(bound, policy, name);
  }
  return bound ?? own;
}

/** One that is there already counts once; another one of the same name says whose it is. */
function add(bound: Policy[], policy: Policy, workflow: string): void {
  const text = writeExact(policy);
  if (bound.some((known) => writeExact(known) === text)) return;
  const isTaken = bound.some(({ id }) => id === policy.id);
  bound.push(isTaken ? { ...policy, id: `${workflow}:${policy.id}` } : policy);
}
