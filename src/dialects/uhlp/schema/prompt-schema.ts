import type { JsonObject } from "../../../core/json.ts";

/** Prompt files: what to ask a model, and how its answer must look. */
export const promptSchema: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "UHLP prompt file",
  type: "object",
  required: ["template"],
  additionalProperties: false,
  patternProperties: { "^x-": {} },
  properties: {
    description: { type: "string", description: "What the prompt is for." },
    model: {
      type: "string",
      description: "`provider:model`, an alias, or a model whose name tells its provider. A step may name another.",
      examples: ["anthropic:claude-haiku-4-5", "mock:"],
    },
    parameters: {
      type: "object",
      description: "For the model. A step may change single ones.",
      properties: {
        temperature: { type: "number" },
        max_tokens: { type: "integer", minimum: 1 },
        top_p: { type: "number" },
        top_k: { type: "number" },
        stop: { type: ["string", "array"], items: { type: "string" } },
        seed: { type: "integer" },
        presence_penalty: { type: "number" },
        frequency_penalty: { type: "number" },
        reasoning: { enum: ["none", "minimal", "low", "medium", "high", "xhigh", "max"] },
        system: { type: "string", description: "In front of the conversation." },
      },
    },
    template: {
      type: "string",
      minLength: 1,
      description: "What the model is asked, in Jinja: `Hello {{ name }}`. Names are those of the step's input.",
    },
    outputFormat: {
      enum: ["json", "text", "xml", "yaml"],
      description: "What the answer is read as. Absent: `json` where there is an `outputSchema`, else `text`.",
    },
    outputSchema: { type: "object", description: "A JSON Schema that the answer must fit." },
  },
};
