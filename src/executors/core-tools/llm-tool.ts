import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import { anything, appId, type CoreTool, defineCoreTool } from "./core-tool.ts";

const tokens = z.int().min(0).describe("Tokens.");
const object = z.custom<JsonObject>(isJsonObject, "must be an object").meta({ type: "object" });

/** `core.llm.generate`. */
export function llmTool(generate: Generate): CoreTool {
  return defineCoreTool(
    {
      name: "core.llm.generate",
      title: "Ask a language model",
      description: "Sends one prompt to a configured model and returns its answer with the tokens used.",
      input: z.strictObject({
        ...appId,
        prompt: z.string().describe("What the model is asked."),
        model: z.string().optional().describe("`provider:model` or an alias; the configured one where it is left out."),
        parameters: object.optional().describe("For the model, for example `temperature`."),
        output_format: z.enum(["text", "json", "xml", "yaml"]).optional(),
        output_schema: object.optional().describe("A JSON Schema that the answer must fit."),
      }),
      output: z.strictObject({
        completion: anything.describe("The answer: text, or what it was parsed to."),
        metrics: z.strictObject({
          token_usage: z.strictObject({ prompt: tokens, completion: tokens, total: tokens }),
        }),
      }),
      hints: { readOnly: true, destructive: false, idempotent: false, openWorld: true },
    },
    ({ prompt, model, parameters, output_format: outputFormat, output_schema: outputSchema }, call, signal) =>
      generate({ prompt, model, parameters, outputFormat, outputSchema }, signal, call.step),
  );
}
