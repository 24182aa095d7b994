import { setImmediate } from "node:timers/promises";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isDeeperThan } from "../../core/json-depth.ts";
import { MAX_JSON_DEPTH } from "../../core/parse-json.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../schemas/schema-compiler.ts";
import type { Redactor } from "../output/redact.ts";
import { toShownText } from "../output/shown-text.ts";
import { describeViolations } from "../output/violations.ts";
import { McpFailure, refusal } from "./mcp-failure.ts";

/** Throws `MCP_ARGUMENTS_INVALID` before the server is asked. If the schema cannot be used, the server judges the arguments. */
export async function checkArguments(tool: ServerTool, args: JsonObject, validators: JsonSchemas): Promise<void> {
  const schema = await validators.compile(withoutDefaulted(tool.inputSchema));
  const violations = schema.ok ? await schema.validate(args) : [];
  if (violations.length === 0) return;
  const message = `The arguments do not fit \`${tool.server}.${tool.name}\`: ${describeViolations(violations)}.`;
  throw refusal("MCP_ARGUMENTS_INVALID", message, toDetails(violations));
}

export function toDetails(violations: readonly SchemaViolation[]): JsonObject {
  return { violations: violations.map(({ path, message }) => ({ path, message })) };
}

/** Some servers list arguments as required that they fill in themselves: one with a default need not be given. */
export function withoutDefaulted(schema: JsonObject): JsonObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isJsonObject(properties)) return schema;
  const needed = required.filter((name) => {
    const property = typeof name === "string" ? properties[name] : undefined;
    return !(isJsonObject(property) && "default" in property);
  });
  return { ...schema, required: needed };
}

export interface ToolList {
  readonly tools: readonly ServerTool[];
  /** Tools that were left out, and why. */
  readonly warnings: readonly string[];
  /** What the server says of its tools as a whole: its word, as a description is. */
  readonly instructions?: string;
  /** Names that the server had at first and has no more, and those that came later. */
  readonly changed?: { readonly gone: readonly string[]; readonly late: readonly string[] };
}

/** Compiling a schema keeps all other work waiting. */
const COMPILED_AT_ONCE = 20;

/** The tools that a model can be shown, by name: providers refuse a whole request for the sake of one broken schema. */
export async function keepUsable({ tools, warnings, ...rest }: ToolList, validators: JsonSchemas): Promise<ToolList> {
  const usable: ServerTool[] = [];
  const flaws: string[] = [];
  for (const [index, tool] of tools.entries()) {
    if (index % COMPILED_AT_ONCE === COMPILED_AT_ONCE - 1) await setImmediate();
    const schema = await validators.compile(withoutDefaulted(tool.inputSchema));
    if (schema.ok) usable.push(tool);
    else flaws.push(`its tool ${writeExact(tool.name)} was left out: ${schema.message.slice(0, 300)}`);
  }
  return { ...rest, tools: usable.sort((a, b) => (a.name < b.name ? -1 : 1)), warnings: [...warnings, ...flaws] };
}

/** A tool as its server offers it. All of it is the server's word. */
export interface ServerTool {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Calling it again does no harm: it only reads, or has its effect once. */
  readonly isRepeatable: boolean;
}

export interface ToolAnswer {
  readonly tool: ServerTool;
  readonly result: CallToolResult;
  /** Tools of the server that were left out, and why. */
  readonly warnings: readonly string[];
  /** Knows the secrets that the server was given. */
  readonly redactor: Redactor;
}

export function toServerTool(server: string, tool: Tool): ServerTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    server,
    name,
    title,
    description,
    inputSchema: toSchema(inputSchema) ?? {},
    ...(outputSchema === undefined ? {} : { outputSchema: toSchema(outputSchema) ?? {} }),
    isRepeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
  };
}

const MAX_DESCRIPTION_CHARS = 8_000;

/** Says what a tool does, in the words of its server: bounded, and without control characters. */
export function describeTool({ description, title }: Pick<ServerTool, "description" | "title">): string {
  const shown = toShownText(description ?? title ?? "");
  return shown.length <= MAX_DESCRIPTION_CHARS ? shown : `${shown.slice(0, MAX_DESCRIPTION_CHARS)} [cut]`;
}

/** MCP's schemas are of draft 2020-12 where they do not say otherwise. It came as JSON, so it is JSON. */
function toSchema(schema: object): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  return "$schema" in schema ? schema : { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
}

type Block = CallToolResult["content"][number];

/** A tool's result as text for a model. Images, sounds and bytes are described. Structured content is used only if there is no text. */
export function describeContent({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(describeBlock);
  const hasText = content.some(({ type }) => type === "text" || type === "resource");
  if (structuredContent !== undefined && !hasText) texts.unshift(writeExact(structuredContent));
  // A lone half of a pair cannot be written as UTF-8.
  return texts.join("\n").toWellFormed();
}

function describeBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}, ${bytesOf(block.data)} bytes, not as text]`;
    case "resource": {
      const { resource } = block;
      const kind = resource.mimeType === undefined ? "" : `, ${resource.mimeType}`;
      if ("text" in resource) return `[resource ${resource.uri}${kind}]\n${resource.text}`;
      return `[resource ${resource.uri}${kind}, ${bytesOf(resource.blob)} bytes, not as text]`;
    }
    case "resource_link": {
      const { uri, name, mimeType, description } = block;
      const facts = [name, mimeType, description].filter((fact) => fact !== undefined && fact !== "");
      return `[link to a resource: ${uri} (${facts.join(", ")})]`;
    }
  }
}

function bytesOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/** Throws `MCP_RESULT_INVALID` for a result that nests too deeply: what redacts, checks and stores it recurses. */
export function checkDepth({ server, name, isRepeatable }: ServerTool, result: CallToolResult): void {
  // It came as JSON, whatever the SDK's type says.
  if (!isDeeperThan([result.structuredContent ?? null, result.content] as Json, MAX_JSON_DEPTH)) return;
  throw new McpFailure("MCP_RESULT_INVALID", {
    message: `The result of \`${server}.${name}\` is nested too deeply: more than ${MAX_JSON_DEPTH} levels.`,
    retryable: isRepeatable,
    effect: "done",
    isAnswered: true,
  });
}

/** How a result differs from what its tool promises. A schema that cannot be used is told to `warn`, and promises nothing. */
export async function findResultFlaws(
  { name, outputSchema }: ServerTool,
  { structuredContent }: CallToolResult,
  { validators, warn }: { readonly validators: JsonSchemas; warn?(message: string): void },
): Promise<readonly SchemaViolation[]> {
  if (outputSchema === undefined) return [];
  if (structuredContent === undefined) return [{ path: "", message: "has no structured content" }];
  const schema = await validators.compile(outputSchema);
  if (schema.ok) return schema.validate(structuredContent as Json);
  warn?.(`The output schema of ${name} cannot be used: ${schema.message}`);
  return [];
}
