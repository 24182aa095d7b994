import { setTimeout } from "node:timers/promises";
import { isJsonObject } from "../../../core/json.ts";
import type { Failed, SettleCall } from "../../../ports/executor.ts";
import type { Accepted, Caller } from "../../capacity/capacity-pool.ts";
import { readRetryAfterMs } from "../../capacity/throttle.ts";
import { sendInPool, streamTurn, type TurnCall, type TurnReply } from "../../models/ask-model.ts";
import { passesByItself } from "../../models/model-failure.ts";
import type { Paid, Reserved } from "../../models/reserve-call.ts";
import { settleFailed } from "../../output/failure.ts";

export interface RetryOptions {
  /** The agent's task: its calls wait until the provider takes them. */
  readonly caller: Caller;
  /** How long one turn may wait for its provider, in all. */
  readonly totalMs: number;
  /** Called for a failed try before the next one. */
  onFailure(failed: Failed, delayMs: number): void;
  /** Reserves the most that a try can cost. */
  reserve(call: TurnCall): Promise<Reserved>;
  /** Called for each try, answered or not. */
  onReply(call: TurnCall, reply: TurnReply, startedAt: number): void;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;
/** Tries of a turn that were or may have been paid. */
const MOST_PAID_TRIES = 2;

/** A call that was reserved, and is on record. */
export type Sent = Paid & { readonly settle: SettleCall };

export type AskedReply =
  /** What it cost is not settled. */
  (Extract<TurnReply, { ok: true }> & { readonly reserved: Sent }) | Extract<TurnReply, { ok: false }>;

/**
 * Asks, and again while the provider is overloaded, out of reach or breaks off: after the time that it names, else after
 * 0.5 s and then twice as long each time. An answer that broke off is asked for once more. One that wants more time than there is left is a failure, for the step's own
 * retry policy. Waiting keeps the turns that are already paid. `call` gets the number of the try, from 0.
 */
export async function askWithRetries(
  call: (tries: number) => TurnCall,
  { caller, totalMs, onFailure, reserve, onReply }: RetryOptions,
  signal: AbortSignal,
): Promise<AskedReply> {
  let waitedMs = 0;
  let paidTries = 0;
  for (let tries = 0; ; tries += 1) {
    const asked = call(tries);
    // The money is there before a place is taken.
    const reserved = await reserve(asked);
    if (!reserved.ok) return reserved;
    const send = async (onBegin: Accepted): Promise<AskedReply> => {
      const settle = await reserved.reservation.record();
      const startedAt = Date.now();
      const reply = await streamTurn({ ...asked, settings: reserved.settings, onBegin }, signal);
      onReply(asked, reply, startedAt);
      if (reply.ok) return { ...reply, reserved: { ...reserved, settle } };
      settleFailed(reply.failed, settle);
      return reply;
    };
    const reply = await sendInPool({ model: asked.model, caller, send }, signal);
    if (!reply.ok) reserved.reservation.release();
    if (reply.ok || signal.aborted || !passesByItself(reply.failed)) return reply;
    if (reply.failed.costMicro !== 0) paidTries += 1;
    if (paidTries >= MOST_PAID_TRIES) return reply;
    const delayMs = retryAfterMs(reply.failed) ?? Math.min(FIRST_DELAY_MS * 2 ** Math.min(tries, 10), MAX_DELAY_MS);
    if (waitedMs + delayMs > totalMs) return reply;
    onFailure(reply.failed, delayMs);
    await setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return reply;
    waitedMs += delayMs;
  }
}

function retryAfterMs({ details }: Failed): number | undefined {
  return readRetryAfterMs(isJsonObject(details) ? details["retry_after"] : undefined, Date.now());
}
