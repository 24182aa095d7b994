import { setTimeout } from "node:timers/promises";
import { writeExact } from "../../../core/exact-json.ts";
import type { Json } from "../../../core/json.ts";
import type { AgentScript, ScriptedTurn } from "../../../ports/agent-script.ts";
import type { Failed } from "../../../ports/executor.ts";
import type { Validate } from "../../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../../schemas/schema-compiler.ts";
import { toRefused } from "../../output/failure.ts";
import { describeViolations } from "../../output/violations.ts";
import type { AskedStep } from "../language-model.ts";
import { toSchemaValue } from "./schema-value.ts";

/** One question to a simulated agent or a mock model. */
export interface SimulatedQuestion extends Omit<AskedStep, "format"> {
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly validate?: Validate | undefined;
}

export interface SimulationOptions {
  readonly script?: AgentScript | undefined;
  /** Scales the delays of made-up answers; 0 answers at once. Scripted delays stay as written. Default 1. */
  readonly delayFactor?: number | undefined;
  /** Resolves after the time, or rejects when the signal aborts. */
  readonly wait?: ((delayMs: number, signal: AbortSignal) => Promise<void>) | undefined;
}

export type SimulatedTurn =
  | { readonly ok: true; readonly answer: SimulatedAnswer }
  | { readonly ok: false; readonly failed: Failed };

export interface SimulatedAnswer {
  readonly text: string;
  /** Present where a schema was asked for, or where the script's reply is no text. */
  readonly structured: Json | undefined;
  /** The script says it, word for word. */
  readonly isScripted: boolean;
  readonly calls: NonNullable<ScriptedTurn["call"]>;
  readonly delayMs: number;
  readonly spent: SimulatedSpending;
}

