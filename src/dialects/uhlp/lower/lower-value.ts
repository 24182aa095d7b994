import type { Expr, TextPart } from "../../../core/expressions/expr.ts";
import { childrenOf, mapChildren } from "../../../core/expressions/walk-paths.ts";
import { call, literal, toObject } from "../../build-expr.ts";
import { placeInScalar } from "../../source/place-in-scalar.ts";
import { toExcerpt } from "../../source/printable.ts";
import { toJson, type YamlMap, type YamlNode, type YamlScalar } from "../../source/yaml-node.ts";
import type { ExpressionScope } from "../expressions/expression-fault.ts";
import { parseExpression } from "../expressions/parse-expression.ts";
import { visibleRoots } from "../expressions/resolve-path.ts";
import type { FlowScope, LowerContext } from "./lower-context.ts";

/** The place of an expression, and the names that it may use there. */
export interface ValueScope {
  readonly flow: FlowScope;
  readonly context: LowerContext;
  /** `step.output` means something. */
  readonly allowsOutput?: boolean;
  /** `step.attempt` means something. */
  readonly allowsAttempt?: boolean;
  /** A text that cannot be meant as an expression is taken as text, with a warning. */
  readonly takesPlainText?: boolean;
}

const NOTHING = literal(null);

/** Texts are expressions, everything else stands for itself. What cannot be read is reported and counts as null. */
export function lowerValue(node: YamlNode | undefined, scope: ValueScope): Expr {
  if (node === undefined) return NOTHING;
  if (node.kind === "list") return { op: "list", items: node.items.map((item) => lowerValue(item, scope)) };
  if (node.kind === "map") return toObject(lowerEntries(node, scope));
  return typeof node.value === "string" ? lowerText(node, node.value, scope) : literal(node.value);
}

interface Inputs {
  readonly params: YamlMap | undefined;
  readonly inputMapping: YamlMap | undefined;
}

/** `inputMapping` over `params`, of which only texts that begin with `$.` are expressions. */
export function lowerInputs({ params, inputMapping: mapping }: Inputs, scope: ValueScope): Expr {
  const fixed = params === undefined ? [] : [...params.entries].map(([name, { value }]) => [name, value] as const);
  return toObject([
    ...fixed.map(([name, node]) => [name, lowerParam(node, scope)] as const),
    ...(mapping === undefined ? [] : lowerEntries(mapping, scope)),
  ]);
}

const VARIABLE = /\$?\$\{([A-Z_][A-Z0-9_]*)\}/g;

/**
 * The texts that stand in an expression, with `${NAME}` read from the environment when the step begins. `$${NAME}` is the text
 * `${NAME}`; names in small letters are those of templates. `noteName` is told of each name.
 */
export function withVariables(expr: Expr, noteName: (name: string) => void): Expr {
  if (expr.op !== "literal" || typeof expr.value !== "string")
    return mapChildren(expr, (child) => withVariables(child, noteName));
  const text = expr.value;
  const found = [...text.matchAll(VARIABLE)];
  if (found.length === 0) return expr;
  const parts = found.flatMap(({ 0: written, 1: name = "", index }, at): TextPart[] => {
    const before = text.slice(at === 0 ? 0 : endOf(found[at - 1]), index);
    if (written.startsWith("$$")) return [before, written.slice(1)];
    noteName(name);
    return [before, { value: { op: "path", root: "env", name, path: [] }, written }];
  });
  return { op: "text", parts: [...parts, text.slice(endOf(found.at(-1)))] };
}

function endOf(match: RegExpMatchArray | undefined): number {
  return match?.index === undefined ? 0 : match.index + match[0].length;
}

/** A name that is written as it is (`order.paid`, `child.yaml`), or an expression that gives it. */
export function lowerName(name: YamlScalar, scope: ValueScope): Expr {
  const text = String(name.value).trim();
  const isName = /^[\w@./][\w@.:/#-]*$/.test(text) && !beginsWithRoot(text, toExpressionScope(scope));
  return isName ? literal(text) : lowerValue(name, scope);
}

const PUT_IN = /(?<!\$)\$\{(?![A-Z_][A-Z0-9_]*\})([^{}]*)\}/g;

/**
 * A text with `${EXPRESSION}` in it; one without is an expression, unless it is an address. Of an address the parts are a list: what
 * is put into it, at odd places, is encoded by the executor. Variables of the environment stay for `withVariables`.
 */
