import type { JsonObject } from "../../core/json.ts";
import type { MapReader } from "../map-reader.ts";
import type { ParseContext, StepDefaults } from "./parse-context.ts";
import { parseTemplate, type Template } from "./template.ts";
import type { AgentBody, AgentCall } from "./workflow.ts";

/** A `standard` step: one call of an agent. */
export function parseAgent(step: MapReader, defaults: StepDefaults, context: ParseContext): AgentBody {
  const outputSchema = parseOutputSchema(step, context);
  const call: AgentCall = {
    prompt: parsePrompt(step, context),
    model: step.text("model")?.value ?? defaults.model,
    maxTurns: step.number("max_turns", { min: 1, max: 10_000, integer: true }) ?? defaults.maxTurns,
    timeoutMs: defaults.timeoutMs,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
  const rule = step.choice("context", ["auto", "explicit"]);
  return { type: "agent", call, appendsContext: rule === undefined ? defaults.appendsContext : rule === "auto" };
}

export function parseOutputSchema(step: MapReader, context: ParseContext): JsonObject | undefined {
  const schema = step.object("output_schema");
  if (schema !== undefined) context.schemas.push({ key: "output_schema", at: schema.at, schema: schema.value });
  return schema?.value;
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
