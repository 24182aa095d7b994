import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ModelPrice } from "../../ports/model-prices.ts";
import type { EndpointAddress, ToolEndpoint } from "../../ports/tools/tool-endpoint.ts";
import type { Model } from "../models/create-models.ts";
import type { AskedStep, CallOptions, GenerateResult } from "../models/language-model.ts";
import { KnownFailure } from "../models/model-failure.ts";
import { toFailed } from "../output/failure.ts";

export interface EndpointModelOptions {
  readonly endpoint: ToolEndpoint;
  readonly address: EndpointAddress;
  /** As the step names it. Absent: the endpoint chooses. */
  readonly name: string | undefined;
  /** As the step gives them. */
  readonly parameters: JsonObject;
  readonly price: ModelPrice | undefined;
  readonly runId: string;
  readonly idempotencyKey: string;
}

const TOOL = "core.llm.generate";
const NEVER = new AbortController().signal;

/** The model behind the tool endpoint of a run: each turn is one call of `core.llm.generate` there. */
export function createEndpointModel(options: EndpointModelOptions): Model {
  const { name = "default", price } = options;
  return {
    id: `endpoint:${name}`,
    kind: "endpoint",
    takesSchemas: true,
    secrets: [],
    open: async (asked) => ({
      specificationVersion: "v4",
      provider: "endpoint",
      modelId: name,
      supportedUrls: {},
      doGenerate: (call) => generate(options, asked, call),
      // A step waits for the whole answer.
      doStream: () => Promise.reject(new TypeError("a tool endpoint does not stream")),
    }),
    priceMicro: async ({ input, output }) =>
      price?.kind !== "priced" || input === undefined || output === undefined
        ? null
        : price.costMicro({ input, output }),
    hasPrice: async () => price?.kind === "priced",
  };
}

async function generate(
  { endpoint, address, name, parameters, runId, idempotencyKey }: EndpointModelOptions,
  { format, schema }: AskedStep,
  { prompt, maxOutputTokens, abortSignal = NEVER }: CallOptions,
): Promise<GenerateResult> {
  const spoken = prompt.filter(({ role }) => role !== "system");
  const params = {
    app_id: address.context.appId ?? "",
    prompt: spoken.map(textOf).join("\n\n"),
    ...(name === undefined ? {} : { model: name }),
    ...withLimit(parameters, maxOutputTokens),
    ...(format === "text" ? {} : { output_format: format }),
    ...(schema === undefined ? {} : { output_schema: schema }),
  };
  // Each turn is a call of its own; the same turn of a later attempt is not.
  const call = { ...address, runId, tool: TOOL, params, idempotencyKey: `${idempotencyKey}/${spoken.length}` };
  const outcome = await endpoint.call({ ...call, isTimedByCaller: true }, abortSignal);
  // Asking a model changes nothing outside. What an answer cost that did not arrive is not known.
  if (outcome.status === "failed")
    throw new KnownFailure({ ...outcome, effect: "none", costMicro: outcome.effect === "none" ? 0 : null });
  return toResult(outcome.output);
}

function textOf({ content }: CallOptions["prompt"][number]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

const LIMITS = ["max_tokens", "maxTokens", "max_output_tokens", "maxOutputTokens"];

/** A budget may allow a shorter answer than the step does. */
function withLimit(parameters: JsonObject, limit: number | undefined): { readonly parameters?: JsonObject } {
  const given = LIMITS.find((name) => parameters[name] === limit);
  if (limit === undefined || given !== undefined) return Object.keys(parameters).length === 0 ? {} : { parameters };
  const others = Object.entries(parameters).filter(([name]) => !LIMITS.includes(name));
  return { parameters: { ...Object.fromEntries(others), max_tokens: limit } };
}

function toResult(output: Json): GenerateResult {
  const { completion, metrics } = isJsonObject(output) ? output : {};
  if (completion === undefined || completion === null) {
    const message = `The tool endpoint's answer to ${TOOL} has no \`completion\`.`;
    throw new KnownFailure(toFailed("ENDPOINT_FAILED", { message, retryable: true, effect: "none", costMicro: null }));
  }
  const usage = isJsonObject(metrics) && isJsonObject(metrics["token_usage"]) ? metrics["token_usage"] : {};
  const [input, written] = [usage["prompt"], usage["completion"]].map((count) =>
    typeof count === "number" && count >= 0 ? count : undefined,
  );
  return {
    content: [{ type: "text", text: typeof completion === "string" ? completion : writeExact(completion) }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: written, text: written, reasoning: 0 },
    },
    warnings: [],
  };
}
