import { setTimeout } from "node:timers/promises";
import { isPawlError, PawlError } from "../../src/core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../src/core/json.ts";
import type { LocalHostOptions } from "../../src/hosts/local/local-host-options.ts";
import type { RunHost } from "../../src/hosts/run-host.ts";
import type { Executor, Failed } from "../../src/ports/executor.ts";
import type { Journal } from "../../src/ports/journal.ts";
import type { Behaviour } from "../simulation/behaviour.ts";
import { randomBehaviour } from "../simulation/random-behaviour.ts";
import { type RandomRun, randomRun } from "../simulation/random-graph.ts";

/** What the moment alone would change is left out. */
const TRAITS = { hasTimeouts: false, hasAborts: false, hasAtMostOnce: false, hasCalls: true };

export interface DrawnRun extends RandomRun {
  readonly id: string;
  readonly behaviour: Behaviour;
}

export function drawRun(seed: number): DrawnRun {
  const run = randomRun(seed, 1 + (seed % 12), TRAITS);
  return { ...run, id: `drawn-${seed}`, behaviour: randomBehaviour({ seed, failing: 0.2 }) };
}

/** The executor and the calls of a host that plays drawn runs. */
export function playersOf(runs: readonly DrawnRun[]): {
  readonly executor: Executor;
  readonly options: Partial<LocalHostOptions>;
} {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const failures = new Map<string, number>();
  const executor: Executor = {
    recordsInput: false,
    async run({ runId, path, stepId, attempt, input }) {
      const key = `${runId} ${path}`;
      const failed = failures.get(key) ?? 0;
      const call = { path, stepId, attempt, failures: failed, input, answers: [], leftMicro: undefined };
      const result = byId.get(runId)?.behaviour.task(call);
      if (result === undefined) throw new Error(`There is no run ${runId}.`);
      const costMicro = result.costMicro ?? 0;
      if ("output" in result) return { status: "succeeded", output: result.output, costMicro };
      if ("asks" in result) return { status: "succeeded", output: { asks: result.asks }, costMicro };
      failures.set(key, failed + 1);
      const { fail: code, retryable = false, effect = "none" } = result;
      return { status: "failed", code, message: `${code}.`, retryable, effect, costMicro } satisfies Failed;
    },
  };
  return {
    executor,
    options: {
      async resolveCall({ workflow, input, options }) {
        const graph = byId.get(String(options["drawn"]))?.callable[String(workflow)];
        if (graph === undefined)
          throw new PawlError("WORKFLOW_NOT_FOUND", { message: `There is no workflow ${JSON.stringify(workflow)}.` });
        return { definition: { text: "", graph }, input: isJsonObject(input) ? input : {} };
      },
    },
  };
}

/** Starts a drawn run, answers its questions, and sends the events that it waits for. Resolves at its end. */
export async function playRun(host: RunHost, journal: Journal, run: DrawnRun): Promise<void> {
  const { graph, input, behaviour, id: runId } = run;
  const failed = Promise.withResolvers<never>();
  const stop = host.watch(runId, (notice) => {
    if (notice.type !== "event" || notice.event.type !== "approvalAsked") return;
    const { path } = notice.event;
    const { answer = "approve" } = behaviour.answer?.(path, undefined) ?? {};
    host.request(runId, { type: "answer", path, answer: { answer } }).catch(failed.reject);
  });
  await host.startRun({ runId, definition: { text: "", graph }, input, options: { drawn: runId } });
  await Promise.race([sendUntilEnded(host, journal, run), failed.promise]);
  stop();
}

const LOOK_EVERY_MS = 20;
/** Events that are named by a number of the input. */
const COUNTED = Array.from({ length: 6 }, (_, count) => `go ${count}`);

/** Which event a step waits for is not always recorded, so that a run which waits gets each that it may wait for. */
async function sendUntilEnded(host: RunHost, journal: Journal, { id, graph, callable }: DrawnRun): Promise<void> {
  const written = JSON.stringify([graph, callable]).match(/(?<=")go [^"]*(?=")/g);
  const names = new Set([...(written ?? []), ...COUNTED]);
  for (;;) {
    const record = await journal.findRun(id);
    if (record === undefined || record === "ambiguous") throw new Error(`There is no run ${id}.`);
    if (record.completedAt !== undefined) return;
    const isWaiting = record.parked && record.wakeAt === undefined && record.openApprovals === 0;
    for (const name of isWaiting ? names : []) await sendIfOpen(host, id, name);
    await setTimeout(LOOK_EVERY_MS);
  }
}

async function sendIfOpen(host: RunHost, runId: string, name: string): Promise<void> {
  try {
    await host.request(runId, { type: "signal", name, payload: { sent: name, n: 3 } });
  } catch (error) {
    if (!isPawlError(error) || error.code !== "RUN_FINISHED") throw error;
  }
}

/**
 * Everything that is recorded of a run but times, numbers, starts and events from outside, which depend on the moment. Which of two
 * steps ends last depends on it too, so that the decisions stand beside the events that have caused them.
 */
export async function historyOf(journal: Journal, runId: string): Promise<readonly string[]> {
  const record = await journal.findRun(runId);
  if (record === undefined || record === "ambiguous") throw new Error(`There is no run ${runId}.`);
  const rows = await journal.readEvents(record.no, { afterSeq: 0, limit: 10_000 });
  const values = await journal.readValues(
    record.no,
    rows.map(({ seq }) => seq),
  );
  const lines = rows
    .filter(({ event }) => event.type !== "stepStarted" && event.type !== "signalReceived")
    .flatMap(({ seq, event: { decided = [], ...event } }) => [
      JSON.stringify([withoutTimes(event as unknown as Json), values.get(seq) ?? null]),
      ...decided.map((decision) => `decided ${JSON.stringify(withoutTimes(decision))}`),
    ]);
  return [record.status, ...lines.sort()];
}

const OF_THE_MOMENT = new Set(["at", "startedAt", "asked", "seq", "waitedMs", "completedAt"]);
const EARLIEST_TIME = 1e12;

function withoutTimes(value: Json): Json {
  if (typeof value === "number") return value > EARLIEST_TIME ? "time" : value;
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !OF_THE_MOMENT.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutTimes(inner as Json)]));
}
