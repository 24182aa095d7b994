import type { Expr, PathExpr } from "../../../core/expressions/expr.ts";
import type { JsonObject } from "../../../core/json.ts";
import { findUndeclared } from "../../declared-names.ts";
import { didYouMean, suggest } from "../../did-you-mean.ts";
import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, type ExpressionScope, type FaultTexts, type Span, toFault } from "./expression-fault.ts";
import { FUNCTIONS } from "./functions.ts";

/** The meaning of a path, or its fault. */
export type Resolved = { readonly expr: Expr } | { readonly fault: ExpressionFault };

/** Finds where a path leads: `keys` are the fields after its first name. */
export function resolvePath(root: Key, keys: readonly Key[], scope: ExpressionScope): Resolved {
  const [first, ...rest] = keys;
  if (root.key !== "$") return resolveRoot({ root, keys, isJsonPath: false }, scope);
  if (first === undefined)
    return refuse(root, { message: "`$` alone is nothing.", remedy: "Write `$.input`, `$.context` or `$.steps.ID`." });
  return resolveRoot({ root: first, keys: rest, isJsonPath: true }, scope);
}

/** The names with which a path may begin here. */
export function visibleRoots(scope: ExpressionScope): readonly string[] {
  const { locals, allowsOutput, allowsError } = scope;
  return [
    ...locals.keys(),
    ...["trigger", "context", "steps", "workflow", ...((scope.variables?.size ?? 0) === 0 ? [] : ["vars"])],
    ...(allowsOutput ? ["step"] : []),
    ...(allowsError ? ["error"] : []),
  ];
}

interface Written {
  readonly root: Key;
  readonly keys: readonly Key[];
  /** It began with `$.`, where the older form leaves `.output` out. */
  readonly isJsonPath: boolean;
}

function resolveRoot(written: Written, scope: ExpressionScope): Resolved {
  const { root, keys, isJsonPath } = written;
  const local = scope.locals.get(String(root.key));
  if (local !== undefined) return path({ ...local, path: toPath(keys) });
  switch (root.key) {
    case "trigger":
      return resolveTrigger(keys, scope);
    case "input":
      return isJsonPath ? resolveTrigger(keys, scope) : refuseRoot(root, scope);
    case "context":
      return path({ root: "input", path: ["context", ...toPath(keys)] });
    case "steps":
      return resolveStep(written, scope);
    case "step":
      if (scope.allowsAttempt === true && keys[0]?.key === "attempt" && keys.length === 1)
        return path({ root: "failure", path: ["attempt"] });
      return scope.allowsOutput ? resolveOutput(root, keys) : refuseRoot(root, scope);
    case "error":
      return scope.allowsError ? path({ root: "error", path: toPath(keys) }) : refuseRoot(root, scope);
    case "vars":
      return resolveVariable(root, keys, scope);
    case "workflow":
      return resolveWorkflow(root, keys, scope);
    default:
      return refuseRoot(root, scope);
  }
}

function resolveTrigger(keys: readonly Key[], { payload }: ExpressionScope): Resolved {
  const inside = keys[0]?.key === "requestData" ? keys.slice(1) : keys;
  const [first, ...rest] = inside;
  if (first?.key !== "payload") return { expr: requestAt(...toPath(inside)) };
  return refuseUndeclared(rest, { schema: payload, says: "`inputSchema`" }) ?? { expr: payloadAt(toPath(rest)) };
}

interface Declared {
  readonly schema: JsonObject | undefined;
  /** What declares it, in messages. */
  readonly says: string;
}

function refuseUndeclared(keys: readonly Key[], { schema, says }: Declared): Resolved | undefined {
  const undeclared = findUndeclared(toPath(keys), schema);
  const at = undeclared && keys[undeclared.at];
  if (at === undefined) return undefined;
  const name = String(at.key);
  const message = `${says} does not declare \`${toExcerpt(name)}\`.`;
  return refuse(at, { message, remedy: suggest(name, undeclared?.known ?? []) });
}

/** Whatever the source of the request. A body is a text, and read as JSON. */
function payloadAt(rest: readonly (string | number)[]): Expr {
  const body = (details: string): Expr => {
    const text = requestAt(details, "body", ...rest);
    return rest.length > 0 ? text : { op: "first", of: [{ op: "call", fn: "parseJson", args: [text] }, text] };
  };
  const sent = [["payload"], ["queueDetails", "payload"], ["triggerDetails", "payload"]];
  const bodies = ["httpDetails", "callbackDetails"];
  return { op: "first", of: [...sent.map((at) => requestAt(...at, ...rest)), ...bodies.map(body)] };
}

function requestAt(...at: readonly (string | number)[]): Expr {
  return { op: "path", root: "input", path: ["requestData", ...at], readsJson: true };
}

function resolveStep({ root, keys, isJsonPath }: Written, { steps, outputs }: ExpressionScope): Resolved {
  const [id, output, ...rest] = keys;
  if (id === undefined)
    return refuse(root, { message: "`steps` alone is nothing.", remedy: "Write `steps.ID.output`." });
  const name = String(id.key);
  if (!steps.has(name)) return refuseStep(id, steps);
  const isOutput = output?.key === "output";
  if (isJsonPath || isOutput) {
    const inside = isOutput ? rest : keys.slice(1);
    // A failure that was handled is the output of its step.
    const schema = inside[0]?.key === "error" ? undefined : outputs?.get(name);
    const declared = { schema, says: `The output of \`${toExcerpt(name)}\`` };
    return refuseUndeclared(inside, declared) ?? path({ root: "steps", name, path: toPath(inside) });
  }
  const message = `A path to what a step has given goes through \`output\`.`;
  const isMisspelt = didYouMean(String(output?.key ?? ""), ["output"]) !== undefined;
  const fields = (isMisspelt ? rest : keys.slice(1)).map(({ key }) => String(key));
  const meant = [`steps.${name}.output`, ...fields].join(".");
  return refuse(output ?? id, { message, remedy: `Write \`${toExcerpt(meant)}\`.` });
}

