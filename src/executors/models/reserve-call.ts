import { writeExact } from "../../core/exact-json.ts";
import type { Failed, Reservation, SettleCall, Task } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import type { Model } from "./create-models.ts";
import type { AskedStep, CallOptions } from "./language-model.ts";
import type { TokenUsage } from "./price-call.ts";
import { doubtUsage } from "./spending.ts";

/** A call of a model that is about to be sent. */
export interface PricedCall {
  readonly model: Model;
  readonly asked: AskedStep;
  readonly settings: Partial<CallOptions>;
  /** The provider may search by itself, and charges for what it finds. */
  readonly searches?: boolean;
  /** All that the provider is sent and charges for, as far as it is text. */
  readonly content: unknown;
}

/** The turn before of the same conversation: what it held is the beginning of the next one. */
export interface TurnBefore {
  readonly bytes: number;
  readonly usage: TokenUsage;
}

export interface Payer {
  readonly task: Pick<Task, "reserve" | "isLimited">;
  /** What may be spent by a limit of the agent's own. */
  readonly ownLeftMicro?: number | undefined;
  /** How many calls a whole attempt is likely to make. */
  readonly calls: number;
  readonly before?: TurnBefore | undefined;
}

export type Paid = Extract<Reserved, { readonly ok: true }>;

export type Reserved =
  | {
      readonly ok: true;
      /** The call's settings, with the limit of its answer that the budget allows. */
      readonly settings: Partial<CallOptions>;
      /** The limit of the answer is lower than was asked for, since no more is left. */
      readonly loweredBy: Reservation["loweredBy"];
      readonly bytes: number;
      readonly reservation: Reservation;
    }
  | { readonly ok: false; readonly failed: Failed };

/** No model writes more in one answer. */
const LONGEST_ANSWER = 128_000;
/** Under a budget, where the definition sets no limit: most models refuse limits that are larger than what they can write. */
const USUAL_ANSWER = 16_384;
/** Less is not worth asking for. */
const SHORTEST_ANSWER = 256;
/** What providers add themselves: marks of roles, the explanation of how tools are called. */
const ADDED_TOKENS = 1_000;

/** Reserves the most that a call can cost, and waits until the budgets allow it. If less is left in all, the answer's limit is lowered to fit. */
export async function reserveCall(call: PricedCall, payer: Payer): Promise<Reserved> {
  const { model, settings } = call;
  const { task, ownLeftMicro = Number.POSITIVE_INFINITY } = payer;
  const bytes = Buffer.byteLength(writeExact(call.content));
  const priced = await priceAnswers(call, { bytes, before: payer.before });
  const isLimited = task.isLimited === true || Number.isFinite(ownLeftMicro);
  const wanted = settings.maxOutputTokens ?? (isLimited ? USUAL_ANSWER : LONGEST_ANSWER);
  const wholeMicro = await priced?.(wanted);
  const leastMicro = await priced?.(Math.min(wanted, SHORTEST_ANSWER));
  if (leastMicro !== undefined && leastMicro > ownLeftMicro)
    return { ok: false, failed: toTooLittle(call, { left: ownLeftMicro, needsMicro: leastMicro }) };
  const atMostMicro = wholeMicro === undefined ? undefined : Math.min(wholeMicro, ownLeftMicro);
  const plannedMicro = wholeMicro === undefined ? undefined : wholeMicro * payer.calls;
  const reservation = await task.reserve({ atMostMicro, leastMicro, plannedMicro, payee: model.id });
  if ("status" in reservation) return { ok: false, failed: reservation };
  const { atMostMicro: granted } = reservation;
  if (!isLimited || priced === undefined || wholeMicro === undefined || granted === undefined)
    return { ok: true, settings, loweredBy: undefined, bytes, reservation };
  const maxOutputTokens = await findLongest(wanted, granted, priced);
  const loweredBy = maxOutputTokens === wanted ? undefined : (reservation.loweredBy ?? "step");
  return { ok: true, settings: { ...settings, maxOutputTokens }, loweredBy, bytes, reservation };
}

