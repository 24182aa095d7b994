import type { Json, JsonObject } from "../../../core/json.ts";
import type { SchemaViolation, Validate } from "../../output/schema-validators.ts";
import type { ScriptedTurn } from "./agent-script.ts";
import { generateValue } from "./generate-value.ts";
import { estimateCostMicro, estimateTokens } from "./model-price.ts";
import { saySentence } from "./plausible-text.ts";
import { createRandom, type Random } from "./random.ts";
import { readTopic } from "./topic.ts";

/** What is asked, of an agent or of a model. */
export interface Question {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly outputSchema: JsonObject | undefined;
  /** Absent: one is as likely as several. */
  readonly maxTurns?: number | undefined;
}

/** What a real agent might have answered: equal for equal input and seed. */
export interface SimulatedAnswer {
  readonly text: string;
  /** Present where a schema was asked for. */
  readonly structured: Json | undefined;
  /** Why `structured` does not fit. Empty unless the schema says more than the generator understands. */
  readonly violations: readonly SchemaViolation[];
  readonly spent: Spending;
  readonly delayMs: number;
}

export interface Spending {
  /** `null`: unknown, as some servers leave it. */
  readonly costMicro: number | null;
  readonly turns: number;
  readonly usage: JsonObject;
}

const MIN_DELAY_MS = 300;
const MAX_DELAY_MS = 1_500;
const SYSTEM_PROMPT_TOKENS = 1_200;
const MAX_TURNS = 6;
const MAX_TRIES = 8;
const DEFAULT_MODEL = "sonnet";

export function simulateAnswer(
  input: Question,
  options: { readonly validate: Validate | undefined; readonly seed?: string },
): SimulatedAnswer {
  const identity = JSON.stringify([options.seed ?? "", input.prompt, input.model ?? "", input.outputSchema ?? null]);
  const random = createRandom(identity);
  const delayMs = random.int(MIN_DELAY_MS, MAX_DELAY_MS);
  const { structured, violations } = generateFitting(input, identity, options.validate);
  const text = structured === undefined ? say(input.prompt, random) : JSON.stringify(structured);
  return { text, structured, violations, spent: estimateSpending(input, text, random), delayMs };
}

function say(prompt: string, random: Random): string {
  const speaker = { topic: readTopic(prompt, random), random };
  return `${saySentence(speaker)} ${saySentence(speaker)}`;
}

/** What is generated is always validated. Chance solves what the generator only met half: another draw, another value. */
function generateFitting(
  input: Question,
  identity: string,
  validate: Validate | undefined,
): Pick<SimulatedAnswer, "structured" | "violations"> {
  if (input.outputSchema === undefined || validate === undefined) return { structured: undefined, violations: [] };
  let attempt = generateOnce(input.prompt, input.outputSchema, identity);
  for (let tries = 1; tries < MAX_TRIES && validate(attempt).length > 0; tries += 1) {
    attempt = generateOnce(input.prompt, input.outputSchema, `${identity}#${tries}`);
  }
  return { structured: attempt, violations: validate(attempt) };
}

function generateOnce(prompt: string, schema: JsonObject, seed: string): Json {
  const random = createRandom(seed);
  return generateValue(schema, { topic: readTopic(prompt, random), random });
}

/** Every turn reads the whole conversation again. */
export function estimateSpending(input: Question, text: string, random: Random): Spending {
  const turns = random.int(1, Math.max(1, Math.min(input.maxTurns ?? MAX_TURNS, MAX_TURNS)));
  const tokens = {
    input: turns * (SYSTEM_PROMPT_TOKENS + estimateTokens(input.prompt)),
    output: estimateTokens(text) + turns * 40,
  };
  return {
    costMicro: estimateCostMicro(input.model ?? DEFAULT_MODEL, tokens),
    turns,
    usage: { input_tokens: tokens.input, output_tokens: tokens.output },
  };
}

/** What the script says was spent goes before what is plausible. */
export function scriptedSpending(turn: ScriptedTurn | undefined, estimated: Spending): Spending {
  const { input, output } = turn?.tokens ?? {};
  return {
    costMicro: turn?.costMicro === undefined ? estimated.costMicro : turn.costMicro,
    turns: turn?.turns ?? estimated.turns,
    usage: {
      ...estimated.usage,
      ...(input === undefined ? {} : { input_tokens: input }),
      ...(output === undefined ? {} : { output_tokens: output }),
    },
  };
}
