import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { TokenUsage } from "./price-call.ts";

export interface TurnSpending {
  readonly usage: Partial<TokenUsage>;
  readonly costMicro: number | null;
}

/** Adds up what the turns of one attempt used and cost. */
export class Spending {
  /** `null` as soon as the price of anything is unknown. */
  costMicro: number | null = 0;
  #calls = 0;
  #input = 0;
  #output = 0;
  #cached = 0;
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  /** Adds a turn of an earlier attempt, which has paid for it: it counts as use, not as cost. */
  addUsage({ input = 0, output = 0, cacheRead = 0 }: Partial<TokenUsage>): void {
    this.#calls += 1;
    this.#input += input;
    this.#output += output;
    this.#cached += cacheRead;
  }

  add({ usage, costMicro }: TurnSpending): void {
    this.addUsage(usage);
    this.addCost(costMicro);
  }

  addCost(costMicro: number | null): void {
    this.costMicro = this.costMicro === null || costMicro === null ? null : this.costMicro + costMicro;
  }

  get tokens(): { readonly prompt: number; readonly completion: number; readonly total: number } {
    return { prompt: this.#input, completion: this.#output, total: this.#input + this.#output };
  }

  get usage(): JsonObject {
    return {
      model: this.#model,
      input_tokens: this.#input,
      output_tokens: this.#output,
      ...(this.#cached === 0 ? {} : { cached_input_tokens: this.#cached }),
      calls: this.#calls,
    };
  }
}

/** More bytes than a token stands for, in any text that a model reads or writes. */
const LONGEST_TOKEN = 256;
/** Shorter texts say too little. */
const SHORTEST_DOUBT = 16_384;

/** Says what cannot be true of the numbers that a provider has given. Undefined: they can. */
export function doubtUsage(
  { input, output }: TokenUsage,
  { sent, said }: { readonly sent: number; readonly said: number },
): string | undefined {
  const isTooFew = (tokens: number | undefined, bytes: number) =>
    tokens !== undefined && bytes >= SHORTEST_DOUBT && tokens * LONGEST_TOKEN < bytes;
  if (isTooFew(input, sent)) return `has counted ${input} tokens in ${sent} bytes that it was sent`;
  return isTooFew(output, said) ? `has counted ${output} tokens in ${said} bytes that it has written` : undefined;
}

/** The use and cost of a model's turn, as recorded with it. */
interface Spent {
  readonly usage: TokenUsage;
  /** Null: unknown. */
  readonly costMicro: number | null;
}

export function toSpentRecord({ usage, costMicro }: Spent): JsonObject {
  const { input = null, output = null, cacheRead = null, cacheWrite = null } = usage;
  return { usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite }, cost_micro: costMicro };
}

export function readSpentRecord({ usage: kept, cost_micro: cost }: JsonObject): Spent {
  const usage: JsonObject = isJsonObject(kept) ? kept : {};
  return {
    usage: {
      input: readNumber(usage["input"]),
      output: readNumber(usage["output"]),
      cacheRead: readNumber(usage["cache_read"]),
      cacheWrite: readNumber(usage["cache_write"]),
    },
    costMicro: typeof cost === "number" ? cost : null,
  };
}

function readNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
