import type { Model } from "../../../src/executors/models/create-models.ts";
import type { ProviderModel, StreamPart } from "../../../src/executors/models/language-model.ts";
import type { Random } from "../../simulation/random.ts";

/** Dollars for a million tokens, which is micro-dollars for one. */
const PRICE = { input: 3, output: 15 };

/** How an agent goes on: by what was asked of it, so that a turn that is asked again is the same. */
export interface AgentPlan {
  readonly turns: number;
  /** Tokens of each answer, unless its limit is lower. */
  readonly outputTokens: number;
  /** Random letters are a token each, words are a token for every four or five. */
  readonly bytesPerToken: number;
}

/** Counts what a provider would write on its bill: for each request that reaches it, whatever becomes of the answer. */
export class Bill {
  billedMicro = 0;
  requests = 0;
}

export interface BillingOptions {
  readonly bill: Bill;
  readonly random: Random;
  planOf(prompt: string): AgentPlan;
  /** How many answers of 1 break off in the middle. */
  readonly breaks: number;
  /** The part of its bill that it tells. */
  readonly tells?: number;
}

/** A model that bills as providers do: at least a byte for each token, all of what it was sent and all of what it says. */
export function billingModel(options: BillingOptions): Model {
  const price = (input: number, output: number) => Math.round(input * PRICE.input + output * PRICE.output);
  return {
    id: "test:billing",
    kind: "openai",
    takesSchemas: false,
    secrets: [],
    open: async () => provider(options, price),
    priceMicro: async ({ input, output }) =>
      input === undefined || output === undefined ? null : price(input, output),
    hasPrice: async () => true,
  };
}

function provider(options: BillingOptions, price: (input: number, output: number) => number): ProviderModel {
  const { bill, random, planOf, breaks, tells = 1 } = options;
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId: "billing",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("Only streams.")),
    doStream: async ({ prompt, maxOutputTokens = 128_000, tools = [], abortSignal }) => {
      const text = JSON.stringify(prompt);
      const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(tools));
      const plan = planOf(text);
      const input = Math.ceil(bytes / plan.bytesPerToken) + random.int(3, 400);
      const isCut = plan.outputTokens > maxOutputTokens;
      const output = Math.min(plan.outputTokens, maxOutputTokens);
      bill.requests += 1;
      bill.billedMicro += price(input, output);
      const isBroken = random.chance(breaks);
      const said = prompt.filter(({ role }) => role === "assistant").length;
      await turns(random.int(0, 6));
      abortSignal?.throwIfAborted();
      if (isBroken) throw Object.assign(new Error("broken"), { name: "AI_APICallError", cause: new Error("reset") });
      const isLast = said + 1 >= plan.turns;
      const usage = { input: Math.round(input * tells), output: Math.round(output * tells) };
      return { stream: ReadableStream.from(toParts({ isLast, isCut, usage, number: said + 1 })) };
    },
  };
}

interface Said {
  readonly isLast: boolean;
  readonly isCut: boolean;
  readonly usage: { readonly input: number; readonly output: number };
  readonly number: number;
}

function* toParts({ isLast, isCut, usage, number }: Said): Generator<StreamPart> {
  yield { type: "stream-start", warnings: [] };
  if (isLast || isCut) {
    yield { type: "text-start", id: "0" };
    yield { type: "text-delta", id: "0", delta: "Done." };
    yield { type: "text-end", id: "0" };
  } else yield { type: "tool-call", toolCallId: `call-${number}`, toolName: "look", input: "{}" };
  const unified = isCut ? "length" : isLast ? "stop" : "tool-calls";
  yield {
    type: "finish",
    finishReason: { unified, raw: unified.replace("-", "_") },
    usage: {
      inputTokens: { total: usage.input, noCache: usage.input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: usage.output, text: usage.output, reasoning: 0 },
    },
  };
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}
