import { writeExact } from "../../../core/exact-json.ts";
import type { Expr, PathExpr } from "../../../core/expressions/expr.ts";
import { describeTrigger } from "../../../core/graph/describe-trigger.ts";
import type {
  AnswerRules,
  Concurrency,
  Each,
  Graph,
  RetryPolicy,
  Step,
  Transition,
  Trigger,
} from "../../../core/graph/graph.ts";
import { type IndexedFlow, indexGraph } from "../../../core/graph/indexed-graph.ts";
import { computeShape, SINGLE } from "../../../core/graph/shape.ts";
import { toUsd } from "../../limits/micro-dollars.ts";
import { describeRunLimits } from "../../limits/use-limits.ts";
import type { FlowExplanation, GraphExplanation, StepExplanation } from "./graph-schemas.ts";

/**
 * Explains a graph before it runs. Which steps run item by item depends on the names that the input has: without an
 * input they are those that the definition declares.
 */
export function explainGraph(graph: Graph, inputNames?: readonly string[]): GraphExplanation {
  const names = new Set([...graph.input.declared, ...(inputNames ?? [])]);
  const assumed = new Set<string>();
  const context = { names, assumed, places: { input: graph.input.project, findStep: () => undefined } };
  const flow = explainFlow(indexGraph(graph, "").root, context);
  const { limits, ending } = graph;
  return {
    name: graph.name,
    dialect: graph.dialect,
    description: graph.description,
    input: { declared: graph.input.declared, required: requiredOf(graph), defaults: graph.input.defaults },
    assumed_item_fields: inputNames === undefined ? [...assumed] : [],
    flow,
    ...(limits.maxCostMicro === undefined ? {} : { max_cost_usd: toUsd(limits.maxCostMicro) }),
    ...describeRunLimits(limits),
    ...(limits.timeoutMs === undefined ? {} : { timeout_seconds: limits.timeoutMs / 1000 }),
    ...explainStarts(graph),
    ...(ending.storagePath === undefined ? {} : { storage_path: showExpr(ending.storagePath, context.places) }),
    ...(ending.deadLetter ? { dead_letter: true } : {}),
  };
}

/** What starts the workflow by itself, and how its runs wait for one another. */
export function explainStarts(graph: Graph): Pick<GraphExplanation, "schedule" | "starts_by" | "runs"> {
  return {
    schedule: graph.schedule,
    ...unlessEmpty("starts_by", (graph.triggers ?? []).map(toStart)),
    ...unlessEmpty("runs", explainRuns(graph, { input: graph.input.project, findStep: () => undefined })),
  };
}

const unlessEmpty = <Name extends string>(name: Name, lines: readonly string[]) =>
  (lines.length === 0 ? {} : { [name]: lines }) as { readonly [_ in Name]?: readonly string[] };

function toStart(trigger: Trigger): string {
  return trigger.name === undefined ? describeTrigger(trigger) : `${trigger.name}: ${describeTrigger(trigger)}`;
}

function explainRuns({ concurrency, rate }: Graph, places: KnownPlaces): readonly string[] {
  const ofKey = ({ key, keyWritten, scope }: Pick<Concurrency, "key" | "keyWritten" | "scope">) =>
    `${key === undefined ? "" : ` for each ${keyWritten ?? showExpr(key, places)}`}${scope === undefined ? "" : ` in ${scope}`}`;
  const full = { queue: "others wait", cancelOlder: "older ones are cancelled", skip: "others are refused" };
  const lines: string[] = [];
  if (concurrency?.waitMs !== undefined)
    lines.push(`begins ${concurrency.waitMs / 1000} s after the last start${ofKey(concurrency)}`);
  else if (concurrency !== undefined)
    lines.push(`at most ${concurrency.limit} at once${ofKey(concurrency)}, ${full[concurrency.whenFull]}`);
  if (rate !== undefined)
    lines.push(`at most ${rate.limit} begin in ${rate.perMs / 1000} s${ofKey(rate)}, ${full[rate.whenFull]}`);
  return lines;
}

