import type { Executor, Failed, Outcome, Task } from "../../../ports/executor.ts";
import { JsonSchemas } from "../../../schemas/json-schemas.ts";
import type { Accepted } from "../../capacity/capacity-pool.ts";
import type { CapacityPools } from "../../capacity/capacity-pools.ts";
import { toInterrupted, toSchemaInvalid } from "../../output/failure.ts";
import { createRedactor, redactOutcome } from "../../output/redact.ts";
import { readAgentInput } from "../agent-input.ts";
import { ask } from "./ask.ts";
import { chooseServer, type ServerOptions } from "./choose-server.ts";
import { createEventLog } from "./event-log.ts";
import { CostFinder } from "./find-costs.ts";
import { startTimeouts } from "./request-timeouts.ts";

export interface SandstormOptions extends ServerOptions {
  /** Without a byte (a ping is one) for this long the attempt fails with `AGENT_IDLE`. Default 120,000. */
  readonly idleTimeoutMs?: number;
  /** For name look-up, TCP and TLS together. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** How long after the result produced files may still come. Default 60,000. */
  readonly afterResultMs?: number;
  /** Limits the queries of all runs to what each server takes. Absent: every query is sent at once. */
  readonly capacity?: CapacityPools;
  /** Shared with other executors so that a schema is compiled once. */
  readonly validators?: JsonSchemas;
}

const IDLE_TIMEOUT_MS = 120_000;
const CONNECT_TIMEOUT_MS = 20_000;
const AFTER_RESULT_MS = 60_000;

const OUTCOMES = {
  failureOf: (outcome: Outcome) => (outcome.status === "failed" ? outcome : undefined),
  toReply: (failed: Outcome) => failed,
};

/**
 * Answers agent steps with a Sandstorm server: POST /query, an SSE stream back. Configured keys go to that server only,
 * and are masked in everything that this executor returns or emits.
 */
export function createSandstormExecutor(options: SandstormOptions): Executor<Outcome> {
  const redactor = createRedactor([options.apiKey, options.anthropicApiKey, options.e2bApiKey]);
  const validators = options.validators ?? new JsonSchemas();
  /** Everything that can be known to fail is checked before the request costs money. */
  async function answer(task: Task, signal: AbortSignal): Promise<Outcome> {
    const input = readAgentInput(task.input);
    const schema = input.outputSchema === undefined ? undefined : await validators.compile(input.outputSchema);
    if (schema?.ok === false) return toSchemaInvalid(schema.message);
    const server = chooseServer(options, task);
    if ("status" in server) return server;
    if (signal.aborted) return toInterrupted("none");

    const log = createEventLog((event) => task.emit({ type: "log", event }));
    if (server.keysWithheld)
      log.note("The definition names another server than the configured one: no keys are sent to it.");
    const { afterResultMs = AFTER_RESULT_MS } = options;
    const overloaded: Spent[] = [];
    const send = async (onWorking: Accepted) => {
      const timeouts = startTimeouts(signal, {
        connectMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        idleMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
      });
      try {
        const turn = { timeouts, onWorking, overloads: overloaded.length };
        const outcome = await ask(
          input,
          { task, server, outbound: options.outbound, log, redactor, afterResultMs, ...turn },
          schema?.validate,
        );
        const whole = overloaded.reduce(addSpent, outcome);
        if (outcome.status === "failed" && mayRepeat(outcome, task)) overloaded.push(outcome);
        // A refusal has cost nothing, and the pool must see that.
        return outcome.status === "failed" && outcome.effect === "none" ? outcome : whole;
      } finally {
        timeouts.close();
      }
    };
    const pool = options.capacity?.ofServer(server.queryUrl);
    return pool === undefined
      ? send(() => undefined)
      : pool.send({ caller: task, send, mayRepeat: (failed) => mayRepeat(failed, task), ...OUTCOMES }, signal);
  }
  const costs = new CostFinder(options);
  return {
    recordsInput: true,
    runsElsewhere: true,
    reservesCalls: true,
    findCost: (call, signal) => costs.find(call, signal),
    run: async (task, signal) => redactOutcome(await answer(task, signal), redactor),
  };
}

type Spent = Pick<Outcome, "costMicro" | "usage">;

/** An agent whose provider could do no more begins again, in the same attempt. */
function mayRepeat({ code }: Failed, { atMostOnce, leftMicro }: Task): boolean {
  return code === "AGENT_ERROR_RESULT" && atMostOnce !== true && (leftMicro === undefined || leftMicro > 0);
}

/** Adds what earlier calls of the attempt have cost. */
function addSpent(outcome: Outcome, { costMicro, usage = {} }: Spent): Outcome {
  const total = outcome.costMicro === null || costMicro === null ? null : outcome.costMicro + costMicro;
  const sums = Object.entries({ ...usage, ...outcome.usage }).map(([name, last]) => {
    const [before, now] = [usage[name], outcome.usage?.[name]];
    return [name, typeof before === "number" && typeof now === "number" ? before + now : last];
  });
  return { ...outcome, costMicro: total, ...(sums.length === 0 ? {} : { usage: Object.fromEntries(sums) }) };
}
