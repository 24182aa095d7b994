import { toExcerpt } from "../source/printable.ts";
import type { AgentSettingName, ModelDefinition, Setting } from "./agents-file.ts";
import type { Component } from "./component.ts";
import { readName } from "./component-name.ts";
import { LooseReader } from "./loose-reader.ts";
import { readModelSettings } from "./parse-agent.ts";
import type { ParseContext } from "./parse-context.ts";

/** An `llm` component: what several agents say of their model in one place. */
export function parseModel(component: Component, context: ParseContext): ModelDefinition | undefined {
  const named = readName(component, { what: "LLM", keys: ["name", "llm_id"] }, context);
  const reader = new LooseReader(component.map, `llm '${toExcerpt(named?.name ?? "")}'`, context);
  const { keys } = reader;
  keys.ignore("name", "llm_id", "type", "description");
  const settings = new Map<AgentSettingName, Setting>();
  const provider = reader.text("provider")?.value.trim();
  for (const [name, setting] of readModelSettings(reader)) if (setting !== undefined) settings.set(name, setting);
  const modelName = reader.text("model_name");
  const model = settings.get("model") ?? (modelName && reader.setting(modelName.value, modelName.at));
  if (model !== undefined) settings.set("model", { ...model, value: withProvider(String(model.value), provider) });
  const prompt = reader.text("system_prompt") ?? reader.text("default_system_prompt");
  if (prompt !== undefined) settings.set("system_prompt", reader.setting(prompt.value, prompt.at));
  keys.reportUnknownKeys("an llm", IN_CONFIGURATION);
  return named === undefined ? undefined : { ...named, settings };
}

const ELSEWHERE = "Keys and addresses of providers belong under `models.providers` in `pawl.yaml`.";
const IN_CONFIGURATION = new Map(
  ["api_key", "api_key_env_var", "api_base", "base_url", "api_version"].map((key) => [key, ELSEWHERE]),
);

/** Providers that go by another name here. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["gemini", "google"],
  ["vertex_ai", "google"],
]);

/** `provider:model`; some files repeat the provider in the model, as `provider/model`. */
function withProvider(model: string, provider: string | undefined): string {
  if (provider === undefined || provider === "") return model;
  const known = PROVIDERS.get(provider) ?? provider;
  const bare = model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
  return bare.startsWith(`${known}:`) ? bare : `${known}:${bare}`;
}