export function lowerTemplate(node: YamlNode, scope: ValueScope, { isAddress = false } = {}): Expr {
  const text = node.kind === "scalar" && typeof node.value === "string" ? node.value : "";
  const isExpression = isAddress
    ? !/^(https?:\/\/|\$\{)/i.test(text.trim())
    : /^\s*['`"]/.test(text) || !text.includes("${");
  if (node.kind !== "scalar" || isExpression) return lowerValue(node, { ...scope, takesPlainText: !isAddress });
  const found = [...text.matchAll(PUT_IN)];
  if (found.length === 0) return literal(text);
  const parts = found.map(({ 0: written, 1: inner = "", index }, at): readonly [string, Expr] => {
    const before = text.slice(endOf(found[at - 1]), index);
    return [before, lowerText(node, inner, scope, index + written.indexOf("{") + 1)];
  });
  const rest = text.slice(endOf(found.at(-1)));
  if (isAddress)
    return { op: "list", items: [...parts.flatMap(([before, value]) => [literal(before), value]), literal(rest)] };
  const put = (value: Expr): TextPart => ({ value: call("coalesce", value), written: "" });
  // Literals, in which variables of the environment are found.
  return call(
    "join",
    {
      op: "list",
      items: [
        ...parts.flatMap(([before, value]): Expr[] => [literal(before), { op: "text", parts: [put(value)] }]),
        literal(rest),
      ],
    },
    literal(""),
  );
}

export function lowerTemplates(map: YamlMap | undefined, scope: ValueScope): Expr {
  return toObject([...(map?.entries ?? [])].map(([name, { value }]) => [name, lowerTemplate(value, scope)] as const));
}

/** True where the core can decide it with what it keeps of outputs; else the host computes it when the step has ended. */
export function isDecidable(condition: Expr): boolean {
  if (condition.op === "map" || condition.op === "filter" || condition.op === "reduce") return false;
  if (condition.op === "call" && condition.fn === "matches") return false;
  if (condition.op === "path" && (condition.root === "item" || condition.root === "error")) return false;
  return childrenOf(condition).every(isDecidable);
}

function lowerEntries({ entries }: YamlMap, scope: ValueScope): readonly (readonly [string, Expr])[] {
  return [...entries].map(([name, { value }]) => [name, lowerValue(value, scope)] as const);
}

function lowerParam(node: YamlNode, scope: ValueScope): Expr {
  if (node.kind === "list") return { op: "list", items: node.items.map((item) => lowerParam(item, scope)) };
  if (node.kind === "map")
    return toObject([...node.entries].map(([name, { value }]) => [name, lowerParam(value, scope)] as const));
  const isExpression = typeof node.value === "string" && node.value.startsWith("$.");
  return isExpression ? lowerValue(node, scope) : literal(toJson(node));
}

function lowerText(node: YamlScalar, text: string, scope: ValueScope, from = 0): Expr {
  const { context } = scope;
  const expressionScope = toExpressionScope(scope);
  const parsed = parseExpression(text, expressionScope);
  if (parsed.ok) {
    context.readsLastError ||= parsed.readsLastError;
    return parsed.expr;
  }
  if (scope.takesPlainText === true && isPlainText(text, expressionScope)) {
    const message = `\`${toExcerpt(text)}\` is no expression and is taken as text.`;
    const remedy = `Write it in single quotes: "'${toExcerpt(text)}'".`;
    context.problems.warning({ code: "EXPRESSION_INVALID", at: node, message, remedy });
    return literal(text);
  }
  for (const fault of parsed.faults) {
    const { code, message } = fault;
    const name = text.slice(fault.offset, fault.offset + fault.length);
    // The expression's own remedy knows only what can be read from here.
    const isElsewhere = code === "STEP_UNKNOWN" && context.stepIds.has(name);
    const remedy = isElsewhere ? READ_FROM_AROUND : fault.remedy;
    context.problems.error({
      code,
      at: placeInScalar(node, { ...fault, offset: fault.offset + from }, context.problems.source),
      message,
      remedy,
    });
  }
  return NOTHING;
}

const READ_FROM_AROUND = "It runs inside of another step: read the output of that one.";

function toExpressionScope({
  flow,
  context,
  allowsOutput = false,
  allowsAttempt = false,
}: ValueScope): ExpressionScope {
  const { visible, locals, allowsError } = flow;
  const { workflowId, payload, outputs } = context;
  return {
    steps: visible,
    locals,
    variables: context.runVariables,
    allowsOutput,
    allowsAttempt,
    allowsError,
    workflowId,
    payload,
    outputs,
  };
}

/** Several words or a path with slashes, nothing of an expression in it. */
function isPlainText(text: string, scope: ExpressionScope): boolean {
  return /[\s/]/.test(text.trim()) && !/['"`()[\]{}<>=!&|]/.test(text) && !beginsWithRoot(text, scope);
}

function beginsWithRoot(text: string, scope: ExpressionScope): boolean {
  const [first = ""] = /^[^\s.[/]*/.exec(text.trim()) ?? [];
  return first.startsWith("$") || visibleRoots(scope).includes(first);
}
