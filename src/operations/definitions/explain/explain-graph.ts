import type { Each, Flow, Graph, Place, RetryPolicy, Step, Transition } from "../../../core/graph/graph.ts";
import { type IndexedFlow, indexGraph } from "../../../core/graph/indexed-graph.ts";
import { computeShape, SINGLE } from "../../../core/graph/shape.ts";
import type { JsonObject } from "../../../core/json.ts";
import { toUsd } from "../../costs/micro-dollars.ts";
import { describeRunLimits, type RunLimitsDescription } from "../../costs/use-limits.ts";
import { type KnownPlaces, showExpr } from "./explain-graph-expr.ts";

/** The answer of `pawl graph`. Plain JSON. */
export interface GraphExplanation {
  readonly name: string;
  readonly dialect: string;
  readonly description?: string;
  readonly input: {
    readonly declared: readonly string[];
    readonly required: readonly string[];
    readonly defaults: JsonObject;
  };
  /** Names that were taken for fields of an item since the input is not known to have them. */
  readonly assumed_item_fields: readonly string[];
  readonly flow: FlowExplanation;
  readonly max_cost_usd?: number;
  /** Beside money. */
  readonly limits?: RunLimitsDescription;
  readonly timeout_seconds?: number;
  readonly schedule?: string;
  readonly storage_path?: string;
  readonly dead_letter?: true;
}

export interface FlowExplanation {
  readonly kind: Flow["kind"];
  /** Machines: the step that is visited first. */
  readonly start?: string;
  /** The step for which two fan-outs could give the item that it names. With such an input the run would fail. */
  readonly ambiguous?: { readonly step: string; readonly field: string };
  /** In an order in which they can run. */
  readonly steps: readonly StepExplanation[];
}

export interface StepExplanation {
  readonly id: string;
  readonly kind: Step["kind"];
  /** The executor of a task. */
  readonly executor?: string;
  readonly description?: string;
  readonly place?: Place;
  readonly after: readonly string[];
  /** The step opens a fan-out of its own. */
  readonly fan_out?: { readonly over: string; readonly max_concurrent: number };
  /** The step runs once per item of this step's fan-out. */
  readonly follows?: string;
  readonly when?: string;
  readonly retry?: {
    readonly max_attempts: number;
    readonly backoff: RetryPolicy["backoff"];
    readonly first_delay_seconds: number;
  };
  readonly timeout_seconds?: number;
  readonly on_failure: "abort" | "skip" | "continue" | "catch";
  readonly at_most_once?: true;
  readonly max_cost_usd?: number;
  readonly calls?: string;
  readonly waits?: string;
  readonly approval?: {
    readonly message: string;
    readonly allow_edit: boolean;
    readonly timeout_seconds?: number;
    readonly on_timeout?: "abort" | "skip";
  };
  readonly transitions?: readonly { readonly on: Transition["on"]; readonly when?: string; readonly to: string }[];
  readonly flow?: FlowExplanation;
  readonly catch?: FlowExplanation;
  readonly finally?: FlowExplanation;
}

/**
 * Explains a graph before it runs. Which steps run item by item depends on the names that the input has: without an
 * input they are those that the definition declares.
 */
export function explainGraph(graph: Graph, input?: JsonObject): GraphExplanation {
  const names = new Set([...graph.input.declared, ...Object.keys(input ?? {})]);
  const assumed = new Set<string>();
  const context = { names, assumed, places: { input: graph.input.project, findStep: () => undefined } };
  const flow = explainFlow(indexGraph(graph, "").root, context);
  const { limits, ending } = graph;
  return {
    name: graph.name,
    dialect: graph.dialect,
    description: graph.description,
    input: { declared: graph.input.declared, required: requiredOf(graph), defaults: graph.input.defaults },
    assumed_item_fields: input === undefined ? [...assumed] : [],
    flow,
    ...(limits.maxCostMicro === undefined ? {} : { max_cost_usd: toUsd(limits.maxCostMicro) }),
    ...describeRunLimits(limits),
    ...(limits.timeoutMs === undefined ? {} : { timeout_seconds: limits.timeoutMs / 1000 }),
    schedule: graph.schedule,
    ...(ending.storagePath === undefined ? {} : { storage_path: showExpr(ending.storagePath, context.places) }),
    ...(ending.deadLetter ? { dead_letter: true } : {}),
  };
}

interface Context {
  readonly names: ReadonlySet<string>;
  readonly assumed: Set<string>;
  readonly places: KnownPlaces;
}

