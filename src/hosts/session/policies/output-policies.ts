import { resolveEnv } from "../../../core/expressions/resolve-env.ts";
import type { Policy, PolicyDecision, PolicyTrigger } from "../../../core/graph/policy.ts";
import { countTokens } from "../../../core/interpreter/budget/use-limits.ts";
import type { Json } from "../../../core/json.ts";
import type { FindAll } from "../../../core/policies/find-in-text.ts";
import { judgeOutput, type Verdict } from "../../../core/policies/judge-output.ts";
import { redactValue } from "../../../core/policies/redact-value.ts";
import type { Asks, Failed, Succeeded } from "../../../ports/executor.ts";
import type { RunningTask } from "../tasks/running-task.ts";
import { POLICY_KEY } from "./policy-answer.ts";

export interface PolicyParts {
  readonly findAll: FindAll;
  env(name: string): string | undefined;
}

/** What an entry of the outbox keeps of an alert. */
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

/** Policies of steps, where outcomes come in: what they say is done before anything is written. */
export class OutputPolicies {
  readonly #parts: PolicyParts;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  /** Something of what the step brings must not be written. */
  redacts({ policies }: RunningTask): boolean {
    return policies.some(isRedacting);
  }

  /** What is written beside the outcome (logs, records, questions), without what is to be redacted. */
  clean({ policies }: RunningTask, value: Json): Json {
    if (!policies.some(isRedacting)) return value;
    return redactValue(policies.filter(isRedacting), value, this.#parts.findAll) ?? NOT_SHOWN;
  }

  cleanText(task: RunningTask, text: string): string {
    return String(this.clean(task, text));
  }

  cleanFailed(task: RunningTask, failed: Failed): Failed {
    if (!this.redacts(task)) return failed;
    const { message, details } = failed;
    const cleaned = details === undefined ? {} : { details: this.clean(task, details) };
    return { ...failed, message: this.cleanText(task, message), ...cleaned };
  }

  cleanAsks(task: RunningTask, asks: Asks): Asks {
    if (!this.redacts(task)) return asks;
    return { ...asks, message: this.cleanText(task, asks.message), show: this.clean(task, asks.show) };
  }

  /** Undefined: nothing is to be said of it. A person who has let an output through has outvoted the policies that ask and tell. */
  judge({ policies, answered }: RunningTask, { output, costMicro, usage }: Succeeded): Verdict | undefined {
    if (policies.length === 0 || answered === "as it is") return undefined;
    const binding = answered === "edited" ? policies.filter(bindsPeople) : policies;
    return judgeOutput(binding, { output, costMicro, tokens: countTokens(usage) }, this.#parts.findAll);
  }

  /** The question whether an output may be used: it shows why, and nothing that any policy of the step looks for. */
  toQuestion({ policies, path, attempt }: RunningTask, outcome: Succeeded, decision: PolicyDecision): Asks {
    const searching = policies.filter(({ when }) => isSearching(when));
    const shown = redactValue(searching.map(withoutReplacement), outcome.output, this.#parts.findAll);
    const isLong = JSON.stringify(shown ?? null).length > MAX_SHOWN_CHARS;
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

  /** In the turn in which the decision was applied, so that the wish to tell is in its commit. */
  queueAlertWebhooks({ run, policies, path, decisions = [] }: RunningTask, at: number): void {
    for (const decision of decisions) {
      if (decision.action !== "alert") continue;
      const callback = run.options["callback_url"];
      const url =
        policies.find(({ id }) => id === decision.policy)?.webhook ??
        (typeof callback === "string" ? callback : undefined);
      if (url === undefined || resolveEnv(url, this.#parts.env).trim() === "") continue;
      const told: ToldAlert = { event: "policy.alert", url, at, path, decision };
      run.addOutbox([{ kind: "webhook", body: JSON.stringify(told) }]);
    }
  }
}

export function toBlocked({ path }: RunningTask, { costMicro, usage }: Succeeded, decision: PolicyDecision): Failed {
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

/** What stands in the place of what was found says what it was. */
function withoutReplacement({ replacement: _, ...policy }: Policy): Policy {
  return policy;
}
