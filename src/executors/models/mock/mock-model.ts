import { setTimeout } from "node:timers/promises";
import type { JsonObject } from "../../../core/json.ts";
import { createSchemaValidators } from "../../output/schema-validators.ts";
import type { AskedStep } from "../asked-step.ts";
import type { CallOptions, GenerateResult, ProviderModel } from "../language-model.ts";
import type { AgentScript, ScriptedAct, ScriptedTurn } from "./agent-script.ts";
import { findTurn } from "./find-turn.ts";
import { MockFailure } from "./mock-failure.ts";
import { MOCK_METADATA } from "./mock-metadata.ts";
import { toStream } from "./mock-stream.ts";
import { createRandom } from "./random.ts";
import { estimateSpending, type Question, type Spending, scriptedSpending, simulateAnswer } from "./simulate-answer.ts";

interface MockParts {
  readonly script?: AgentScript;
  readonly delayFactor: number;
}

// The longest that a timer of Node can wait.
const FOREVER_MS = 2 ** 31 - 1;
const ANYTHING: JsonObject = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

/**
 * A model without any model: it answers as scripted, else with an answer made up to fit the schema, the same for equal
 * prompts. For demos and for tests of workflows; never chosen unless it is named.
 */
export function createMockModel(asked: AskedStep, parts: MockParts): ProviderModel {
  return {
    specificationVersion: "v4",
    provider: "mock",
    modelId: "mock",
    supportedUrls: {},
    doGenerate: (options) => answer(asked, parts, options),
    doStream: async (options) => ({ stream: toStream(await answer(asked, parts, options)) }),
  };
}

async function answer(
  asked: AskedStep,
  { script, delayFactor }: MockParts,
  options: CallOptions,
): Promise<GenerateResult> {
  const question = toQuestion(asked, options);
  const turn = script === undefined ? undefined : findTurn(script, asked);
  const made = await makeUp(asked, question);
  const delayMs = turn?.delayMs ?? script?.delayMs ?? made.delayMs * delayFactor;
  await wait(turn?.does.type === "hang" ? FOREVER_MS : delayMs, options.abortSignal);
  if (turn?.does.type === "fail") throw new MockFailure(turn.does, turn.costMicro === undefined ? 0 : turn.costMicro);
  if (turn?.does.type === "call") return sayCalls(turn.does, turn, { asked, question });
  if (turn?.does.type !== "reply") return say(made.text(), scriptedSpending(turn, made.spent));
  const { reply } = turn.does;
  return sayScripted(typeof reply === "string" ? reply : JSON.stringify(reply), turn, question);
}

function toQuestion({ format, schema }: AskedStep, { prompt }: CallOptions): Question {
  const texts = prompt.flatMap(({ content }) => {
    return typeof content === "string"
      ? [content]
      : content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
  const outputSchema = schema ?? (format === "json" || format === "yaml" ? ANYTHING : undefined);
  return { prompt: texts.join("\n\n"), model: undefined, outputSchema, maxTurns: 1 };
}

async function makeUp({ format }: AskedStep, question: Question) {
  const { outputSchema } = question;
  const schema = outputSchema === undefined ? undefined : await createSchemaValidators().compile(outputSchema);
  const made = simulateAnswer(question, { validate: schema?.ok === true ? schema.validate : undefined });
  const isPlain = format === "text" && typeof made.structured === "string";
  const said = isPlain ? String(made.structured) : made.text;
  return {
    spent: made.spent,
    delayMs: made.delayMs,
    text() {
      if (made.violations.length > 0)
        throw unsolvable(made.violations.map(({ path, message }) => `${path} ${message}`));
      return format === "xml" ? `<answer>${said}</answer>` : said;
    },
  };
}

/** Said aloud rather than answered wrongly. */
function unsolvable(reasons: readonly string[]): MockFailure {
  const why = reasons.slice(0, 3).join("; ");
  const message = `No answer could be made up for this output schema (${why}). Script a reply for the step.`;
  return new MockFailure({ type: "fail", code: "OUTPUT_INVALID", message, retryable: false, effect: "none" }, 0);
}

async function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  if (delayMs > 0) await setTimeout(Math.min(delayMs, FOREVER_MS), undefined, signal === undefined ? {} : { signal });
}

function sayCalls(
  { calls, say: said }: ScriptedAct & { type: "call" },
  turn: ScriptedTurn,
  { asked, question }: { readonly asked: AskedStep; readonly question: Question },
): GenerateResult {
  const answer = sayScripted(said, turn, question);
  const named = calls.map(({ name, input }, index) => ({
    type: "tool-call" as const,
    toolCallId: `call_${asked.attempt}_${index + 1}`,
    toolName: name,
    input: JSON.stringify(input),
  }));
  const content = [...(said === "" ? [] : answer.content), ...named];
  return { ...answer, content, finishReason: { unified: "tool-calls", raw: "tool_calls" } };
}

function sayScripted(text: string, turn: ScriptedTurn, question: Question): GenerateResult {
  return say(text, scriptedSpending(turn, estimateSpending(question, text, createRandom(question.prompt))));
}

function say(text: string, { usage, costMicro }: Spending): GenerateResult {
  const [input, output] = [Number(usage["input_tokens"]), Number(usage["output_tokens"])];
  return {
    content: [{ type: "text", text }],
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    providerMetadata: { [MOCK_METADATA]: { costMicro } },
    warnings: [],
  };
}
