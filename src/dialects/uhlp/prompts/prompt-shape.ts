import type { JsonObject } from "../../../core/json.ts";
import { anything, jsonSchema } from "../../shape/containers.ts";
import { optional, required } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, flag, text } from "../../shape/scalars.ts";
import { type DialectRules, to } from "../../shape/shape.ts";
import { toJson } from "../../source/yaml-node.ts";

export const promptRules: DialectRules = { unknownKeys: "warning", nulls: "absent", scalars: "yaml" };

export const EXAMPLE = 'Write `template: "Summarize {{ text }}"`.';

/** Any map: what a provider does with it is its business. These are the words that all of them know. */
const parameters = object(
  {
    temperature: optional(anything("a number"), "How freely the model answers."),
    max_tokens: optional(anything("a whole number"), "The longest answer, in tokens."),
    top_p: optional(anything("a number"), "The share of likely tokens that it chooses from."),
    top_k: optional(anything("a number"), "How many tokens it chooses from."),
    stop: optional(anything("a text, or a list"), "Texts at which the answer ends."),
    seed: optional(anything("a whole number"), "For answers that come out the same again."),
    presence_penalty: optional(anything("a number"), "How much it avoids what has been named."),
    frequency_penalty: optional(anything("a number"), "How much it avoids what has been named often."),
    reasoning: optional(
      anything("a text"),
      "How long it thinks: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.",
    ),
    system: optional(anything("a text"), "In front of the conversation."),
  },
  { open: true },
);

export const STRICT =
  "Whether a value that is missing is an error wherever the template uses it. Otherwise it is empty, as in Jinja2.";

const asked = text({
  pattern: "\\S",
  wrong: () => ({ message: "`template` is empty.", remedy: EXAMPLE }),
});

/** A prompt file: what to ask a model, and how its answer must look. */
export const promptFile = object(
  {
    description: optional(text(), "What the prompt is for."),
    model: optional(
      text({ examples: ["anthropic:claude-haiku-4-5", "mock:"] }),
      "`provider:model`, an alias, or a model whose name tells its provider. A step may name another.",
    ),
    parameters: optional(
      to(parameters, ({ at }) => toJson(at) as JsonObject),
      "For the model. A step may change single ones.",
    ),
    template: required(
      asked,
      "What the model is asked, in Jinja: `Hello {{ name }}`. Names are those of the step's input.",
      { missing: { message: "A prompt file needs `template`, the text that the model is asked.", remedy: EXAMPLE } },
    ),
    strict: optional(flag(), STRICT, { otherwise: "`false`" }),
    outputFormat: optional(choice(["json", "text", "xml", "yaml"]), "What the answer is read as.", {
      otherwise: "`json` where there is an `outputSchema`, else `text`",
    }),
    outputSchema: optional(jsonSchema("outputSchema"), "A JSON Schema that the answer must fit."),
  },
  { title: "a prompt file" },
);
