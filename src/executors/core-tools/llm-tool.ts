import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Outcome } from "../../ports/executor.ts";
import type { CallingStep } from "../../ports/tool-set.ts";
import { APP_ID, anything, type CoreTool, count, objectOf, text, textOf } from "./core-tool.ts";

interface GenerateRequest {
  readonly prompt: string;
  readonly model?: string;
  readonly parameters?: JsonObject;
  readonly outputFormat?: string;
  readonly outputSchema?: JsonObject;
}

/** One model call, for a step or for nobody known. Its output is `{completion, metrics: {token_usage: {...}}}`. */
export type Generate = (request: GenerateRequest, signal: AbortSignal, step?: CallingStep) => Promise<Outcome>;

/** `core.llm.generate`. */
export function llmTool(generate: Generate): CoreTool {
  const usage = objectOf({ prompt: count("Tokens."), completion: count("Tokens."), total: count("Tokens.") }, [
    "prompt",
    "completion",
    "total",
  ]);
  return {
    name: "core.llm.generate",
    title: "Ask a language model",
    description: "Sends one prompt to a configured model and returns its answer with the tokens used.",
    inputSchema: objectOf(
      {
        ...APP_ID,
        prompt: text("What the model is asked."),
        model: text("`provider:model` or an alias; the configured one where it is left out."),
        parameters: { type: "object", description: "For the model, for example `temperature`." },
        output_format: { type: "string", enum: ["text", "json", "xml", "yaml"] },
        output_schema: { type: "object", description: "A JSON Schema that the answer must fit." },
      },
      ["prompt"],
    ),
    outputSchema: objectOf(
      {
        completion: anything("The answer: text, or what it was parsed to."),
        metrics: objectOf({ token_usage: usage }, ["token_usage"]),
      },
      ["completion", "metrics"],
    ),
    hints: { readOnly: true, destructive: false, idempotent: false, openWorld: true },
    run: (args, call, signal) => generate(toRequest(args), signal, call.step),
  };
}

function toRequest(args: JsonObject): GenerateRequest {
  const { model, parameters, output_format: outputFormat, output_schema: outputSchema } = args;
  return {
    prompt: textOf(args, "prompt"),
    ...(typeof model === "string" ? { model } : {}),
    ...(isJsonObject(parameters) ? { parameters } : {}),
    ...(typeof outputFormat === "string" ? { outputFormat } : {}),
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
  };
}
