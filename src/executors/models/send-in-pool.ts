import type { Failed } from "../../ports/executor.ts";
import type { Accepted, Caller } from "../capacity/capacity-pool.ts";
import type { Model } from "./create-models.ts";

type Reply<Answer> = (Answer & { readonly ok: true }) | { readonly ok: false; readonly failed: Failed };

interface SentCall<Answer> {
  readonly model: Pick<Model, "pool">;
  readonly caller: Caller;
  /** Calls `accepted` as soon as the model answers. */
  send(accepted: Accepted): Promise<Reply<Answer>>;
}

/** Asks when the provider takes the call, and again where it has refused it for the moment. */
export function sendInPool<Answer>({ model, caller, send }: SentCall<Answer>, signal: AbortSignal) {
  if (model.pool === undefined) return send(() => undefined);
  const failureOf = (reply: Reply<Answer>) => (reply.ok ? undefined : reply.failed);
  const toReply = (failed: Failed): Reply<Answer> => ({ ok: false, failed });
  return model.pool.send({ caller, send, failureOf, toReply }, signal);
}
