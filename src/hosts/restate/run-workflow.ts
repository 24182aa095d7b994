import {
  CancelledError,
  type DurablePromise,
  handlers,
  PauseError,
  RestatePromise,
  serde,
  TerminalError,
  type WorkflowContext,
  type WorkflowSharedContext,
  workflow,
} from "@restatedev/restate-sdk";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { RunDriver } from "./run-driver.ts";
import { type RunEntry, RunEntrySerde } from "./run-entry.ts";

export interface RunWorkflowOptions {
  readonly service: string;
}

/** What an invocation is called with. It stands in Restate's journal, so that a replay reads the same. */
interface Part {
  /** Absent: the key of the invocation, which is the first of its run. */
  readonly run?: string;
  /** So many entries are recorded before another invocation goes on with the run: each is replayed after a crash. */
  readonly maxEntries?: number;
  /** An earlier invocation of the run was cancelled in Restate. */
  readonly isCancelled?: boolean;
}

/** What the handler needs of the driver. */
type Handled = Pick<RunDriver, "next" | "confirm">;

interface Outcome {
  readonly hasEnded: boolean;
  readonly isCancelled: boolean;
}

interface State {
  /** The key of the invocation that drives the run now. Absent: the first one. */
  part: string;
  /** How often it has waited, plus one. Absent: 1. */
  wait: number;
}

/** Of an invocation that was not asked for by Pawl. */
const MAX_ENTRIES = 1_000;
/** A handler that only waits is let go of after this time. One that works finishes its entry. */
const INACTIVITY_MS = 1_000;
/** No entry waits longer for its steps. */
const ABORT_MS = 365 * 24 * 3_600_000;
const JOURNAL_RETENTION_MS = 3_600_000;
/** A server or an endpoint that is back is at work again within half a second. */
const RETRY = { initialInterval: 50, exponentiationFactor: 2, maxInterval: 500 } as const;
/** About a day of an endpoint that cannot be reached. Then it is paused, and a person has to resume it. */
const MAX_ATTEMPTS = 2 * 86_400;

/** No further try can succeed. */
const HOPELESS: ReadonlySet<string> = new Set(["JOURNAL_DAMAGED", "GRAPH_FORMAT_UNKNOWN"]);

/** The workflow of which each run is one, keyed by its id. */
export function createRunWorkflow(driver: Handled, { service }: RunWorkflowOptions) {
  const run = async (ctx: WorkflowContext<State>, part: Part = {}): Promise<Outcome> => {
    let outcome = await drive(ctx, part, driver);
    if (part.run !== undefined) return outcome;
    for (let number = 2; !outcome.hasEnded; number += 1) {
      const key = `${ctx.key}~${number}`;
      ctx.set("part", key);
      const { isCancelled } = outcome;
      outcome = await callPart(ctx, { service, key, part: { ...part, run: ctx.key, isCancelled } });
    }
    return outcome;
  };
  const wake = async (ctx: WorkflowSharedContext<State>): Promise<void> => {
    const part = await ctx.get("part");
    if (part !== null) {
      ctx.genericSend({ service, method: "wake", key: part, parameter: new Uint8Array() });
      return;
    }
    const wait = (await ctx.get("wait")) ?? 1;
    // That wait may be over, and this state of a moment before: then the next one is not to begin.
    if (!(await resolves(ctx.promise<boolean>(wakeName(wait))))) await resolves(ctx.promise(wakeName(wait + 1)));
  };
  return workflow({
    name: service,
    handlers: { run, wake: handlers.workflow.shared(wake) },
    options: {
      inactivityTimeout: INACTIVITY_MS,
      abortTimeout: ABORT_MS,
      journalRetention: JOURNAL_RETENTION_MS,
      retryPolicy: { ...RETRY, maxAttempts: MAX_ATTEMPTS, onMaxAttempts: "pause" },
    },
  });
}

/** Everything that it decides it reads in entries, so that a replay takes the same way. */
async function drive(ctx: WorkflowContext<State>, part: Part, driver: Handled): Promise<Outcome> {
  const { run: runId = ctx.key, maxEntries = MAX_ENTRIES } = part;
  const attempt = { runId, ended: ctx.request().attemptCompletedSignal };
  const entrySerde = new RunEntrySerde();
  let last: RunEntry | undefined;
  // What was asked while the invocation before this one ended may have woken only that one.
  let isWoken = part.run !== undefined;
  let isCancelled = part.isCancelled === true;
  for (let entries = 1, wait = 1; entries <= maxEntries; entries += 1) {
    const known = { last, isWoken, isCancelled, isLast: entries === maxEntries };
    try {
      const entry = await ctx.run("commit", () => driver.next(attempt, known).catch(pauseIfHopeless), {
        serde: entrySerde,
      });
      await driver.confirm(attempt, entry);
      if (entry.type === "ended" || (entry.type === "committed" && entry.isEnd)) return { hasEnded: true, isCancelled };
      last = entry;
      isWoken = false;
      if (entry.type !== "waits") continue;
      await waitFor(ctx, wakeName(wait), entry.forMs);
      isWoken = true;
      wait += 1;
      ctx.set("wait", wait);
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
      isCancelled = true;
    }
  }
  return { hasEnded: false, isCancelled };
}

/** Resolves when the time has come, or when it is woken. From then on it cannot be woken from this wait. */
async function waitFor(ctx: WorkflowContext<State>, name: string, forMs: number | undefined): Promise<void> {
  const woken = ctx.promise<boolean>(name).get();
  if (forMs === undefined) return void (await woken);
  const isWoken = await RestatePromise.race([woken, ctx.sleep(forMs).map((_, failure) => notFailed(failure))]);
  if (!isWoken) await resolves(ctx.promise<boolean>(name));
}

function notFailed(failure: Error | undefined): false {
  if (failure !== undefined) throw failure;
  return false;
}

/** False: it was resolved before. */
async function resolves(promise: DurablePromise<boolean>): Promise<boolean> {
  try {
    await promise.resolve(true);
    return true;
  } catch (error) {
    if (error instanceof CancelledError || !(error instanceof TerminalError)) throw error;
    return false;
  }
}

/** Another invocation goes on with the run. A cancel of this one is a cancel of that one, which then ends the run. */
async function callPart(
  ctx: WorkflowContext<State>,
  { service, key, part }: { readonly service: string; readonly key: string; readonly part: Part },
): Promise<Outcome> {
  const call = ctx.genericCall<Part, Outcome>({
    service,
    method: "run",
    key,
    parameter: part,
    inputSerde: serde.json,
    outputSerde: serde.json,
  });
  const { invocationId } = call;
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    return ctx.attach(await invocationId, serde.json);
  }
}

function wakeName(wait: number): string {
  return `wake-${wait}`;
}

function pauseIfHopeless(error: unknown): never {
  if (isPawlError(error) && HOPELESS.has(error.code)) throw new PauseError(`${error.code} ${error.message}`);
  throw error;
}
