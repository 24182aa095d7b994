import type { Expr } from "../../../core/expressions/expr.ts";
import type { Step, Transition, Wait } from "../../../core/graph/graph.ts";
import { NO_STATUS, toHttpStatus } from "../../../core/http-status.ts";
import { toMilliseconds } from "../../../core/iso-time.ts";
import { refuseLate, refuseQuorum } from "../../answer-rules.ts";
import { call, isEqualTo, literal, output, outputOf, toObject } from "../../build-expr.ts";
import type { YamlMap, YamlNode, YamlScalar } from "../../source/yaml-node.ts";
import { toSources } from "../shape/control-shape.ts";
import type { ControlBody, ControlOf, StepDefinition } from "../shape/step-shape.ts";
import type { PlanBlock } from "./flow-plan.ts";
import { attemptsOf, type Doing, effortOf, freeId, UNREADABLE } from "./lower-context.ts";
import { lowerLeaving, lowerLoop, lowerParallel, lowerWhile } from "./lower-fan-out.ts";
import { lowerSplit } from "./lower-split.ts";
import { lowerInputs, lowerName, lowerValue, type ValueScope } from "./lower-value.ts";

/** Control steps as compositions of the steps that the core knows. */
export function lowerControl(step: StepDefinition, body: ControlBody, scope: ValueScope, planBlock: PlanBlock): Doing {
  switch (body.subtype) {
    case "formatResponse":
      return lowerResponse(body, scope);
    case "fail":
      return lowerFail(body, scope);
    case "loop":
      return lowerLoop(step, body, scope, planBlock);
    case "while":
      return lowerWhile(step, body, scope, planBlock);
    case "break":
    case "continue":
      return lowerLeaving(step, body.subtype, scope);
    case "parallel":
      return lowerParallel(step, body, scope, planBlock);
    case "branch":
      return { kind: "set" };
    case "split":
      return lowerSplit(step, body, scope, planBlock);
    case "set":
      return lowerSet(body, scope);
    case "merge":
      return { kind: "set", value: lowerMerge(body, scope) };
    case "emit":
      return lowerEmit(body, scope);
    case "start":
      return lowerStart(body, scope);
    case "wait":
      return { kind: "wait", wait: lowerWait(body, scope) };
    case "approval":
      return lowerApproval(body, scope);
    case "subworkflow":
      return lowerCall(body, scope);
    case "try":
      return lowerTry(step, body, scope, planBlock);
  }
}

/** In a block it is the block's output: what it answers with is up to the steps around. */
function lowerResponse({ resultType, data, inputMapping }: ControlOf<"formatResponse">, scope: ValueScope): Doing {
  const type = resultType ?? readResultType(inputMapping);
  const shaped = lowerValue(data ?? inputMapping, { ...scope, takesPlainText: true });
  if (type === "httpResponse" || type === "error") refuseOddStatus(data ?? inputMapping, shaped, scope);
  const value = toObject([
    ["resultType", literal(type)],
    ["data", orNull(shaped)],
  ]);
  return { kind: scope.flow.owners.length === 0 ? "respond" : "set", value };
}

/** A status that is written as it is; one that is computed is looked at when the route answers. */
function refuseOddStatus(node: YamlNode | undefined, value: Expr | undefined, { context }: ValueScope): void {
  const at = node?.kind === "map" ? node.entries.get("statusCode")?.value : undefined;
  const status = value?.op === "object" ? value.entries["statusCode"] : undefined;
  refuseStatus(at, status, { context });
}

function refuseStatus(
  at: YamlNode | undefined,
  status: Expr | undefined,
  { context }: Pick<ValueScope, "context">,
): void {
  if (at === undefined || status?.op !== "literal" || status.value === null) return;
  if (toHttpStatus(status.value) !== undefined) return;
  context.problems.error({
    code: "VALUE_INVALID",
    at,
    message: `${NO_STATUS}.`,
    remedy: "Write one, for example 404.",
  });
}

/** In a block it fails the block: the steps around may answer for it. */
function lowerFail({ code, message, details, status }: ControlOf<"fail">, scope: ValueScope): Doing {
  const own = details && lowerValue(details, { ...scope, takesPlainText: true });
  refuseOddStatus(details, own, scope);
  const statusCode = status && lowerValue(status, scope);
  refuseStatus(status, statusCode, scope);
  const said =
    statusCode === undefined ? own : call("merge", own ?? toObject([]), toObject([["statusCode", statusCode]]));
  const input = toObject([
    ["code", literal(code ?? "")],
    ["message", lowerValue(message, { ...scope, takesPlainText: true })],
    ["details", said],
  ]);
  return { kind: "task", executor: "fail", input };
}

