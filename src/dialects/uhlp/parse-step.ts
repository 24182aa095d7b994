import type { RetryPolicy } from "../../core/graph/graph.ts";
import type { Range } from "../source/source-text.ts";
import { isNull, type YamlEntry, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseControl } from "./parse-control.ts";
import { parseTransitions } from "./parse-transitions.ts";
import { parseWork } from "./parse-work.ts";
import {
  costMicroAt,
  durationMsAt,
  flagAt,
  mapAt,
  nodeAt,
  numberAt,
  referenceAt,
  textAt,
  timeLimitMsAt,
  toReference,
} from "./read-node.ts";
import type { Block, Level, StepBody, StepDefinition } from "./workflow.ts";

export const MAX_STEPS = 500;

/** `startAt` and `steps`, of a workflow or of a block. */
export function parseLevel(map: YamlMap, context: ParseContext): Level {
  const entries = mapAt(map, "steps")?.entries ?? new Map<string, YamlEntry>();
  const steps = new Map<string, StepDefinition>();
  for (const [id, entry] of entries) {
    const step = parseStep(id, entry, context);
    if (step !== undefined) steps.set(id, step);
  }
  return { startAt: referenceAt(map, "startAt"), steps };
}

/** A step that is written in place gets the id `inlineId`. */
function parseBlock(node: YamlNode | undefined, inlineId: string, context: ParseContext): Block | undefined {
  const start = toReference(node);
  if (start !== undefined) return { kind: "reference", start };
  if (node?.kind !== "map") return undefined;
  if (!node.entries.has("type")) return { kind: "written", level: parseLevel(node, context), at: node };
  const key = { start: node.start, end: Math.min(node.end, node.start + 1) };
  const step = parseStep(inlineId, { key, value: node }, context);
  if (step === undefined) return undefined;
  const level = { startAt: { value: inlineId, at: key }, steps: new Map([[inlineId, step]]) };
  return { kind: "written", level, at: node };
}

/** Undefined: there are too many. A step that cannot be read keeps its id, so that others may lead to it. */
function parseStep(id: string, { key, value }: YamlEntry, context: ParseContext): StepDefinition | undefined {
  context.stepCount += 1;
  if (context.stepCount > MAX_STEPS) {
    const message = `The workflow has more than ${MAX_STEPS} steps, those inside of others included.`;
    if (context.stepCount === MAX_STEPS + 1) context.problems.error({ code: "TOO_MANY_STEPS", at: key, message });
    return undefined;
  }
  context.stepIds.add(id);
  if (isNull(value)) {
    const message = `The step \`${id}\` is empty.`;
    context.problems.error({ code: "KEY_MISSING", at: key, message, remedy: "Add `type` and what belongs to it." });
  }
  if (value.kind !== "map") return { ...UNREADABLE, id, at: key, map: EMPTY };
  const isFaulty = context.faulty.some((range) => isInside(range, key) || isInside(range, value));
  return {
    ...parseCommon(value, context),
    id,
    at: key,
    map: value,
    isFaulty,
    body: parseBody(value, isFaulty, context),
  };
}

const EMPTY: YamlMap = { kind: "map", start: 0, end: 0, size: 1, entries: new Map(), inBraces: false };
const UNREADABLE = { body: { type: "unreadable" }, transitions: [], isFaulty: true, atMostOnce: false } as const;

function isInside(inner: Range, outer: Range): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

function parseBody(step: YamlMap, isFaulty: boolean, context: ParseContext): StepBody {
  const source = { map: step, isFaulty };
  const type = textAt(step, "type")?.value;
  if (type === "control") return parseControl(source, (node, inlineId) => parseBlock(node, inlineId, context), context);
  return parseWork(type, source, context);
}

function parseCommon(step: YamlMap, { problems }: ParseContext) {
  const description = textAt(step, "description")?.value;
  const timeoutMs = timeLimitMsAt(step, "timeout");
  const maxCostMicro = costMicroAt(step, "maxCostUsd", "max_cost_usd");
  const output = nodeAt(step, "outputMapping");
  const retry = parseRetry(mapAt(step, "retryPolicy", "retry"));
  return {
    transitions: parseTransitions(step, problems),
    atMostOnce: flagAt(step, "atMostOnce", "at_most_once") ?? false,
    description,
    timeoutMs,
    maxCostMicro,
    output,
    retry,
  };
}

function parseRetry(retry: YamlMap | undefined): RetryPolicy | undefined {
  if (retry === undefined) return undefined;
  const initialMs = durationMsAt(retry, "initialDelay") ?? 1_000;
  const maxMs = Math.max(initialMs, durationMsAt(retry, "maxDelay") ?? 60_000);
  return {
    maxAttempts: Math.max(1, Math.round(numberAt(retry, "maxAttempts", "max_attempts") ?? 3)),
    backoff: parseBackoff(textAt(retry, "backoff")?.value),
    initialMs,
    maxMs,
    jitter: parseJitter(retry),
  };
}

function parseBackoff(written: string | undefined): RetryPolicy["backoff"] {
  return written === "fixed" || written === "linear" ? written : "exponential";
}

function parseJitter(retry: YamlMap): number {
  const flag = flagAt(retry, "jitter");
  if (flag !== undefined) return flag ? 0.5 : 0;
  return Math.min(1, Math.max(0, numberAt(retry, "jitter") ?? 0.1));
}
