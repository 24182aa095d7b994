import type { Expr } from "../../../core/expressions/expr.ts";
import type { Json } from "../../../core/json.ts";
import { inputAt, literal, literalIfAny, toObject } from "../../build-expr.ts";
import type { NeededFile } from "../../definition.ts";
import type { Text } from "../../shape/shape.ts";
import { unsentParts } from "../../work/request.ts";
import { isTerminalTool, isTyped } from "../../work/tool-params.ts";
import type { HttpBody, WorkBody, WorkOf } from "../shape/step-shape.ts";
import { type Doing, effortOf, UNREADABLE } from "./lower-context.ts";
import {
  lowerInputs,
  lowerTemplate,
  lowerTemplates,
  lowerValue,
  type ValueScope,
  withVariables,
} from "./lower-value.ts";

/** A task, with what its executor gets. */
export function lowerWork(body: WorkBody, scope: ValueScope): Doing {
  switch (body.type) {
    case "jit":
      return lowerCode(body, scope);
    case "llm":
      return lowerModel(body, scope);
    case "mcp":
      return lowerTerminal(body, scope) ?? lowerTool(body, scope);
  }
}

/** `params` of the step win over those under its target. */
function inputsOf({ params, inputMapping, target }: WorkBody, scope: ValueScope): Expr {
  return lowerInputs({ params: params ?? target?.params, inputMapping }, scope);
}

/** The same for what is no model and keeps nothing: variables are put in when it is called. */
function inputsWithVariables(body: WorkBody, scope: ValueScope): Expr {
  return withVariables(inputsOf(body, scope), (name) => scope.context.variables.add(name));
}

/** A prompt would show them, and the tools of every application keep what they are given. */
function inputsWithoutVariables(body: WorkBody, scope: ValueScope): Expr {
  const inputs = inputsOf(body, scope);
  const at = body.params ?? body.target?.params ?? body.inputMapping;
  withVariables(inputs, (name) => {
    const message = `\`\${${name}}\` stays in the text as it is: only scripts, terminals and tools of servers are given variables.`;
    const remedy = `Write \`$\${${name}}\` if the text is meant.`;
    if (at !== undefined) scope.context.problems.warning({ code: "ENV_NOT_ALLOWED", at, message, remedy });
  });
  return inputs;
}

const PREFIX = "core.terminal.";

/** The tools of terminals are called by who holds the terminals: a session belongs to the run, and no server is between. */
function lowerTerminal(body: WorkOf<"mcp">, scope: ValueScope): Doing | undefined {
  const tool = body.target?.tool ?? "";
  const name = tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : "";
  if (!isTerminalTool(name)) return undefined;
  // After a crash it is unknown how much of a text was typed.
  const once = isTyped(name) ? { atMostOnce: true } : {};
  const input = withFixed({ tool: name }, ["params", inputsWithVariables(body, scope)]);
  return { ...effortOf(body), ...once, kind: "task", executor: "terminal", input };
}

function lowerCode(body: WorkOf<"jit">, scope: ValueScope): Doing {
  const { target } = body;
  if (target === undefined) return UNREADABLE;
  const { language, script, function: name, network, limits } = target;
  const at = name && scope.context.problems.source.place(name.at);
  needFile("script", script, scope, at && { function: { name: name.value, language, at } });
  const input = withFixed({ language, script: script.value, function: name?.value, network, limits }, [
    "input",
    inputsWithVariables(body, scope),
  ]);
  return { ...effortOf(body), kind: "task", executor: "code", input };
}

function lowerModel(body: WorkOf<"llm">, scope: ValueScope): Doing {
  const { target } = body;
  if (target === undefined) return UNREADABLE;
  const { prompt, promptTemplate, options } = target;
  if (promptTemplate !== undefined) needFile("prompt", promptTemplate, scope, { names: namesGiven(body) });
  const input = withFixed(
    { prompt: prompt?.value, promptTemplate: promptTemplate?.value, ...options },
    ["input", inputsWithoutVariables(body, scope)],
    ["context", REQUEST_CONTEXT],
  );
  return { ...effortOf(body), kind: "task", executor: "llm", input };
}