type PriceAnswer = (outputTokens: number) => Promise<number>;

/** The most that the call costs with an answer of so many tokens. Undefined: its price is not known. */
async function priceAnswers(
  { model, asked, content, searches }: PricedCall,
  { bytes, before }: { readonly bytes: number; readonly before: TurnBefore | undefined },
): Promise<PriceAnswer | undefined> {
  if (model.costAhead !== undefined) {
    const known = await model.costAhead(asked, writeExact(content));
    return known === null ? undefined : async () => known;
  }
  if (!(await model.hasPrice())) return undefined;
  const found = searches === true ? model.searching : undefined;
  const input = Math.max(mostTokens(bytes, before), found?.window ?? 0);
  const fees = found === undefined ? 0 : found.most * found.feeMicro;
  return async (output) => {
    const plain = await model.priceMicro({ input, output, cacheRead: 0, cacheWrite: 0 });
    // Anthropic takes more for what it keeps in its cache.
    const kept =
      model.kind === "anthropic" ? await model.priceMicro({ input, output, cacheRead: 0, cacheWrite: input }) : plain;
    return Math.ceil(Math.max(plain ?? 0, kept ?? 0)) + 1 + fees;
  };
}

/** A token has at least one byte. The provider has counted the earlier conversation, so only new text is taken at its worst. */
function mostTokens(bytes: number, before: TurnBefore | undefined): number {
  const { input, output } = before?.usage ?? {};
  if (before === undefined || input === undefined || output === undefined || bytes < before.bytes)
    return bytes + ADDED_TOKENS;
  return Math.min(bytes, input + output + (bytes - before.bytes)) + ADDED_TOKENS;
}

/** The longest answer, in tokens, that is paid for with `left`. */
async function findLongest(wanted: number, left: number, price: PriceAnswer): Promise<number> {
  if ((await price(wanted)) <= left) return wanted;
  let fits = 0;
  for (let tooLong = wanted; tooLong - fits > 1; ) {
    const middle = Math.floor((fits + tooLong) / 2);
    if ((await price(middle)) <= left) fits = middle;
    else tooLong = middle;
  }
  return fits;
}

/** The call does not fit into a limit of the agent's own. */
function toTooLittle(
  { model }: PricedCall,
  { left, needsMicro }: { readonly left: number; readonly needsMicro: number },
): Failed {
  const message = `The next call of ${model.id} may cost ${toUsd(needsMicro)}, and ${toUsd(Math.max(0, left))} is left for it.`;
  return toFailed("STEP_BUDGET_EXCEEDED", { message, retryable: false, effect: "none" });
}

/** The answer was cut off at the limit to which it was lowered. */
export function toCutShort(model: string, { loweredBy }: Paid): Failed {
  const message = `What is left of the ${loweredBy} was too little for an answer of ${model}.`.replace(
    "the step",
    "the step's own limit",
  );
  const outspent = loweredBy === "budget" ? { outspent: { goesOn: true } } : {};
  return toFailed("STEP_BUDGET_EXCEEDED", { message, retryable: false, effect: "none", ...outspent });
}

interface Answered {
  readonly usage: TokenUsage;
  readonly costMicro: number | null;
  /** What the model has written. */
  readonly said: string;
}

/** Settles an answered call before the answer is recorded. Returns false, and names the provider, if its numbers cannot be true. */
export function settleAnswer(
  { usage, costMicro, said }: Answered,
  { bytes, settle }: Pick<Paid, "bytes"> & { readonly settle: SettleCall },
  doubted: (what: string) => void,
): boolean {
  const doubt = doubtUsage(usage, { sent: bytes, said: Buffer.byteLength(said) });
  if (doubt !== undefined) doubted(`${doubt}. Budgets count the call as if it had cost the most.`);
  settle(costMicro, doubt === undefined ? undefined : "doubted");
  return doubt === undefined;
}

function toUsd(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;
}
