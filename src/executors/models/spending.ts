import type { JsonObject } from "../../core/json.ts";
import type { TokenUsage } from "./price-call.ts";

/** What one turn used. */
export interface TurnSpending {
  readonly usage: TokenUsage;
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

  /** Of an attempt before this one, which has paid for it: it counts as use, not as cost. */
  addUsage({ input = 0, output = 0, cacheRead = 0 }: TokenUsage): void {
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