function explainFlow(flow: IndexedFlow, outer: Context): FlowExplanation {
  const context = { ...outer, places: placesInside(flow, outer.places) };
  const kind = flow.flow.kind;
  const order = kind === "dag" ? flow.order : flow.steps.map(({ index }) => index);
  const result = kind === "dag" ? computeShape(flow, context.names) : undefined;
  const shape = result?.ok === true ? result.shape : flow.plainShape;
  const ambiguous =
    result?.ok === false ? { step: flow.steps[result.step]?.step.id ?? "", field: result.field } : undefined;
  const steps = order.flatMap((index): StepExplanation[] => {
    const indexed = flow.steps[index];
    if (indexed === undefined) return [];
    const origin = shape[index] ?? SINGLE;
    const follows = origin === SINGLE || origin === index ? undefined : flow.steps[origin]?.step.id;
    if (follows !== undefined) noteAssumed(indexed.step, context);
    return [
      {
        ...explainStep(indexed.step, context),
        follows,
        ...(indexed.body === undefined ? {} : { flow: explainFlow(indexed.body, context) }),
        ...(indexed.catch === undefined ? {} : { catch: explainFlow(indexed.catch, context) }),
        ...(indexed.finally === undefined ? {} : { finally: explainFlow(indexed.finally, context) }),
      },
    ];
  });
  return { kind, ...(flow.flow.kind === "machine" ? { start: flow.flow.start } : {}), ambiguous, steps };
}

function explainStep(step: Step, { places }: Context): StepExplanation {
  const show = (expr: Parameters<typeof showExpr>[0]) => showExpr(expr, places);
  const { transitions, retry, each } = step;
  return {
    id: step.id,
    kind: step.kind,
    ...(step.kind === "task" ? { executor: step.executor } : {}),
    description: step.description,
    place: step.place,
    after: step.after ?? [],
    ...(each === undefined ? {} : { fan_out: explainFanOut(each, places) }),
    ...(step.when === undefined ? {} : { when: show(step.when) }),
    ...(retry === undefined ? {} : { retry: explainRetry(retry) }),
    ...(step.timeoutMs === undefined ? {} : { timeout_seconds: step.timeoutMs / 1000 }),
    on_failure: step.catch === undefined ? (step.onFailure ?? "abort") : "catch",
    ...(step.atMostOnce === true ? { at_most_once: true } : {}),
    ...(step.maxCostMicro === undefined ? {} : { max_cost_usd: toUsd(step.maxCostMicro) }),
    ...(step.kind === "call" ? { calls: show(step.workflow) } : {}),
    ...(step.kind === "wait" ? { waits: explainWait(step.wait, places) } : {}),
    ...(step.kind === "approve" ? { approval: explainApproval(step, places) } : {}),
    ...(transitions === undefined ? {} : { transitions: transitions.map((taken) => explainTransition(taken, places)) }),
  };
}

function explainFanOut({ list, maxConcurrent }: Each, places: KnownPlaces): NonNullable<StepExplanation["fan_out"]> {
  return { over: showExpr(list, places), max_concurrent: maxConcurrent };
}

function explainRetry({ maxAttempts, backoff, initialMs }: RetryPolicy): NonNullable<StepExplanation["retry"]> {
  return { max_attempts: maxAttempts, backoff, first_delay_seconds: initialMs / 1000 };
}

function explainWait(wait: Extract<Step, { kind: "wait" }>["wait"], places: KnownPlaces): string {
  switch (wait.for) {
    case "duration": {
      const { durationMs } = wait;
      if (durationMs.op === "literal" && typeof durationMs.value === "number")
        return `for ${durationMs.value / 1000} s`;
      return `for ${showExpr(durationMs, places)} ms`;
    }
    case "instant":
      return `until ${showExpr(wait.at, places)}`;
    case "event": {
      const limit = wait.timeoutMs === undefined ? "" : `, at most ${wait.timeoutMs / 1000} s`;
      return `for the event ${showExpr(wait.name, places)}${limit}`;
    }
  }
}

function explainApproval(
  step: Extract<Step, { kind: "approve" }>,
  places: KnownPlaces,
): NonNullable<StepExplanation["approval"]> {
  const { message, allowEdit = false, approvalTimeoutMs, onApprovalTimeout = "abort" } = step;
  return {
    message: message.op === "literal" && typeof message.value === "string" ? message.value : showExpr(message, places),
    allow_edit: allowEdit,
    ...(approvalTimeoutMs === undefined
      ? {}
      : { timeout_seconds: approvalTimeoutMs / 1000, on_timeout: onApprovalTimeout }),
  };
}

function explainTransition(
  { on, when, written, to }: Transition,
  places: KnownPlaces,
): NonNullable<StepExplanation["transitions"]>[number] {
  return {
    on,
    ...(when === undefined ? {} : { when: written ?? showExpr(when, places) }),
    to: typeof to === "string" ? to : `end (${to.end})`,
  };
}

/** A name counts as assumed only where something hangs on it: the step follows a fan-out for it. */
function noteAssumed(step: Step, { names, assumed }: Context): void {
  for (const name of step.itemFields ?? []) if (!names.has(name)) assumed.add(name);
}

function placesInside({ flow }: IndexedFlow, outer: KnownPlaces): KnownPlaces {
  return { input: outer.input, findStep: (id) => flow.steps.find((step) => step.id === id) ?? outer.findStep(id) };
}

function requiredOf({ input: { schema } }: Graph): readonly string[] {
  const required = schema?.["required"];
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}