function refuseStep(id: Key, steps: ReadonlySet<string>): Resolved {
  const name = String(id.key);
  const message = `There is no step \`${toExcerpt(name)}\` that can be read here.`;
  const known = [...steps].slice(0, 10).map((step) => `\`${step}\``);
  const list =
    known.length === 0 ? undefined : `Steps: ${known.join(", ")}${steps.size > known.length ? ", ..." : ""}.`;
  return refuse(id, { code: "STEP_UNKNOWN", message, remedy: suggest(name, steps) ?? list });
}

function resolveOutput(root: Key, [output, ...rest]: readonly Key[]): Resolved {
  if (output?.key === "output") return path({ root: "output", path: toPath(rest) });
  const message = "Of the step that has just run, only `step.output` can be read.";
  return refuse(output ?? root, { message, remedy: "Write `step.output...`." });
}

function resolveVariable(
  root: Key,
  [name, ...rest]: readonly Key[],
  { variables = new Set() }: ExpressionScope,
): Resolved {
  const known = String(name?.key ?? "");
  if (variables.has(known)) return path({ root: "vars", name: known, path: toPath(rest) });
  const message = name === undefined ? "`vars` alone is nothing." : `No step sets \`vars.${toExcerpt(known)}\`.`;
  const remedy = suggest(known, variables) ?? "Name it under `variables` of the workflow, or in a `set` step.";
  return refuse(name ?? root, { message, remedy });
}

const WORKFLOW_FIELDS = ["id", "name", "startTime", "runId", "lastError"];

function resolveWorkflow(root: Key, [field, ...rest]: readonly Key[], { workflowId }: ExpressionScope): Resolved {
  const [next] = rest;
  switch (field?.key) {
    case "id":
    case "name":
      return next === undefined ? { expr: { op: "literal", value: workflowId } } : refuseField(next);
    case "startTime":
      return next === undefined ? path({ root: "run", path: ["startedAt"] }) : refuseField(next);
    case "runId":
      return next === undefined ? path({ root: "run", path: ["id"] }) : refuseField(next);
    case "lastError":
      return path({ root: "vars", name: "lastError", path: toPath(rest) });
  }
  const message =
    field === undefined ? "`workflow` alone is nothing." : `\`workflow\` has no \`${toExcerpt(String(field.key))}\`.`;
  const fields = `Its fields are ${WORKFLOW_FIELDS.join(", ")}.`;
  return refuse(field ?? root, { message, remedy: suggest(String(field?.key ?? ""), WORKFLOW_FIELDS) ?? fields });
}

function refuseField(at: Key): Resolved {
  return refuse(at, { message: "A text has no fields.", remedy: "End the path before this." });
}

function refuseRoot(root: Key, scope: ExpressionScope): Resolved {
  const name = String(root.key);
  const message = `No path begins with \`${toExcerpt(name)}\` here.`;
  return refuse(root, { message, remedy: rootRemedy(name, scope) });
}

function rootRemedy(name: string, scope: ExpressionScope): string {
  const hint = ROOT_HINTS.get(name);
  if (hint !== undefined) return hint;
  const usage = FUNCTIONS.get(name)?.usage;
  if (usage !== undefined) return `\`${name}\` is a function: \`${usage}\`.`;
  const roots = visibleRoots(scope);
  return (
    suggest(name, [...roots, ...WORD_LITERALS]) ??
    `Write text in single quotes: \`'${toExcerpt(name)}'\`. Paths begin with ${roots.join(", ")}.`
  );
}

const WORD_LITERALS = ["true", "false", "null"];

const ROOT_HINTS: ReadonlyMap<string, string> = new Map([
  ["input", "Write `trigger...` or `$.input...`."],
  ["step", "Only conditions and `outputMapping` read `step.output`. Elsewhere write `steps.ID.output`."],
  ["output", "Write `step.output` or `steps.ID.output`."],
  ["error", "Only a `catch` block reads `error`. Elsewhere write `steps.ID.output.error` or `workflow.lastError`."],
  ["item", "Only the body of a loop reads its variable."],
  ["index", "Only the body of a loop reads its variable."],
  ["this", "Write the whole path, for example `steps.ID.output`."],
  ["undefined", "Write `!defined(path)`, or `null`."],
  ["None", "Write `null`."],
  ["nil", "Write `null`."],
]);

function path(to: Omit<PathExpr, "op" | "readsJson">): Resolved {
  return { expr: { op: "path", ...to, readsJson: true } };
}

function refuse(at: Span, texts: FaultTexts): Resolved {
  return { fault: toFault(at, texts) };
}

/** A step of a path that is written out, with its place. */
export interface Key extends Span {
  readonly key: string | number;
}

/** Digits are an index, as after a dot in `items.0`. */
export function toKey(text: string): string | number {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : text;
}

export function toPath(keys: readonly Key[]): readonly (string | number)[] {
  return keys.map(({ key }) => key);
}