/** The values are made at once and are the output, from which the variables are set. */
function lowerSet({ variables }: ControlOf<"set">, scope: ValueScope): Doing {
  const entries = [...(variables?.entries ?? [])].map(([name, { value }]) => [name, lowerValue(value, scope)] as const);
  return toSet(Object.fromEntries(entries));
}

export function toSet(variables: { readonly [name: string]: Expr }): Extract<Doing, { kind: "set" }> {
  return {
    kind: "set",
    value: toObject(Object.entries(variables).map(([name, value]) => [name, orNull(value)])),
    assign: Object.fromEntries(Object.keys(variables).map((name) => [name, output(name)])),
  };
}

/** Real files write it there as well, as they write texts in expressions: in quotes of its own. */
function readResultType(mapping: YamlMap | undefined): string {
  const node = mapping?.entries.get("resultType")?.value;
  const text = node?.kind === "scalar" && typeof node.value === "string" ? node.value : "";
  return text === "" ? "generic" : text.replace(/^'(.*)'$/, "$1");
}

/** A path that leads nowhere would leave its key out. */
function orNull(value: Expr): Expr {
  const isThere = value.op === "literal" || value.op === "object" || value.op === "list";
  return isThere ? value : { op: "first", of: [value, literal(null)] };
}

function lowerMerge({ strategy, key, ...read }: ControlOf<"merge">, scope: ValueScope): Expr {
  const { nodes, names } = read.sources ?? toSources(read.inputMapping);
  const values = nodes.map((source) => lowerValue(source, scope));
  switch (strategy) {
    case "append":
      return call("concat", ...values);
    case "object":
      if (names === undefined) return call("merge", ...values);
      return toObject(values.map((value, index) => [names[index] ?? "", value]));
    case "byKey":
      return call("mergeBy", { op: "list", items: values }, literal(key?.value ?? ""));
  }
}

function lowerEmit({ event, payload }: ControlOf<"emit">, scope: ValueScope): Doing {
  if (event === undefined) return UNREADABLE;
  const name = lowerName(event.at, scope);
  if (name.op === "literal" && scope.context.startedBy.has(String(name.value))) {
    const message = `The event \`${String(name.value)}\` starts this workflow, which would start itself without an end.`;
    scope.context.problems.error({ code: "VALUE_INVALID", at: event.at, message, remedy: "Send another event." });
  }
  const sent = toObject([
    ["event", name],
    ["payload", lowerValue(payload, scope)],
  ]);
  return toTool("core.events.publish", sent);
}

function lowerStart(body: ControlOf<"start">, scope: ValueScope): Doing {
  if (body.workflowId === undefined) return UNREADABLE;
  const workflow = lowerName(body.workflowId.at, scope);
  const started = toObject([
    ["workflow", workflow],
    ["input", lowerInputs(body, scope)],
  ]);
  return toTool("core.workflows.start", started);
}

function toTool(tool: string, given: Expr): Doing {
  const input = toObject([
    ["tool", literal(tool)],
    ["arguments", given],
  ]);
  return { kind: "task", executor: "mcp", input };
}

function lowerWait({ duration, until, event, match, timeout: timeoutMs }: ControlOf<"wait">, scope: ValueScope): Wait {
  if (match !== undefined && event === undefined) {
    const message = "`match` says which event is meant, and the step waits for none.";
    scope.context.problems.error({
      code: "VALUE_INVALID",
      at: match,
      message,
      remedy: "Add `event`, or leave `match` out.",
    });
  }
  if (until !== undefined) return { for: "instant", at: lowerInstant(until.at, scope) };
  if (event !== undefined) {
    const name = lowerName(event.at, scope);
    const timeout = timeoutMs === undefined ? {} : { timeoutMs };
    if (match === undefined) return { for: "event", name, ...timeout };
    if (name.op !== "literal" || scope.context.startedBy.has(String(name.value))) refuseMatch(event.at, name, scope);
    const values = [...match.entries].map(([field, { value }]) => [field, lowerValue(value, scope)] as const);
    return { for: "event", name, match: Object.fromEntries(values), ...timeout };
  }
  return { for: "duration", durationMs: duration === undefined ? literal(0) : lowerDuration(duration, scope) };
}

/** Who sends the event knows its name, and whether it starts a run or is for one. */
function refuseMatch(at: YamlNode, name: Expr, { context }: ValueScope): void {
  const isComputed = name.op !== "literal";
  const message = isComputed
    ? "The name of an event that is known by its fields cannot be computed."
    : `Each event \`${String(name.value)}\` starts a run of this workflow, and would be for one that waits too.`;
  const remedy = isComputed
    ? "Write its name, and put what is computed into `match`."
    : "Give what starts the workflow another name than what it waits for.";
  context.problems.error({ code: "VALUE_INVALID", at, message, remedy });
}

