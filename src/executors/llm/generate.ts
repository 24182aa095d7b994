import { grantOf } from "../../core/trust/grant.ts";
import type { PaidCall, Reservation } from "../../ports/executor.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import { readCallParameters } from "../models/call-parameters.ts";
import type { Models } from "../models/create-models.ts";
import { toUnpriced } from "../models/model-failure.ts";
import { toSchemaInvalid } from "../output/failure.ts";
import { isAnswerFormat } from "./answer-format.ts";
import { converse } from "./converse.ts";

export interface GenerateOptions {
  readonly models: Models;
  readonly repairs: number;
  /** Limits one turn. */
  readonly timeoutMs?: number;
}

/** No step pays. */
function toUnlimited({ atMostMicro }: PaidCall): Reservation {
  return { atMostMicro, record: async () => () => undefined, release: () => undefined };
}

/** The name in a mock model's script when no step asks. */
const TOOL = "core.llm.generate";

/** Implements the tool `core.llm.generate`: an `llm` step with a finished prompt, without records but those that are asked for. Throws what `Models.resolve` throws. */
export function createGenerate(options: GenerateOptions): Generate {
  const validators = new JsonSchemas();
  return async (request, signal, step) => {
    const { outputFormat, outputSchema: schema, takesCut, keeps } = request;
    const { stepId = TOOL, path = stepId, attempt = 1, isLimited = false, runId = "", tenantId, priority } = step ?? {};
    const compiled = schema === undefined ? undefined : await validators.compile(schema);
    if (compiled?.ok === false) return toSchemaInvalid(compiled.message);
    const model = await options.models.resolve(
      request.model,
      step?.settings === undefined ? {} : { grant: grantOf(step.settings) },
    );
    if (isLimited && !(await model.hasPrice())) return toUnpriced(model);
    const { outcome, tokens } = await converse(
      {
        model,
        step: { stepId, path, attempt },
        prompt: request.prompt,
        parameters: readCallParameters(request.parameters ?? {}),
        format: isAnswerFormat(outputFormat) ? outputFormat : schema === undefined ? "text" : "json",
        schema,
        validate: compiled?.validate,
        repairs: options.repairs,
        takesCut,
        timeoutMs: options.timeoutMs,
        task: {
          runId,
          tenantId,
          priority,
          record: async (key, value) => keeps?.record(key, value),
          recorded: async (key) => keeps?.recorded(key),
          isLimited,
          reserve: async (call) => (await step?.reserve?.(call)) ?? toUnlimited(call),
          // The outcome tells the rest.
          emit: (progress) => {
            if (progress.type === "capacity" || progress.type === "live") step?.emit?.(progress);
          },
        },
      },
      signal,
    );
    // Where nothing is kept, nothing is on record to go on with.
    if (outcome.status === "failed")
      return outcome.outspent === undefined || keeps !== undefined
        ? outcome
        : { ...outcome, outspent: { goesOn: false } };
    return { ...outcome, output: { completion: outcome.output, metrics: { token_usage: tokens } } };
  };
}
