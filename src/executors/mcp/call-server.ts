import type { JsonObject } from "../../core/json.ts";
import type { Outcome, Task } from "../../ports/executor.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import type { McpServers, ToolAnswer } from "../mcp-servers/mcp-servers.ts";
import { findResultFlaws } from "../mcp-servers/result-check.ts";
import { checkArguments, toDetails } from "../mcp-servers/server-tool.ts";
import { toFailed } from "../output/failure.ts";
import { redactOutcome } from "../output/redact.ts";
import { describeViolations } from "../output/violations.ts";
import type { McpInput } from "./mcp-input.ts";
import { readError, readResult } from "./read-result.ts";

interface ServerCallParts {
  readonly task: Task;
  readonly input: McpInput;
  readonly servers: McpServers;
  readonly validators: JsonSchemas;
}

const MAX_ERROR_CHARS = 4_000;

/** Calls a tool of a configured server and makes its result the step's outcome. Throws an `McpFailure`. */
export async function callServer(
  address: { readonly server: string; readonly tool: string },
  { task, input, servers, validators }: ServerCallParts,
  signal: AbortSignal,
): Promise<Outcome> {
  const answer = await servers.call(
    {
      ...address,
      arguments: input.arguments,
      meta: toMeta(task, input),
      timeoutMs: task.timeoutMs,
      check: (tool) => checkArguments(tool, input.arguments, validators),
      onProgress: ({ progress, total, message }) => {
        const event = {
          type: "progress",
          progress,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        };
        task.emit({ type: "log", event });
      },
    },
    signal,
  );
  return redactOutcome(await toOutcome(answer, { task, validators }), answer.redactor);
}

/** Servers that know these keys can make an effect happen once, and find a call again in their logs. */
function toMeta(
  task: Task,
  {
    address: {
      context: { requestId, traceId },
    },
  }: McpInput,
): JsonObject {
  return {
    "pawl/idempotency-key": task.idempotencyKey,
    "pawl/run-id": task.runId,
    ...(requestId === undefined ? {} : { "pawl/request-id": requestId }),
    ...(traceId === undefined ? {} : { "pawl/trace-id": traceId }),
    // W3C trace context: nothing but its own form may stand there.
    ...(traceId !== undefined && TRACEPARENT.test(traceId) ? { traceparent: traceId } : {}),
    ...(task.traceParent === undefined ? {} : { traceparent: task.traceParent }),
  };
}

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

async function toOutcome(
  { tool, result, warnings }: ToolAnswer,
  { task, validators }: { readonly task: Task; readonly validators: JsonSchemas },
): Promise<Outcome> {
  const warn = (message: string) => task.emit({ type: "log", event: { type: "warning", message } });
  for (const warning of warnings) warn(`The MCP server "${tool.server}": ${warning}.`);
  if (result.isError === true) {
    const { message, details } = readError(result);
    return toFailed("MCP_TOOL_FAILED", {
      message: message.slice(0, MAX_ERROR_CHARS),
      retryable: true,
      effect: "unknown",
      isAnswered: true,
      costMicro: 0,
      ...(details === undefined ? {} : { details }),
    });
  }
  const { output, files, flaw } = readResult(result);
  const violations = await findResultFlaws(tool, result, { validators, warn });
  if (violations.length === 0 && flaw === undefined)
    return { status: "succeeded", output, costMicro: 0, ...(files.length > 0 ? { files } : {}) };
  const why = flaw ?? `does not fit its own schema: ${describeViolations(violations)}`;
  const message = `The result of \`${tool.server}.${tool.name}\` ${why}.`;
  return toFailed("MCP_RESULT_INVALID", {
    message,
    retryable: tool.isRepeatable,
    effect: "done",
    isAnswered: true,
    costMicro: 0,
    details: toDetails(violations),
  });
}
