import { writeExact } from "../../../core/exact-json.ts";
import type { JsonObject } from "../../../core/json.ts";
import { JsonSchemas } from "../../../schemas/json-schemas.ts";
import {
  type AskedStep,
  type CallOptions,
  type GenerateResult,
  KNOWN_COST,
  type ProviderModel,
  type StreamPart,
} from "../language-model.ts";
import { KnownFailure } from "../model-failure.ts";
import { costOfTurn, giveTurn, prepareTurn, type SimulatedAnswer, type SimulationOptions } from "./simulate-turn.ts";

const NEVER = new AbortController().signal;
const ANYTHING: JsonObject = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };
const WORDS = /\S+\s*|\s+/g;

/** A model that answers as scripted, else in the shape of the schema. For demos and tests; used only by name. */
export function createMockModel(asked: AskedStep, options: SimulationOptions): ProviderModel {
  const answer = (call: CallOptions) => answerCall(asked, options, call);
  return {
    specificationVersion: "v4",
    provider: "mock",
    modelId: "mock",
    supportedUrls: {},
    doGenerate: answer,
    doStream: async (call) => ({ stream: ReadableStream.from(toStreamParts(await answer(call))) }),
  };
}

/** The cost of the answer that the model would give now, in micro-dollars. `null`: unknown. */
export async function costAhead(
  asked: AskedStep,
  script: SimulationOptions["script"],
  content: string,
): Promise<number | null> {
  const question = { ...asked, schema: schemaOf(asked), prompt: content };
  return costOfTurn((await prepareTurn(question, { script })).turn);
}

async function answerCall(
  asked: AskedStep,
  options: SimulationOptions,
  { prompt, abortSignal = NEVER }: CallOptions,
): Promise<GenerateResult> {
  const schema = schemaOf(asked);
  const compiled = schema === undefined ? undefined : await new JsonSchemas().compile(schema);
  const validate = compiled?.ok === true ? compiled.validate : undefined;
  const question = { ...asked, schema, validate, prompt: textOf(prompt) };
  const turn = await giveTurn(await prepareTurn(question, options), options, abortSignal);
  if (!turn.ok) throw new KnownFailure(turn.failed);
  return toResult(turn.answer, asked);
}

function schemaOf({ format, schema }: AskedStep): JsonObject | undefined {
  return schema ?? (format === "json" || format === "yaml" ? ANYTHING : undefined);
}

function textOf(prompt: CallOptions["prompt"]): string {
  const texts = prompt.flatMap(({ content }) => {
    return typeof content === "string"
      ? [content]
      : content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
  return texts.join("\n\n");
}

function toResult(answer: SimulatedAnswer, { format, attempt }: AskedStep): GenerateResult {
  const { calls, spent } = answer;
  const { input_tokens: input, output_tokens: output } = spent.usage;
  const text = toText(answer, format);
  const named = calls.map((call, index) => ({
    type: "tool-call" as const,
    toolCallId: `call_${attempt}_${index + 1}`,
    toolName: call.name,
    input: writeExact(call.input),
  }));
  return {
    content: [...(text === "" && named.length > 0 ? [] : [{ type: "text" as const, text }]), ...named],
    finishReason: named.length > 0 ? { unified: "tool-calls", raw: "tool_calls" } : { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    providerMetadata: { [KNOWN_COST]: { costMicro: spent.costMicro } },
    warnings: [],
  };
}

/** A made-up answer is put into the format that was asked for; a scripted one is taken as it stands. */
function toText({ text, structured, isScripted }: SimulatedAnswer, format: AskedStep["format"]): string {
  if (isScripted) return text;
  const said = format === "text" && typeof structured === "string" ? structured : text;
  return format === "xml" ? `<answer>${said}</answer>` : said;
}

/** Streams an answer word by word. */
function* toStreamParts(result: GenerateResult): Generator<StreamPart> {
  const { content, finishReason, usage, providerMetadata, warnings } = result;
  yield { type: "stream-start", warnings };
  for (const [index, part] of content.entries()) {
    const id = String(index);
    if (part.type === "tool-call") yield part;
    if (part.type !== "text") continue;
    yield { type: "text-start", id };
    for (const [delta] of part.text.matchAll(WORDS)) yield { type: "text-delta", id, delta };
    yield { type: "text-end", id };
  }
  yield { type: "finish", finishReason, usage, providerMetadata };
}
