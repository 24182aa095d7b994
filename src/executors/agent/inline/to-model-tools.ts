import type { AgentTool } from "../../../ports/agent-toolbox.ts";
import type { ModelTool } from "../../models/language-model.ts";

/** What a model is told of tools, always in the same order: a provider's cache begins at the first word. */
export function toModelTools(tools: readonly AgentTool[], providers: readonly ModelTool[]): readonly ModelTool[] {
  const functions = tools.map(({ name, description, inputSchema }): ModelTool => {
    // A schema of draft 2020-12 is passed on as it is; providers read what they understand.
    const schema = (
      inputSchema["type"] === undefined ? { type: "object", ...inputSchema } : inputSchema
    ) as SchemaOf<ModelTool>;
    return { type: "function", name, description, inputSchema: schema };
  });
  return [...providers, ...functions];
}

type SchemaOf<Tool> = Tool extends { readonly inputSchema: infer Schema } ? Schema : never;