function lowerTool(body: WorkOf<"mcp">, scope: ValueScope): Doing {
  const { target } = body;
  if (target === undefined) return UNREADABLE;
  const { tool, server } = target;
  const inputs = tool?.startsWith("core.") ? inputsWithoutVariables : inputsWithVariables;
  const input = withFixed({ tool, server }, ["arguments", inputs(body, scope)], ["context", REQUEST_CONTEXT]);
  return { ...effortOf(body), kind: "task", executor: "mcp", input };
}

export function lowerRequest(body: HttpBody, scope: ValueScope): Doing {
  const { url, method, auth, expectedStatus, response, maxResponseBytes, outputSchema } = body;
  if (url === undefined) return UNREADABLE;
  refuseUnsent(body, scope);
  const given = withFixed(
    {
      method,
      expected_status: expectedStatus && [...expectedStatus],
      max_bytes: maxResponseBytes,
      output_schema: outputSchema,
      pages: body.pages?.words,
    },
    ["url", lowerTemplate(url.at, scope, { isAddress: true })],
    ["headers", lowerTemplates(body.headers, scope)],
    ["query", lowerTemplates(body.query, scope)],
    ["response", literal(response)],
    ...(body.body === undefined ? [] : [["body", lowerValue(body.body, scope)] as const]),
    ...(body.form === undefined ? [] : [["form", lowerTemplates(body.form, scope)] as const]),
    ...(auth === undefined ? [] : [["auth", lowerAuth(auth, scope)] as const]),
  );
  const input = withVariables(given, (name) => scope.context.variables.add(name));
  return { ...effortOf(body), kind: "task", executor: "http", input };
}

function refuseUnsent(body: HttpBody, { context }: ValueScope): void {
  for (const { key, ...finding } of unsentParts(body)) {
    const at = key === "pages" ? body.pages?.at : body[key];
    if (at !== undefined) context.problems.error({ code: "VALUE_INVALID", at, ...finding });
  }
}

function lowerAuth({ under, values, fixed }: NonNullable<HttpBody["auth"]>, scope: ValueScope): Expr {
  const given = Object.entries(values).map(
    ([name, node]) => [name, node && lowerTemplate(node, scope, { isAddress: name === "token_url" })] as const,
  );
  const words = toObject([...given, ["send_in", literalIfAny(fixed?.send_in)]]);
  return under === undefined ? words : toObject([[under, words]]);
}

/** Facts about the request, for tool endpoints. Those that the request does not have are left out. */
export const REQUEST_CONTEXT = toObject([
  ["appId", ofInput("context", "appId")],
  ["requestId", ofInput("requestId")],
  ["traceId", ofInput("context", "traceId")],
  ["endpoint", ofInput("context", "mcp_endpoint")],
]);

function ofInput(...path: readonly string[]): Expr {
  return { ...inputAt(...path), readsJson: true };
}

function withFixed(
  fixed: { readonly [name: string]: Json | undefined },
  ...computed: readonly (readonly [string, Expr])[]
): Expr {
  return toObject([...Object.entries(fixed).map(([name, value]) => [name, literalIfAny(value)] as const), ...computed]);
}

export function namesGiven({ params, inputMapping, target }: WorkBody): readonly string[] {
  return [params ?? target?.params, inputMapping].flatMap((map) => [...(map?.entries.keys() ?? [])]);
}

function needFile(
  kind: NeededFile["kind"],
  { value, at }: Text,
  { context }: ValueScope,
  use: Pick<NeededFile, "names" | "function"> = {},
): void {
  context.files.push({ kind, path: value, at: context.problems.source.place(at), ...use });
}
