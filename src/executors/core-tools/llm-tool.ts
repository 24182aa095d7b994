import { z } from "zod";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import { appId, type CoreTool, defineCoreTool, object } from "./core-tool.ts";

const tokens = z.int().min(0).describe("Tokens.");

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
        model: z.string().nullish().describe("`provider:model` or an alias; the configured one where it is left out."),
        parameters: object.nullish().describe("For the model, for example `temperature`."),
        output_format: z.enum(["text", "json", "xml", "yaml"]).nullish(),
        output_schema: object.nullish().describe("A JSON Schema that the answer must fit."),
      }),
      output: z.strictObject({
        completion: z.string().describe("The answer. A structured one as JSON."),
        metrics: z.strictObject({
          token_usage: z.strictObject({ prompt: tokens, completion: tokens, total: tokens }),
        }),
      }),
      hints: { readOnly: true, destructive: false, idempotent: false, openWorld: true },
    },
    async ({ prompt, model, parameters, output_format: outputFormat, output_schema: outputSchema }, call, signal) => {
      const request = {
        prompt,
        model: model ?? undefined,
        parameters: parameters ?? undefined,
        outputFormat: outputFormat ?? undefined,
        outputSchema: outputSchema ?? undefined,
      };
      const outcome = await generate(request, signal, call.step);
      return outcome.status === "succeeded" ? { ...outcome, output: withText(outcome.output) } : outcome;
    },
  );
}

function withText(output: Json): Json {
  if (!isJsonObject(output) || typeof output["completion"] === "string") return output;
  return { ...output, completion: writeExact(output["completion"]) };
}