interface SimulatedSpending {
  /** `null`: unknown, as some servers leave it. */
  readonly costMicro: number | null;
  readonly turns: number;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

// The longest that a timer of Node can wait.
const FOREVER_MS = 2 ** 31 - 1;
const MIN_DELAY_MS = 300;
const DELAY_SPREAD_MS = 1_200;

export interface PreparedTurn {
  readonly delayMs: number;
  readonly turn: SimulatedTurn;
}

/** What it will answer, as scripted, else a plain answer in the shape of the schema: equal questions get equal answers. */
export async function prepareTurn(
  question: SimulatedQuestion,
  { script, delayFactor = 1 }: SimulationOptions,
): Promise<PreparedTurn> {
  const turn: ScriptedTurn = (script === undefined ? undefined : findTurn(script, question)) ?? {};
  const usualMs = (MIN_DELAY_MS + ((question.prompt.length * 97) % DELAY_SPREAD_MS)) * delayFactor;
  const delayMs = turn.hang === true ? FOREVER_MS : Math.min(turn.delay_ms ?? script?.delay_ms ?? usualMs, FOREVER_MS);
  if (turn.fail !== undefined) return { delayMs, turn: { ok: false, failed: toScriptedFailure(turn.fail, turn) } };
  const said = await toSaid(turn, question);
  if ("violations" in said) return { delayMs, turn: { ok: false, failed: toUnsolvable(said.violations) } };
  const spent = toSpending(turn, said.text, question);
  return { delayMs, turn: { ok: true, answer: { ...said, calls: turn.call ?? [], delayMs, spent } } };
}

/** Answers after its delay. Rejects when the signal aborts. */
export async function giveTurn(
  { delayMs, turn }: PreparedTurn,
  { wait = waitForReal }: SimulationOptions,
  signal: AbortSignal,
): Promise<SimulatedTurn> {
  signal.throwIfAborted();
  if (delayMs > 0) await wait(delayMs, signal);
  return turn;
}

/** `null`: unknown. */
export function costOfTurn(turn: SimulatedTurn): number | null {
  return turn.ok ? turn.answer.spent.costMicro : turn.failed.costMicro;
}

async function waitForReal(delayMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(delayMs, undefined, { signal });
}

/** Finds what the script says about one try. The narrowest name wins: whole path, instance, then step. */
export function findTurn(
  { steps }: AgentScript,
  question: Pick<SimulatedQuestion, "path" | "stepId" | "agent" | "attempt">,
): ScriptedTurn | undefined {
  const { path, stepId, agent, attempt } = question;
  const ownPart = path.split("/").at(-1) ?? path;
  const item = Number(/\[(\d+)\]$/.exec(ownPart)?.[1] ?? -1);
  for (const name of [path, ownPart, ownPart.replace(/#\d+/, ""), stepId, agent]) {
    const step = name === undefined ? undefined : steps.get(name);
    const turns = step?.items[item] ?? step?.attempts ?? [];
    const turn = turns[attempt - 1] ?? turns.at(-1);
    if (turn !== undefined) return turn;
  }
  return undefined;
}

type Said = Pick<SimulatedAnswer, "text" | "structured" | "isScripted">;

async function toSaid({ reply, call, say = "" }: ScriptedTurn, question: SimulatedQuestion): Promise<Said | Misfit> {
  if (call !== undefined) return { text: say, structured: undefined, isScripted: true };
  if (typeof reply === "string") return { text: reply, structured: undefined, isScripted: true };
  if (reply !== undefined) return { text: writeExact(reply), structured: reply, isScripted: true };
  const { prompt, schema, validate } = question;
  if (schema === undefined)
    return { text: `Simulated answer to: ${shorten(prompt)}`, structured: undefined, isScripted: false };
  const structured = toSchemaValue(schema);
  const violations = (await validate?.(structured)) ?? [];
  return violations.length > 0 ? { violations } : { text: writeExact(structured), structured, isScripted: false };
}

interface Misfit {
  readonly violations: readonly SchemaViolation[];
}

const SHOWN_PROMPT_CHARS = 200;

function shorten(prompt: string): string {
  const line = prompt.trim().replace(/\s+/g, " ");
  return line.length <= SHOWN_PROMPT_CHARS ? line : `${line.slice(0, SHOWN_PROMPT_CHARS)} ...`;
}

/** A failure is better than an answer that does not fit. */
function toUnsolvable(violations: readonly SchemaViolation[]): Failed {
  const reasons = describeViolations(violations.slice(0, 3), "the value");
  const message = `No answer could be made up for this output schema (${reasons}). Script a reply for the step.`;
  return toRefused("OUTPUT_INVALID", message, { errors: violations.map((violation) => ({ ...violation })) });
}

const NOT_RETRYABLE = new Set(["AGENT_UNAUTHORIZED", "AGENT_REFUSED", "MODEL_UNAUTHORIZED", "MODEL_REFUSED"]);

function toScriptedFailure(code: string, turn: ScriptedTurn): Failed {
  const { message = `Failed as scripted (${code}).`, retryable = !NOT_RETRYABLE.has(code) } = turn;
  // Asking a model changes nothing outside.
  const hasNoEffect = NOT_RETRYABLE.has(code) || code === "AGENT_UNREACHABLE" || code.startsWith("MODEL_");
  const { effect = hasNoEffect ? "none" : "unknown" } = turn;
  return { status: "failed", code, message, retryable, effect, costMicro: toMicro(turn.cost_usd, 0) };
}

/** Rough prices in dollars per million tokens, which is micro-dollars per token. Other models cost like sonnet. */
const PRICES = [
  { name: "haiku", input: 1, output: 5 },
  { name: "opus", input: 5, output: 25 },
  { name: "", input: 3, output: 15 },
];
const CHARS_PER_TOKEN = 4;
const SYSTEM_PROMPT_TOKENS = 1_200;

/** Values of the script replace the estimated ones. */
function toSpending(turn: ScriptedTurn, text: string, { prompt, model = "" }: SimulatedQuestion): SimulatedSpending {
  const {
    turns = 1,
    input_tokens: input = turns * (SYSTEM_PROMPT_TOKENS + Math.ceil(prompt.length / CHARS_PER_TOKEN)),
    output_tokens: output = Math.ceil(text.length / CHARS_PER_TOKEN),
  } = turn;
  const price = PRICES.find(({ name }) => model.includes(name)) ?? { input: 0, output: 0 };
  const estimated = Math.round(input * price.input + output * price.output);
  return {
    costMicro: toMicro(turn.cost_usd, estimated),
    turns,
    usage: { input_tokens: input, output_tokens: output },
  };
}

function toMicro(costUsd: number | null | undefined, otherwise: number): number | null {
  if (costUsd === undefined) return otherwise;
  return costUsd === null ? null : Math.round(costUsd * 1_000_000);
}
