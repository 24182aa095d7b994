import type { Expr } from "../../../core/expressions/expr.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isTerminalTool } from "../../../ports/terminals/terminal-tools.ts";
import type { NeededFile } from "../../definition.ts";
import type { Text } from "../../shape/shape.ts";
import type { CodeBody, ModelBody, StepDefinition, ToolBody, WorkBody } from "../workflow.ts";
import { type Doing, effortOf } from "./doing.ts";
import { literal, lowerInputs, toObject, type ValueScope } from "./lower-value.ts";

/** A task, with what its executor gets. */
export function lowerWork(step: StepDefinition, body: WorkBody, scope: ValueScope): Doing {
  const effort = effortOf(step);
  switch (body.type) {
    case "jit":
      return { ...effort, kind: "task", executor: "code", input: lowerCode(body, scope) };
    case "llm":
      return { ...effort, kind: "task", executor: "llm", input: lowerModel(body, scope) };
    case "mcp":
      return (
        lowerTerminal(body, effort, scope) ?? {
          ...effort,
          kind: "task",
          executor: "mcp",
          input: lowerTool(body, scope),
        }
      );
  }
}

const PREFIX = "core.terminal.";

/** The tools of terminals are called by who holds the terminals: a session belongs to the run, and no server is between. */
function lowerTerminal({ tool, input }: ToolBody, effort: ReturnType<typeof effortOf>, scope: ValueScope) {
  const name = tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : "";
  if (!isTerminalTool(name)) return undefined;
  // Nobody knows how much of a text was typed before a crash.
  const once = name === "send_input" ? { atMostOnce: true } : {};
  const bound = withFixed({ tool: name }, ["params", lowerInputs(input, scope)]);
  return { ...effort, ...once, kind: "task" as const, executor: "terminal", input: bound };
}

function lowerCode({ script, language, function: name, network, limits, input }: CodeBody, scope: ValueScope): Expr {
  needFile("script", script, scope);
  return withFixed(
    {
      language,
      script: script.value,
      ...(name === undefined ? {} : { function: name }),
      ...(network === undefined ? {} : { network }),
      ...(limits === undefined ? {} : { limits }),
    },
    ["input", lowerInputs(input, scope)],
  );
}

function lowerModel({ prompt, promptTemplate, options, input }: ModelBody, scope: ValueScope): Expr {
  if (promptTemplate !== undefined) needFile("prompt", promptTemplate, scope);
  return withFixed(
    {
      ...(prompt === undefined ? {} : { prompt }),
      ...(promptTemplate === undefined ? {} : { promptTemplate: promptTemplate.value }),
      ...options,
    },
    ["input", lowerInputs(input, scope)],
  );
}

function lowerTool({ tool, server, input }: ToolBody, scope: ValueScope): Expr {
  return withFixed(
    { tool, ...(server === undefined ? {} : { server }) },
    ["arguments", lowerInputs(input, scope)],
    ["context", REQUEST_CONTEXT],
  );
}

/** What a tool endpoint is told about the request. What the request does not have is left out. */
const REQUEST_CONTEXT = toObject([
  ["appId", ofInput("context", "appId")],
  ["requestId", ofInput("requestId")],
  ["traceId", ofInput("context", "traceId")],
  ["endpoint", ofInput("context", "mcp_endpoint")],
]);

function ofInput(...path: readonly string[]): Expr {
  return { op: "path", root: "input", path, readsJson: true };
}

function withFixed(fixed: JsonObject, ...computed: readonly (readonly [string, Expr])[]): Expr {
  return toObject([...Object.entries(fixed).map(([name, value]) => [name, literal(value)] as const), ...computed]);
}

function needFile(kind: NeededFile["kind"], { value, at }: Text, { context }: ValueScope): void {
  context.files.push({ kind, path: value, at: context.source.place(at) });
}
