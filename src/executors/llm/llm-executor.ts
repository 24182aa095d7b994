import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { grantOf } from "../../core/trust/grant.ts";
import type { Executor, Outcome, Task } from "../../ports/executor.ts";
import type { ModelPrices } from "../../ports/model-prices.ts";
import type { PromptRenderer } from "../../ports/prompt-renderer.ts";
import type { ToolEndpoint } from "../../ports/tools/tool-endpoint.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import { readCallParameters } from "../models/call-parameters.ts";
import type { Model, Models } from "../models/create-models.ts";
import { toUnpriced } from "../models/model-failure.ts";
import { readEndpointAddress } from "../outbound/endpoint-address.ts";
import { toRefused, toSchemaInvalid } from "../output/failure.ts";
import { type AnswerFormat, isAnswerFormat } from "./answer-format.ts";
import { type Conversation, converse, systemOf, warn } from "./converse.ts";
import { createEndpointModel } from "./endpoint-model.ts";

export interface LlmOptions {
  readonly models: Models;
  /** Asked instead of a provider where the run names an endpoint, or one is configured. Absent: none is. */
  readonly elsewhere?: { readonly endpoint: ToolEndpoint; readonly prices: ModelPrices };
  readonly prompts: PromptRenderer;
  /** Further turns at most when an answer does not fit. */
  readonly repairs: number;
  /** How long one turn may take where the step has no time-out of its own. */
  readonly timeoutMs?: number;
  readonly validators?: JsonSchemas;
}

/** Asks a model, or the run's endpoint for one, and again while its answer does not fit. Turns are recorded. Every failure has the effect `none`. */
export function createLlmExecutor(options: LlmOptions): Executor<Outcome> {
  const validators = options.validators ?? new JsonSchemas();
  return {
    recordsInput: true,
    runsElsewhere: true,
    reservesCalls: true,
    async run(task, signal) {
      const prepared = await prepare(task, options, validators);
      if ("status" in prepared) return prepared;
      const { outcome } = await converse(prepared, signal);
      return outcome;
    },
  };
}

/** Finds every failure that can be known before anything is paid. */
async function prepare(task: Task, options: LlmOptions, validators: JsonSchemas): Promise<Conversation | Outcome> {
  try {
    const request = readLlmRequest(task.input, task.settings);
    const model = await findModel(task, request, options);
    if (task.isLimited === true && !(await model.hasPrice())) return toUnpriced(model);
    const schema = request.schema === undefined ? undefined : await validators.compile(request.schema);
    if (schema?.ok === false) return toSchemaInvalid(schema.message);
    const prompt = await renderPrompt(request.prompt, options.prompts);
    return begin(task, request, { ...options, model, prompt, validate: schema?.validate });
  } catch (error) {
    if (!isPawlError(error) || isStorageFailure(error)) throw error;
    return toRefused(error.code, error.message, error.details);
  }
}

async function findModel(
  { settings, runId, idempotencyKey }: Task,
  { model: name, parameters, context }: LlmRequest,
  { models, elsewhere }: LlmOptions,
): Promise<Model> {
  const address = readEndpointAddress(context);
  if (elsewhere !== undefined && (elsewhere.endpoint.isConfigured || address.endpoint !== undefined)) {
    const price = name === undefined ? undefined : await elsewhere.prices.find(name, { forAgent: false });
    // A mock model is asked for by name, and has no other provider.
    if (price?.kind !== "simulated")
      return createEndpointModel({ ...elsewhere, address, name, parameters, price, runId, idempotencyKey });
  }
  const { folder } = settings;
  return models.resolve(name, { ...(typeof folder === "string" ? { folder } : {}), grant: grantOf(settings) });
}

function begin(
  task: Task,
  { format, schema, ...request }: LlmRequest,
  { repairs, timeoutMs, ...asked }: LlmOptions & Pick<Conversation, "model" | "validate"> & { readonly prompt: string },
): Conversation {
  const { model, prompt, validate } = asked;
  const read = readCallParameters(request.parameters);
  // An endpoint is sent all parameters as they are.
  const parameters = model.kind === "endpoint" ? { settings: read.settings, warnings: [] } : read;
  const { stepId, path, attempt } = task;
  const system = systemOf({ model, parameters, format, schema });
  const prompted = { type: "prompt", model: model.id, text: prompt, ...(system === undefined ? {} : { system }) };
  task.emit({ type: "log", event: prompted });
  for (const warning of parameters.warnings) warn({ task }, warning);
  return {
    model,
    step: { stepId, path, attempt },
    prompt,
    parameters,
    format,
    schema,
    validate,
    repairs,
    timeoutMs: task.timeoutMs === undefined ? timeoutMs : undefined,
    task,
  };
}

async function renderPrompt(prompt: LlmPrompt, prompts: PromptRenderer): Promise<string> {
  if (prompt.kind === "text") return prompt.text;
  return prompts.render(prompt.template, prompt.input, { isStrict: prompt.isStrict });
}

/** One request of a step. Values of its prompt file stand in where the step gives none. */
interface LlmRequest {
  readonly prompt: LlmPrompt;
  readonly model: string | undefined;
  readonly parameters: JsonObject;
  readonly format: AnswerFormat;
  readonly schema: JsonObject | undefined;
  /** Where the run's tools are. */
  readonly context: Json | undefined;
}

type LlmPrompt =
  | {
      readonly kind: "template";
      readonly template: string;
      readonly input: JsonObject;
      /** What has no value is an error. */
      readonly isStrict: boolean;
    }
  /** Bound by the dialect: what looks like a template in it came with a value. */
  | { readonly kind: "text"; readonly text: string };

/** Reads a task's bound input. A prompt with an `input` is a template. Throws `FILE_NOT_FOUND` if the prompt file is not pinned. */
function readLlmRequest(input: Json, settings: JsonObject): LlmRequest {
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
