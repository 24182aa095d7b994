import type { RetryPolicy } from "../../core/graph/graph.ts";
import type { Policy } from "../../core/graph/policy.ts";
import { MapReader } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import { describeNode, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import { parseBody } from "./parse-body.ts";
import type { ParseContext, StepDefaults } from "./parse-context.ts";
import { checkExports, parseExports } from "./parse-exports.ts";
import { parseFanOutKeys, toFanOut } from "./parse-fan-out.ts";
import { parseStepPolicies } from "./parse-policies.ts";
import { parseTemplate } from "./template.ts";
import type { AgentCall, Dependency, Fallback, OnFailure, StepBody, StepDefinition } from "./workflow.ts";

const MAX_STEPS = 500;

export function parseSteps(top: MapReader, defaults: StepDefaults, context: ParseContext): readonly StepDefinition[] {
  const list = top.list("steps");
  if (list === undefined || list.items.length === 0) {
    const finding = { at: top.at("steps"), message: "Workflow must have at least one step" };
    const isMissing = list !== undefined || !top.has("steps");
    if (isMissing) context.problems.error({ code: "KEY_MISSING", ...finding, remedy: "Add a step to `steps:`." });
    return [];
  }
  if (list.items.length > MAX_STEPS) {
    const message = `The workflow has ${list.items.length} steps; ${MAX_STEPS} are allowed.`;
    context.problems.error({ code: "TOO_MANY_STEPS", at: top.at("steps"), message });
    return [];
  }
  const steps = list.items.flatMap((node) => parseStep(node, defaults, context) ?? []);
  checkExports(steps, context);
  return steps;
}

function parseStep(node: YamlNode, defaults: StepDefaults, context: ParseContext): StepDefinition | undefined {
  if (node.kind !== "map") {
    const message = `A step must be a map with \`id\` and \`prompt\`, not ${describeNode(node)}.`;
    context.problems.error({ code: "WRONG_TYPE", at: node, message });
    return undefined;
  }
  const step = new MapReader(node, context.problems);
  const id = parseId(step, context);
  reportUnsupported(step, context);
  const common = parseCommon(step, node, context);
  const exports = parseExports(step, context);
  const work = parseWork(step, defaults, context);
  step.reportUnknownKeys("a step", MISPLACED);
  return id === undefined ? undefined : { ...id, ...common, ...work, exports };
}

const MISPLACED = new Map([
  ["on_failure", "Write it under `retry:`."],
  ["max_attempts", "Write it under `retry:`."],
  ["backoff", "Write it under `retry:`."],
  ["approval_config", "Add `type: approval`."],
  ["sub_workflow", "Add `type: sub_workflow`."],
]);

const UNSUPPORTED = ["autopilot", "slo", "model_pool"];

function reportUnsupported(step: MapReader, { problems }: ParseContext): void {
  for (const key of UNSUPPORTED) {
    const at = step.node(key);
    if (at === undefined) continue;
    const message = `\`${key}\` is not supported and is ignored.`;
    problems.warning({ code: "NOT_SUPPORTED", at, message, remedy: "Nothing to do; the step runs without it." });
  }
}

function parseId(step: MapReader, { problems }: ParseContext): Pick<StepDefinition, "id" | "at"> | undefined {
  const id = step.text("id");
  if (id === undefined) {
    const finding = { at: step.at("id"), message: "The step has no `id`.", remedy: "Add `id:`." };
    if (!step.has("id")) problems.error({ code: "KEY_MISSING", ...finding });
    return undefined;
  }
  if (!/^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$/.test(id.value)) {
    const message = `\`${toExcerpt(id.value)}\` cannot be a step's id.`;
    problems.error({ code: "STEP_ID_INVALID", at: id.at, message });
  }
  return { id: id.value, at: id.at };
}

function parseCommon(step: MapReader, node: YamlMap, context: ParseContext) {
  const description = step.text("description")?.value;
  const maxCostUsd = step.number("max_cost_usd", { min: 0.000001, max: 1_000_000 });
  return {
    start: node.start,
    dependsOn: parseDependencies(step),
    atMostOnce: step.flag("at_most_once") ?? false,
    ...parseFailureRules(step, context),
    description,
    ...(maxCostUsd === undefined ? {} : { maxCostMicro: Math.round(maxCostUsd * 1_000_000) }),
  };
}

/** One id stands for a list of one. */
function parseDependencies(step: MapReader): readonly Dependency[] {
  const node = step.node("depends_on");
  if (node === undefined) return [];
  return (node.kind === "list" ? node.items : [node]).flatMap((item) => {
    const id = step.asText(item, "depends_on");
    return id === undefined ? [] : [{ id: id.value, at: id.at }];
  });
}

function parseFailureRules(step: MapReader, context: ParseContext): { retry?: RetryPolicy; onFailure: OnFailure } {
  const hasFallback = step.has("fallback");
  const retry = step.nested("retry");
  if (retry === undefined) return { onFailure: hasFallback ? "fallback" : "abort" };
  const maxAttempts = retry.number("max_attempts", { min: 1, max: 1_000, integer: true }) ?? 3;
  const backoff = retry.choice("backoff", ["exponential", "fixed", "linear"]) ?? "exponential";
  // The seed runs a fallback wherever there is one; only a rule that says otherwise keeps it from running.
  const onFailure =
    retry.choice("on_failure", ["abort", "skip", "continue", "fallback"]) ?? (hasFallback ? "fallback" : "abort");
  if (onFailure === "fallback" && !hasFallback) {
    const message = "`on_failure: fallback` without a `fallback` block on the step.";
    context.problems.error({ code: "FALLBACK_MISSING", at: retry.at("on_failure"), message });
  }
  retry.reportUnknownKeys("`retry`");
  return { retry: { maxAttempts, backoff, initialMs: 2_000, maxMs: 60_000, jitter: 0.1 }, onFailure };
}

/** The keys of the step's own type come last: some types take whatever is left. */
function parseWork(step: MapReader, defaults: StepDefaults, context: ParseContext) {
  const timeoutMs = step.durationMs("timeout");
  const fanOutKeys = parseFanOutKeys(step, context);
  const parsed = parseBody(step, { timeoutMs, defaults }, context);
  const fanOut = toFanOut(fanOutKeys, parsed.fanOut);
  const policies = parseWorkPolicies(step, parsed.body, context);
  const fallback = parseFallback(step, parsed.body.type === "agent" ? parsed.body.call : defaults, context);
  return {
    body: parsed.body,
    fanOut,
    fallback,
    ...(policies.length === 0 ? {} : { policies }),
    timeoutMs: parsed.timeoutMs,
  };
}

/** What a step does, or has another workflow do; nothing else has an output of its own to judge. */
function parseWorkPolicies(step: MapReader, { type }: StepBody, context: ParseContext): readonly Policy[] {
  const own = parseStepPolicies(step, context);
  const isWork = type === "agent" || type === "work" || type === "subWorkflow";
  if (isWork) return own ?? context.policies;
  if (own !== undefined) {
    const message = "`policies` judge what a step does; this one does nothing itself.";
    context.problems.error({ code: "VALUE_INVALID", at: step.at("policies"), message, remedy: "Leave it out." });
  }
  return [];
}

/** As in the original, a fallback takes the step's limits and tools, but neither its schema nor the appended context. */
function parseFallback(
  step: MapReader,
  limits: Pick<AgentCall, "maxTurns" | "timeoutMs" | "tools">,
  context: ParseContext,
): Fallback | undefined {
  const fallback = step.nested("fallback");
  if (fallback === undefined) return undefined;
  const prompt = fallback.text("prompt");
  const model = fallback.text("model")?.value ?? "haiku";
  fallback.reportUnknownKeys("`fallback`");
  if (prompt === undefined) {
    const finding = { at: fallback.at("prompt"), message: "The `fallback` block has no `prompt`." };
    if (!fallback.has("prompt")) context.problems.error({ code: "KEY_MISSING", ...finding, remedy: "Add `prompt:`." });
    return undefined;
  }
  const { maxTurns, timeoutMs, tools } = limits;
  return { prompt: parseTemplate(prompt, context), model, maxTurns, timeoutMs, tools, start: fallback.map.start };
}
