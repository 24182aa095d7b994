import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { type AnswerFormat, isAnswerFormat } from "./answer-format.ts";

/** One request of a step. Values of its prompt file stand in where the step gives none. */
export interface LlmRequest {
  readonly prompt: LlmPrompt;
  readonly model: string | undefined;
  readonly parameters: JsonObject;
  readonly format: AnswerFormat;
  readonly schema: JsonObject | undefined;
  /** Where the run's tools are. */
  readonly context: Json | undefined;
}

export type LlmPrompt =
  | {
      readonly kind: "template";
      readonly template: string;
      readonly input: JsonObject;
      /** What has no value is an error. */
      readonly isStrict: boolean;
    }
  /** Bound by the dialect: what looks like a template in it came with a value. */
  | { readonly kind: "text"; readonly text: string };

/**
 * Reads a bound task input: `{prompt | promptTemplate, model?, parameters?, outputFormat?, outputSchema?, strict?, input?, context?}`, where a
 * prompt is a template if there is an `input` to put into it. Throws `FILE_NOT_FOUND` where the prompt file is not pinned.
 */
export function readLlmRequest(input: Json, settings: JsonObject): LlmRequest {
  if (!isJsonObject(input)) throw new TypeError("an llm task needs an object as its input");
  const file = readPromptFile(input, settings);
  const format = read(input, file, "outputFormat");
  const schema = read(input, file, "outputSchema");
  const model = read(input, file, "model");
  const hasSchema = isJsonObject(schema);
  return {
    prompt: readPrompt(input, file),
    model: typeof model === "string" && model !== "" ? model : undefined,
    parameters: { ...readObject(file?.["parameters"]), ...readObject(input["parameters"]) },
    format: isAnswerFormat(format) ? format : hasSchema ? "json" : "text",
    schema: hasSchema ? schema : undefined,
    context: input["context"],
  };
}

function readPromptFile(input: JsonObject, settings: JsonObject): JsonObject | undefined {
  const path = readEither(input, "promptTemplate");
  if (typeof path !== "string") return undefined;
  const files = readObject(settings["prompts"]);
  const file = Object.hasOwn(files, path) ? files[path] : undefined;
  if (isJsonObject(file)) return file;
  throw new PawlError("FILE_NOT_FOUND", { message: `The prompt file "${path}" is not part of this run.` });
}

function readPrompt(input: JsonObject, file: JsonObject | undefined): LlmPrompt {
  const text = file?.["template"] ?? input["prompt"];
  if (typeof text !== "string") throw new TypeError("an llm task needs a `prompt` or a `promptTemplate`");
  const values = input["input"];
  if (file === undefined && values === undefined) return { kind: "text", text };
  const isStrict = read(input, file, "strict") === true;
  return { kind: "template", template: text, input: readObject(values), isStrict };
}

/** Reads a value of the step, else of its prompt file. */
function read(input: JsonObject, file: JsonObject | undefined, name: string): Json | undefined {
  return readEither(input, name) ?? file?.[name] ?? undefined;
}

/** Dialects with lists of steps write `output_schema`. */
function readEither(input: JsonObject, name: string): Json | undefined {
  return input[name] ?? input[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;
}

function readObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
