import type { AnswerRules, RetryPolicy } from "../../core/graph/graph.ts";
import type { Policy } from "../../core/graph/policy.ts";
import type { JsonObject } from "../../core/json.ts";
import { refuseLate, refuseQuorum } from "../answer-rules.ts";
import { suggest } from "../did-you-mean.ts";
import type { Reader, Text } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { checkExports, type Export, toExports, toWork } from "./parse-work.ts";
import type { Path } from "./references/reference.ts";
import { slotsOf, type Template } from "./references/template.ts";
import type { ReadKind, ReadStep } from "./shape/step-shape.ts";
import type { ReadWorkflow } from "./shape/workflow-shape.ts";

export type StepDefinition = ReturnType<typeof toStep>;
export type StepBody = ReturnType<typeof toBody>["body"];
export type AgentBody = Extract<StepBody, { readonly type: "agent" }>;
export type ApprovalBody = Extract<StepBody, { readonly type: "approval" }>;
export type SubWorkflowBody = Extract<StepBody, { readonly type: "subWorkflow" }>;
export type WaitBody = Extract<StepBody, { readonly type: "wait" }>["wait"];
export type AgentCall = AgentBody["call"];
export type Fallback = NonNullable<StepDefinition["fallback"]>;

interface StepContext {
  /** The top of the file, which has defaults for steps. */
  readonly top: ReadWorkflow;
  readonly topPolicies: readonly Policy[];
  readonly reader: Reader;
  hasChromium(): boolean;
}

export function parseSteps(top: ReadWorkflow, reader: Reader, hasChromium: () => boolean): readonly StepDefinition[] {
  const topPolicies = top.policies ?? [];
  refuseTwice(topPolicies, top.at.entries.get("policies")?.value ?? top.at, reader);
  const steps = (top.steps ?? []).map((read) => toStep(read, { top, topPolicies, reader, hasChromium }));
  checkExports(steps, reader.problems);
  return steps;
}

function toStep(read: ReadStep, context: StepContext) {
  const { reader, top } = context;
  const { body, timeoutMs, block } = toBody(read, context);
  const policies = toPolicies(read, body, context);
  return {
    id: read.id.value,
    /** The place of the id. */
    at: read.id.at satisfies Range,
    /** The offset at which the step begins. */
    start: read.at.start,
    description: read.description?.value,
    dependsOn: (read.depends_on ?? []).map(({ value, at }) => ({ id: value, at })),
    body,
    fanOut: toFanOut(read, block),
    /** The step whose items it follows. False: it runs once. Absent: what it names decides. */
    each: read.each,
    fallback: toFallback(read, body.type === "agent" ? body.call : toLimits(top)),
    policies: policies.length === 0 ? undefined : policies,
    timeoutMs,
    atMostOnce: read.at_most_once || (body.type === "work" && body.isOnce),
    maxCostMicro: read.max_cost_usd === undefined ? undefined : Math.round(read.max_cost_usd * 1_000_000),
    ...toFailureRules(read, reader),
    exports: toExports(read, context) satisfies readonly Export[],
  };
}

/** The part that depends on the step's `type`. `block`: a map in which keys of the step may stand as well. */
function toBody(read: ReadStep, { top, reader }: StepContext) {
  const timeoutMs = read.timeout ?? top.default_timeout;
  switch (read.type) {
    case "standard":
      return { body: toAgent(read, timeoutMs, top), timeoutMs };
    case "approval":
      return { body: toApproval(read, reader) };
    case "sub_workflow": {
      const { sub_workflow: block } = read;
      return { body: toSubWorkflow(read), timeoutMs: block?.timeout ?? read.timeout ?? 600_000, block };
    }
    case "wait":
      return { body: { type: "wait", wait: toWait(read, reader) } } as const;
    default:
      return { body: toWork(read, top, reader), timeoutMs };
  }
}

function toAgent(read: ReadKind<"standard">, timeoutMs: number, top: ReadWorkflow) {
  const call = {
    prompt: read.prompt ?? NOTHING,
    ...modelOf(read.model ?? top.default_model, read.model !== undefined || top.at.entries.has("default_model")),
    maxTurns: read.max_turns ?? top.default_max_turns,
    timeoutMs,
    outputSchema: read.output_schema satisfies JsonObject | undefined,
    /** That agents of Pawl itself get; agent servers have their own. */
    tools: read.tools,
  };
  return { type: "agent", call, appendsContext: (read.context ?? top.context) === "auto" } as const;
}

/** The dialect's own default goes to agent servers; agents of Pawl go by the configuration where the file says nothing. */
function modelOf({ value }: Text, isWritten: boolean) {
  return { model: value, isUsualModel: !isWritten };
}

const NOTHING: Template = { parts: [] };

function toApproval({ approval_config: config, prompt }: ReadKind<"approval">, { problems }: Reader) {
  if (config?.allow_edit) refuseQuorum(config.at, config.quorum, problems);
  const hours = config?.timeout_hours;
  const timeoutMs = hours === undefined ? undefined : Math.round(hours * 3_600_000);
  if (config !== undefined) refuseLate(config, timeoutMs, problems);
  return {
    type: "approval",
    // Approval steps of real files carry a prompt.
    message: config?.message ?? prompt ?? ({ parts: ["Approve this step?"] } satisfies Template),
    show: config?.show_data,
    allowEdit: config?.allow_edit ?? false,
    rules: {
      ...(config?.approvers && { approvers: config.approvers.map(({ value }) => value) }),
      ...(config?.quorum && { quorum: config.quorum }),
      ...(config?.not_requester && { notRequester: true }),
      reminder: config?.reminder,
      escalation: config?.escalation,
    } satisfies AnswerRules,
    timeoutMs,
    onTimeout: config?.on_timeout ?? "abort",
  } as const;
}

