import type { CallToolResult } from "@modelcontextprotocol/client";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { readJson } from "../../core/parse-json.ts";
import type { Asks, Outcome, ProducedFile, Task } from "../../ports/executor.ts";
import type { SampledSpent } from "../../ports/tools/agent-toolbox.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import { toCallMemory } from "../mcp-servers/asking/asking-calls.ts";
import type { McpServers } from "../mcp-servers/mcp-servers.ts";
import { checkArguments, findResultFlaws, type ToolAnswer, toDetails } from "../mcp-servers/server-tool.ts";
import { toFailed } from "../output/failure.ts";
import { redactOutcome } from "../output/redact.ts";
import { extensionOf } from "../output/shown-text.ts";
import { describeViolations } from "../output/violations.ts";
import type { McpInput } from "./mcp-input.ts";

export interface ServerCallParts {
  readonly task: Task;
  readonly input: McpInput;
  readonly servers: McpServers;
  readonly validators: JsonSchemas;
  readonly generate?: Generate | undefined;
  /** A model has answered for the server. */
  paid(spent: SampledSpent): void;
}

const MAX_ERROR_CHARS = 4_000;

/** Calls a tool of a configured server and makes its result the step's outcome. Throws an `McpFailure`. */
export async function callServer(
  address: { readonly server: string; readonly tool: string },
  { task, input, servers, validators, generate, paid }: ServerCallParts,
  signal: AbortSignal,
): Promise<Outcome | Asks> {
  const answer = await servers.callAsking(
    {
      ...address,
      arguments: input.arguments,
      meta: toMeta(task, input),
      timeoutMs: task.timeoutMs,
      generate,
      memory: toCallMemory(task, "call", paid),
      repeats: task.atMostOnce === true ? "never" : "always",
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
  if ("key" in answer) return { status: "asks", ...answer, costMicro: 0 };
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

type Content = CallToolResult["content"][number];

interface ReadResult {
  readonly output: Json;
  readonly files: readonly ProducedFile[];
  /** It is JSON that cannot be kept: the end of a sentence. */
  readonly flaw?: string | undefined;
}

/** Turns a tool's result into an output: structured content, else JSON, else text. Other parts become entries of `content`, with their bytes as files. */
function readResult(result: CallToolResult): ReadResult {
  const files: ProducedFile[] = [];
  const others = result.content.filter(({ type }) => type !== "text").map((content) => describe(content, files));
  // The value came as JSON, whatever the SDK's type says.
  const structured = result.structuredContent as Json | undefined;
  if (structured !== undefined) return { output: structured, files };
  const texts = textsOf(result);
  if (others.length > 0) return { output: { text: texts.join("\n"), content: others }, files };
  const [text = "", ...more] = texts;
  return more.length > 0 ? { output: texts.join("\n"), files } : { ...toValue(text), files };
}

function readError(result: CallToolResult): {
  readonly message: string;
  readonly details: JsonObject | undefined;
} {
  const structured = result.structuredContent as Json | undefined;
  const message = textsOf(result).join("\n").trim();
  return {
    message: message === "" ? "The tool reported an error without a message." : message,
    details: isJsonObject(structured) ? structured : undefined,
  };
}

function textsOf({ content }: CallToolResult): readonly string[] {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** A number is one only where nothing is lost: `007` and 20 digits behind a point are text. */
function toValue(text: string): Pick<ReadResult, "output" | "flaw"> {
  const read = readJson(text);
  if (!read.ok) return { output: text, flaw: read.isJson ? read.flaw : undefined };
  const { value } = read;
  return { output: typeof value === "number" && String(value) !== text.trim() ? text : value };
}

function describe(content: Content, files: ProducedFile[]): JsonObject {
  switch (content.type) {
    case "image":
    case "audio": {
      const { type, mimeType } = content;
      return { type, mimeType, ...keep(files, { base64: content.data, mimeType }) };
    }
    case "resource": {
      const { uri, mimeType } = content.resource;
      const named = { type: content.type, uri, ...(mimeType === undefined ? {} : { mimeType }) };
      if ("text" in content.resource) return { ...named, text: content.resource.text };
      return { ...named, ...keep(files, { base64: content.resource.blob, mimeType: mimeType ?? "" }) };
    }
    case "resource_link": {
      const { type, uri, name, mimeType, description } = content;
      return {
        type,
        uri,
        name,
        ...(mimeType === undefined ? {} : { mimeType }),
        ...(description === undefined ? {} : { description }),
      };
    }
    case "text":
      return { type: content.type, text: content.text };
  }
}

/** The bytes go where files go; the output names the file. They are bounded by the size of a message. */
function keep(files: ProducedFile[], { base64, mimeType }: { base64: string; mimeType: string }): JsonObject {
  const name = `content-${files.length + 1}.${extensionOf(mimeType)}`;
  const content = Buffer.from(base64, "base64");
  files.push({ name, content });
  return { file: name, bytes: content.byteLength };
}
