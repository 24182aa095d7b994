import type { JsonObject } from "../../core/json.ts";
import { suggest } from "../did-you-mean.ts";
import type { MapReader } from "../map-reader.ts";
import { toExcerpt } from "../source/printable.ts";
import type { ParseContext, StepDefaults } from "./parse-context.ts";
import { parseTemplate, type Template } from "./template.ts";
import type { AgentBody, AgentCall } from "./workflow.ts";

/** A `standard` step: one call of an agent. */
export function parseAgent(step: MapReader, defaults: StepDefaults, context: ParseContext): AgentBody {
  const outputSchema = parseOutputSchema(step, context);
  const tools = parseTools(step, context);
  const call: AgentCall = {
    prompt: parsePrompt(step, context),
    model: step.text("model")?.value ?? defaults.model,
    maxTurns: step.number("max_turns", { min: 1, max: 10_000, integer: true }) ?? defaults.maxTurns,
    timeoutMs: defaults.timeoutMs,
    outputSchema,
    tools,
  };
  const rule = step.choice("context", ["auto", "explicit"]);
  return { type: "agent", call, appendsContext: rule === undefined ? defaults.appendsContext : rule === "auto" };
}

export function parseOutputSchema(step: MapReader, context: ParseContext): JsonObject | undefined {
  const schema = step.object("output_schema");
  if (schema !== undefined) context.schemas.push({ key: "output_schema", at: schema.at, schema: schema.value });
  return schema?.value;
}

const BUILT_IN_TOOLS = ["web_fetch", "web_search", "files", "bash"];

/** Of Pawl itself by name, of MCP servers as `server.tool` or `server.*`. Others are of programs that are not here. */
function parseTools(step: MapReader, { problems }: ParseContext): readonly string[] | undefined {
  const names = step.list("tools")?.items.flatMap((node) => step.asText(node, "tools") ?? []);
  return names?.flatMap(({ value, at }) => {
    if (BUILT_IN_TOOLS.includes(value) || /^[^.\s]+\.\S+$/.test(value)) return [value];
    const message = `\`${toExcerpt(value)}\` is no tool here and is ignored; there are ${BUILT_IN_TOOLS.join(", ")}.`;
    const remedy = suggest(value, BUILT_IN_TOOLS) ?? "Write a tool of an MCP server as `server.tool`, or `server.*`.";
    problems.warning({ code: "VALUE_INVALID", at, message, remedy });
    return [];
  });
}

function parsePrompt(step: MapReader, context: ParseContext): Template {
  const prompt = step.text("prompt");
  const isMissing = prompt === undefined ? !step.has("prompt") : prompt.value.trim() === "";
  if (isMissing) reportMissing(step, context);
  return prompt === undefined ? { parts: [] } : parseTemplate(prompt, context);
}

function reportMissing(step: MapReader, { problems }: ParseContext): void {
  const type = step.has("sub_workflow") ? "sub_workflow" : step.has("approval_config") ? "approval" : undefined;
  const remedy = type === undefined ? "Add `prompt:`." : `Add \`type: ${type}\`, or a prompt.`;
  problems.error({ code: "KEY_MISSING", at: step.at("prompt"), message: "The step has no `prompt`.", remedy });
}