function explainPeople({ approvers, quorum, notRequester, reminder, escalation }: AnswerRules): readonly string[] {
  const { afterMs = 0, everyMs, times } = reminder ?? {};
  return [
    ...(approvers === undefined ? [] : [`for ${approvers.join(", ")}`]),
    ...(quorum === undefined ? [] : [`${quorum} must approve`]),
    ...(notRequester === true ? ["not whoever asked for the run"] : []),
    ...(times === undefined
      ? []
      : [
          `reminds after ${afterMs / 1000} s${times === 1 ? "" : `, ${times} times, every ${(everyMs ?? afterMs) / 1000} s`}`,
        ]),
    ...(escalation === undefined
      ? []
      : [
          `after ${escalation.afterMs / 1000} s ${escalation.replaces === true ? "only " : ""}for ${escalation.to.join(", ")}`,
        ]),
  ];
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
    says: step.says,
    place: step.place,
    after: step.after ?? [],
    ...(each === undefined ? {} : { fan_out: explainFanOut(each, places) }),
    ...(step.when === undefined ? {} : { when: step.whenWritten ?? show(step.when) }),
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
      const fields = Object.entries(wait.match ?? {}).map(([path, expr]) => `${path} = ${showExpr(expr, places)}`);
      const which = fields.length === 0 ? "" : ` with ${fields.join(", ")}`;
      return `for the event ${showExpr(wait.name, places)}${which}${limit}`;
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
    ...unlessEmpty("people", explainPeople(step)),
  };
}

function explainTransition(
  { on, when, written, to }: Transition,
  places: KnownPlaces,
): NonNullable<StepExplanation["transitions"]>[number] {
  return {
    on,
    ...(when === undefined ? {} : { when: written ?? showExpr(when, places) }),
    ...(typeof to === "string" ? { to } : { to: `end (${to.end})`, ends: to.end }),
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

/** The place where `liftControls` has put the value that a control expression reads. */
interface KnownPlaces {
  readonly input: { readonly [key: string]: Expr } | undefined;
  /** Steps as seen from the expression: own flow first, then outwards. */
  findStep(id: string): Step | undefined;
}

/** An expression in a line that people can read. For showing only: it is no dialect and is never parsed. */
function showExpr(expr: Expr, places: KnownPlaces): string {
  const show = (inner: Expr) => showExpr(inner, places);
  switch (expr.op) {
    case "literal":
      return writeExact(expr.value);
    case "path":
      return showPath(expr);
    case "text":
      return expr.parts.map((part) => (typeof part === "string" ? part : `{${showExpr(part.value, places)}}`)).join("");
    case "object":
      return `{${Object.entries(expr.entries)
        .map(([name, entry]) => `${name}: ${show(entry)}`)
        .join(", ")}}`;
    case "list":
      return `[${expr.items.map(show).join(", ")}]`;
    case "not":
      return `not (${show(expr.of)})`;
    case "and":
    case "or":
      return expr.of
        .map((part) => (part.op === "and" || part.op === "or" ? `(${show(part)})` : show(part)))
        .join(` ${expr.op} `);
    case "compare":
      return `${show(expr.left)} ${expr.by} ${show(expr.right)}`;
    case "defined":
      return `${show(expr.of)} is there`;
    case "if":
      return `${show(expr.of)} ? ${show(expr.yes)} : ${show(expr.no)}`;
    case "first":
      return payloadOf(expr.of) ?? `first of (${expr.of.map(show).join(", ")})`;
    case "index":
      return `${show(expr.of)}[${show(expr.at)}]`;
    case "call":
      return `${expr.fn}(${expr.args.map(show).join(", ")})`;
    case "map":
    case "filter":
      return `${expr.op}(${show(expr.list)}, ${expr.as} -> ${show(expr.body)})`;
    case "reduce":
      return `reduce(${show(expr.list)}, (${expr.into}, ${expr.as}) -> ${show(expr.body)}, ${show(expr.first)})`;
    case "known":
      return showKnown(expr, places);
  }
}

/** The payload of a UHLP request, wherever it stands. */
function payloadOf([first, ...others]: readonly Expr[]): string | undefined {
  if (others.length === 0 || first?.op !== "path" || first.root !== "input") return undefined;
  const [details, payload, ...path] = first.path;
  return details === "requestData" && payload === "payload"
    ? showPath({ ...first, root: "run", path }).replace(/^run/, "trigger.payload")
    : undefined;
}

function showKnown({ step, key }: Extract<Expr, { op: "known" }>, places: KnownPlaces): string {
  const project = step === "" ? places.input : places.findStep(step)?.project;
  const lifted = project !== undefined && Object.hasOwn(project, key) ? project[key] : undefined;
  if (lifted === undefined) return `${step || "input"}.${key}`;
  const text = showExpr(lifted, places);
  // At its home the value was just `output`; from here it has a name.
  return step === "" ? text : text.replaceAll(/\boutput\b/g, `steps.${step}.output`);
}

function showPath({ root, name, path }: PathExpr): string {
  const start =
    root === "steps" ? `steps.${name ?? ""}.output` : root === "local" ? (name ?? "") : rootName(root, name);
  return path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${key}`), start);
}

function rootName(root: PathExpr["root"], name: string | undefined): string {
  return name === undefined ? root : `${root}.${name}`;
}
