import type { Executor, Failed, Outcome, Task } from "../../../ports/executor.ts";
import { costOfTry, type ModelPrices, USUAL_STEP_TURNS, USUAL_TOKENS } from "../../../ports/model-prices.ts";
import { JsonSchemas } from "../../../schemas/json-schemas.ts";
import type { Accepted } from "../../capacity/capacity-pool.ts";
import type { CapacityPools } from "../../capacity/capacity-pools.ts";
import { toInterrupted, toSchemaInvalid } from "../../output/failure.ts";
import { createRedactor, redactOutcome } from "../../output/redact.ts";
import { type AgentInput, readAgentInput } from "../agent-input.ts";
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
  /** Bounds what a try may cost under a budget. Absent: all that is left, one after the other. */
  readonly prices?: ModelPrices;
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

/** Answers agent steps with a Sandstorm server: POST /query, an SSE stream back. Configured keys go there only and are masked in all results. */
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
    const asked = task.isLimited === true ? await boundOf(input, options.prices) : undefined;
    const reservation = await task.reserve({
      atMostMicro: asked?.most,
      leastMicro: asked?.least,
      payee: server.shownUrl,
    });
    if ("status" in reservation) return reservation;
    const { atMostMicro, loweredBy } = reservation;
    const overloaded: Spent[] = [];
    const leftMicro = () => {
      if (task.isLimited !== true || atMostMicro === undefined) return undefined;
      return overloaded.reduce((left, { costMicro }) => left - (costMicro ?? left), atMostMicro);
    };
    const send = async (onWorking: Accepted) => {
      const timeouts = startTimeouts(signal, {
        connectMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        idleMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
      });
      try {
        const call = { maxCostMicro: leftMicro(), loweredBy, record: () => reservation.record() };
        const turn = { timeouts, onWorking, overloads: overloaded.length, ...call };
        const outcome = await ask(
          input,
          { task, server, outbound: options.outbound, log, redactor, afterResultMs, ...turn },
          schema?.validate,
        );
        const whole = overloaded.reduce(addSpent, outcome);
        if (outcome.status === "failed" && mayRepeat(outcome)) overloaded.push(outcome);
        // A refusal has cost nothing, and the pool must see that.
        return outcome.status === "failed" && outcome.effect === "none" ? outcome : whole;
      } finally {
        timeouts.close();
      }
    };
    /** An agent whose provider could do no more begins again, in the same attempt. */
    const mayRepeat = ({ code }: Failed) =>
      code === "AGENT_ERROR_RESULT" && task.atMostOnce !== true && (leftMicro() ?? 1) > 0;
    const pool = options.capacity?.ofServer(server.queryUrl);
    try {
      return await (pool === undefined
        ? send(() => undefined)
        : pool.send({ caller: task, send, mayRepeat, ...OUTCOMES }, signal));
    } finally {
      reservation.release();
    }
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

/** With less there is no answer worth paying for. */
const LEAST_ANSWER = 256;

type Spent = Pick<Outcome, "costMicro" | "usage">;

/** The most that a try of an agent costs, as it is planned, and the least. Undefined: its model has no known price. */
async function boundOf({ prompt, model, maxTurns }: AgentInput, prices: ModelPrices | undefined) {
  const price = await prices?.find(model, { forAgent: true });
  if (price?.kind !== "priced") return undefined;
  const { answer: outputTokens, toolResult: addedTokens, instructions, bytesEach } = USUAL_TOKENS;
  const inputTokens = Math.ceil(Buffer.byteLength(prompt) / bytesEach) + instructions;
  const calls = maxTurns ?? USUAL_STEP_TURNS;
  const most = await costOfTry({ calls, inputTokens, outputTokens, addedTokens }, price);
  return { most, least: await price.costMicro({ input: inputTokens, output: LEAST_ANSWER }) };
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