function lowerApproval(body: ControlOf<"approval">, scope: ValueScope): Doing {
  const { message, show, form, timeout, onTimeout, approvers, quorum, notRequester, reminder, escalation } = body;
  refuseLate(body, timeout, scope.context.problems);
  if (form !== undefined) refuseQuorum(body.at, quorum, scope.context.problems);
  return {
    kind: "approve",
    message: lowerValue(message, { ...scope, takesPlainText: true }),
    ...(show === undefined ? {} : { show: orNull(lowerValue(show, scope)) }),
    ...(form === undefined ? {} : { allowEdit: true, schema: form }),
    ...(approvers === undefined ? {} : { approvers: approvers.map(({ value }) => value) }),
    ...(quorum === undefined ? {} : { quorum }),
    ...(notRequester ? { notRequester } : {}),
    reminder,
    escalation,
    ...(timeout === undefined
      ? {}
      : { approvalTimeoutMs: timeout, onApprovalTimeout: onTimeout === "skip" ? "skip" : "abort" }),
  };
}

function lowerDuration(duration: YamlScalar, scope: ValueScope): Expr {
  const { value } = duration;
  const durationMs = typeof value === "boolean" ? undefined : toMilliseconds(value);
  if (durationMs !== undefined && durationMs > LONGEST_MS) {
    const message = "The step would wait for more than three years.";
    scope.context.problems.error({ code: "VALUE_INVALID", at: duration, message, remedy: "Wait less long." });
  }
  if (durationMs !== undefined) return literal(durationMs);
  if (isNegative(value)) {
    const message = "A duration cannot be negative.";
    scope.context.problems.error({ code: "VALUE_INVALID", at: duration, message, remedy: "Write 0 or more." });
    return literal(0);
  }
  return call("toMilliseconds", lowerValue(duration, scope));
}

/** Numbers have been reported with the structure. */
function isNegative(value: YamlScalar["value"]): boolean {
  return typeof value === "string" && /^\s*-\s*(\d+|(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?)\s*$/.test(value);
}

const LONGEST_MS = 3 * 366 * 24 * 3_600_000;

function lowerInstant(until: YamlScalar, scope: ValueScope): Expr {
  const text = String(until.value).trim();
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return lowerValue(until, scope);
  if (Number.isNaN(Date.parse(text))) {
    const message = "`until` must be a time such as `2026-05-01T09:00:00Z`.";
    scope.context.problems.error({ code: "VALUE_INVALID", at: until, message, remedy: "Write it in ISO 8601." });
  }
  return literal(text);
}

function lowerCall(body: ControlOf<"subworkflow">, scope: ValueScope): Doing {
  if (body.workflowId === undefined) return UNREADABLE;
  const workflow = lowerName(body.workflowId.at, scope);
  const call: Doing = { ...effortOf(body), kind: "call", workflow, input: lowerInputs(body, scope) };
  return body.failOnError ? failOnError(call, scope) : call;
}

/** A flow of the call, and of a step that fails where the called workflow has answered with an error. */
function failOnError(called: Doing, { context }: ValueScope): Doing {
  const id = freeId("called", context);
  const refused = freeId("refused", context);
  const answer = (...path: readonly string[]): Expr => ({ ...outputOf(id, ...path), readsJson: true });
  const input = toObject(["code", "message", "details"].map((name) => [name, answer("data", name)] as const));
  const isError = isEqualTo(output("resultType"), literal("error"));
  const transitions: readonly Transition[] = [
    { on: "success", when: isError, to: refused },
    { on: "success", to: { end: "success" } },
  ];
  const steps: readonly Step[] = [
    { ...called, id, transitions },
    { id: refused, kind: "task", executor: "fail", input },
  ];
  return { kind: "flow", flow: { kind: "machine", start: id, steps } };
}

function lowerTry(step: StepDefinition, body: ControlOf<"try">, scope: ValueScope, planBlock: PlanBlock): Doing {
  const tried = body.body && planBlock(body.body, step, scope.flow);
  const visible = new Set([...scope.flow.visible, ...(tried?.ids ?? [])]);
  const flow = tried?.lower({});
  const caught = body.catch && planBlock(body.catch, step, scope.flow)?.lower({ visible, allowsError: true });
  const last = body.finally && planBlock(body.finally, step, scope.flow)?.lower({ visible });
  if (flow === undefined) return UNREADABLE;
  return { ...attemptsOf(body), kind: "flow", flow, catch: caught, finally: last };
}
