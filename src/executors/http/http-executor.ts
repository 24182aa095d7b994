import type { Executor, Outcome, Task } from "../../ports/executor.ts";
import type { Outbound } from "../../ports/outbound.ts";
import type { CapacityPools } from "../capacity/capacity-pools.ts";
import { createRedactor, redactOutcome } from "../output/redact.ts";
import { type HttpInput, readHttpInput, secretsOf } from "./http-input.ts";
import { toOutcome, toUnsendable } from "./to-outcome.ts";
import { toRequest } from "./to-request.ts";

export interface HttpOptions {
  readonly outbound: Outbound;
  /** Where the step has no time-out of its own. */
  readonly timeoutMs: number;
  /** The largest body of an answer. */
  readonly maxBytes: number;
  readonly capacity?: CapacityPools;
}

const MAX_REDIRECTS = 5;

/**
 * Sends one request. It goes only where the guard of outbound requests lets it, and waits in the pool of its server while
 * that says 429, or 503 with `Retry-After`. What is in headers with secret names is masked in everything that comes back.
 */
export function createHttpExecutor(options: HttpOptions): Executor<Outcome> {
  return {
    recordsInput: true,
    runsElsewhere: true,
    async run(task, signal) {
      const input = readHttpInput(task.input);
      const startedAt = performance.now();
      const outcome = await request(input, { task, options }, signal);
      const usage = { duration_ms: Math.round(performance.now() - startedAt) };
      return { ...redactOutcome(outcome, createRedactor(secretsOf(input))), usage };
    },
  };
}

async function request(
  input: HttpInput,
  { task, options }: { readonly task: Task; readonly options: HttpOptions },
  signal: AbortSignal,
): Promise<Outcome> {
  const asked = toRequest(input, task);
  if ("problem" in asked) return toUnsendable(asked.problem);
  const { outbound, maxBytes, capacity } = options;
  const limits = { timeoutMs: task.timeoutMs ?? options.timeoutMs, maxBytes, maxRedirects: MAX_REDIRECTS };
  const send = async () => toOutcome(await outbound.request({ ...asked, ...limits, reach: task.reach }, signal), input);
  if (capacity === undefined) return send();
  return capacity.ofServer(new URL(asked.url)).send<Outcome>(
    {
      caller: task,
      send,
      failureOf: (outcome) => (outcome.status === "failed" ? outcome : undefined),
      toReply: (failed) => failed,
    },
    signal,
  );
}