function toSubWorkflow({ sub_workflow: block }: ReadKind<"sub_workflow">) {
  const { input_mapping: input, output_mapping: output } = block ?? {};
  return {
    type: "subWorkflow",
    workflow: block?.workflow ?? NOTHING,
    /** Absent: the whole input. */
    input: input?.kind === "map" ? input.entries : undefined,
    /** From a name in the step's output to the path in the child's outputs. */
    output: output && new Map<string, Path>(output.map(({ name, value }) => [name, value])),
  } as const;
}

function toWait(read: ReadKind<"wait">, { problems }: Reader) {
  const { duration, until, event, match, timeout: timeoutMs } = read;
  if (match !== undefined && (event === undefined || slotsOf(event).length > 0)) {
    const at = read.at.entries.get("match")?.key ?? read.at;
    const message = "`match` is for an event whose name is written as it is.";
    problems.error({ code: "VALUE_INVALID", at, message, remedy: "Add `event` with a name, without `{...}` in it." });
  }
  if (until !== undefined) return { for: "instant", at: until } as const;
  if (event === undefined) return { for: "duration", durationMs: duration ?? 0 } as const;
  return { for: "event", name: event, match: match?.kind === "map" ? match.entries : undefined, timeoutMs } as const;
}

type FanOutKeys = Pick<ReadStep, "parallel_over" | "max_concurrent">;

/** The keys of the block go before those of the step. */
function toFanOut(read: FanOutKeys, block: FanOutKeys | undefined) {
  const list = block?.parallel_over ?? read.parallel_over;
  const maxConcurrent = block?.max_concurrent ?? read.max_concurrent ?? (block === undefined ? 500 : 5);
  return list === undefined ? undefined : { list, maxConcurrent };
}

function toLimits({ default_max_turns: maxTurns, default_timeout: timeoutMs }: ReadWorkflow) {
  return { maxTurns, timeoutMs, tools: undefined };
}

/** A fallback takes, like in the original, the step's limits and tools, but neither its schema nor the appended context. */
function toFallback(
  { fallback }: ReadStep,
  { maxTurns, timeoutMs, tools }: Pick<AgentCall, "maxTurns" | "timeoutMs" | "tools">,
) {
  if (fallback === undefined) return undefined;
  const { prompt, model, at } = fallback;
  return {
    prompt,
    ...modelOf(model, at.entries.has("model")),
    maxTurns,
    timeoutMs,
    outputSchema: undefined,
    tools,
    start: at.start,
  };
}

function toFailureRules({ retry, at }: ReadStep, { problems }: Reader) {
  const hasFallback = at.entries.has("fallback");
  // The seed runs a fallback wherever there is one; only a rule that says otherwise keeps it from running.
  const onFailure = retry?.on_failure ?? (hasFallback ? "fallback" : "abort");
  if (retry === undefined) return { onFailure };
  if (onFailure === "fallback" && !hasFallback) {
    const message = "`on_failure: fallback` without a `fallback` block on the step.";
    const place = retry.at.entries.get("on_failure")?.value ?? retry.at;
    problems.error({ code: "FALLBACK_MISSING", at: place, message });
  }
  const { max_attempts: maxAttempts, backoff } = retry;
  const policy: RetryPolicy = { maxAttempts, backoff, initialMs: 2_000, maxMs: 60_000, jitter: 0.1 };
  return { retry: policy, onFailure };
}

/**
 * Policies of the step itself, and those at the top that it keeps by id. Absent: all of those at the top; an empty list:
 * none. Only what a step does, or has another workflow do, has an output to judge.
 */
function toPolicies(read: ReadStep, { type }: StepBody, { topPolicies, reader }: StepContext): readonly Policy[] {
  const at = read.at.entries.get("policies")?.value ?? read.at;
  const own = read.policies?.flatMap((each): readonly Policy[] => {
    if (!("value" in each)) return [each];
    const found = topPolicies.find((policy) => policy.id === each.value);
    if (found !== undefined) return [found];
    const known = topPolicies.map((policy) => policy.id);
    const message = `There is no policy \`${toExcerpt(each.value)}\` at the top of the file.`;
    const remedy = suggest(each.value, known);
    reader.problems.error({ code: "VALUE_INVALID", at: each.at, message, remedy });
    return [];
  });
  refuseTwice(own ?? [], at, reader);
  if (type === "agent" || type === "work" || type === "subWorkflow") return own ?? topPolicies;
  if (own !== undefined) {
    const message = "`policies` judge what a step does; this one does nothing itself.";
    reader.problems.error({ code: "VALUE_INVALID", at, message, remedy: "Leave it out." });
  }
  return [];
}

function refuseTwice(policies: readonly Policy[], at: Range, { problems }: Reader): void {
  const ids = new Set<string>();
  for (const { id } of policies) {
    const message = `Two policies have the id \`${toExcerpt(id)}\`.`;
    if (ids.has(id)) problems.error({ code: "VALUE_INVALID", at, message, remedy: "Rename one." });
    ids.add(id);
  }
}
