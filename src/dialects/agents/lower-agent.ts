import type { Json, JsonObject } from "../../core/json.ts";
import type { AgentDefinition, AgentSettingName, ModelDefinition, Setting } from "./agents-file.ts";

/** An agent's settings together with those of its `llm` component, which stand behind its own. */
export interface EffectiveSetting extends Setting {
  readonly name: AgentSettingName;
  /** The component that it comes from. */
  readonly model?: string;
}

export function effectiveSettings(
  agent: AgentDefinition,
  models: readonly ModelDefinition[],
): readonly EffectiveSetting[] {
  const model = models.find(({ name }) => name === agent.modelId?.name);
  const behind = [...(model?.settings ?? [])].filter(([name]) => !agent.settings.has(name));
  return [
    ...[...agent.settings].map(([name, setting]): EffectiveSetting => ({ name, ...setting })),
    ...behind.map(([name, setting]): EffectiveSetting => ({ name, ...setting, model: model?.name ?? "" })),
  ];
}

/** An agent for the executor. Its time-out is the step's. */
export function lowerAgent(agent: AgentDefinition, models: readonly ModelDefinition[]): JsonObject {
  const settings = effectiveSettings(agent, models).filter(({ name }) => name !== "timeout");
  return Object.fromEntries<Json>([["name", agent.name], ...settings.map(({ name, value }) => [name, value] as const)]);
}

export function timeoutOf(agent: AgentDefinition): number | undefined {
  const seconds = agent.settings.get("timeout")?.value;
  return typeof seconds === "number" ? Math.max(1, Math.round(seconds * 1_000)) : undefined;
}

export function maxCostOf(agent: AgentDefinition): number | undefined {
  const usd = agent.settings.get("max_cost_usd")?.value;
  return typeof usd === "number" ? Math.round(usd * 1_000_000) : undefined;
}
