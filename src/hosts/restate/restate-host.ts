import type { Clock } from "../../ports/clock.ts";
import type { Inbox } from "../../ports/inbox.ts";
import { type Journal, type RunRecord, UNFINISHED_STATUSES } from "../../ports/journal.ts";
import { type BudgetView, NO_BUDGETS } from "../../ports/waits.ts";
import type { RunHost, RunNotice, RunRequest, RunStart, SettledRun } from "../run-host.ts";
import type { RestateApi } from "./restate-api.ts";
import type { RestateEndpoint } from "./restate-endpoint.ts";

export interface RestateHostParts {
  /** Takes what is asked of runs, and drives those whose invocation is here. */
  readonly host: RunHost;
  /** Creates runs, and drives none of them unless there is no other process. */
  readonly starts: RunHost;
  readonly api: RestateApi;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Undefined: Restate calls other processes. */
  readonly endpoint: RestateEndpoint | undefined;
  onDefect(error: unknown): void;
}

const SLICE = 200;
const LOOK_EVERY_MS = 10_000;
/** The process that has created a run tells Restate of it sooner. */
const OVERDUE_MS = 5_000;

/** Runs are created in our records, and driven by Restate: where one of its invocations is, there the run is in memory. */
export class RestateHost implements RunHost {
  readonly #parts: RestateHostParts;
  readonly #looking: NodeJS.Timeout | undefined;

  constructor(parts: RestateHostParts) {
    this.#parts = parts;
    if (parts.endpoint !== undefined)
      this.#looking = setInterval(() => void this.#startOverdue(), LOOK_EVERY_MS).unref();
  }

  get driving(): number {
    return this.#parts.host.driving;
  }

  async recover(): Promise<{ readonly resumed: number }> {
    return this.#parts.host.recover();
  }

  async startRun(start: RunStart): Promise<RunRecord> {
    const { starts, api } = this.#parts;
    const record = await starts.startRun(start);
    api.start(record.id);
    return record;
  }

  request(runId: string, request: RunRequest): Promise<RunRecord> {
    return this.#parts.host.request(runId, request);
  }

  budgetView(runs: readonly string[]): BudgetView {
    return this.#parts.host.budgetView?.(runs) ?? NO_BUDGETS;
  }

  deleteRun(runId: string): Promise<void> {
    return this.#parts.host.deleteRun(runId);
  }

  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    return this.#parts.host.watch(runId, listen);
  }

  settled(runId: string): Promise<SettledRun> {
    return this.#parts.host.settled(runId);
  }

  stopAsking(): void {
    this.#parts.host.stopAsking?.();
  }

  /** From then on Restate's calls fail, and it tries them elsewhere or later. */
  async park(force: AbortSignal, hold?: string): Promise<void> {
    const { host, starts, endpoint } = this.#parts;
    clearInterval(this.#looking);
    await endpoint?.close();
    await host.park(force, hold);
    if (starts !== host) await starts.park(force);
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#parts.endpoint?.close();
    await this.#parts.api.close();
  }

  /** Where Restate calls this process: tells it of every run that has not ended. It goes on once with each. */
  async startUnfinished(): Promise<void> {
    if (this.#parts.endpoint !== undefined) await this.#startAll(() => true);
  }

  /** A process may have died between the creation of a run and telling Restate of it. */
  async #startOverdue(): Promise<void> {
    const { clock, onDefect } = this.#parts;
    try {
      await this.#startAll(({ status, createdAt }) => status === "queued" && createdAt < clock.now() - OVERDUE_MS);
    } catch (error) {
      onDefect(error);
    }
  }

  async #startAll(isWanted: (run: RunRecord) => boolean): Promise<void> {
    const { journal, api } = this.#parts;
    for (let afterRun = 0; ; ) {
      const runs = await journal.listRuns({ status: UNFINISHED_STATUSES, afterRun, limit: SLICE });
      for (const run of runs) if (isWanted(run)) api.start(run.id);
      const last = runs.at(-1);
      if (last === undefined || runs.length < SLICE) return;
      afterRun = last.no;
    }
  }
}

/** The same inbox, whose requests wake the invocations of their runs. */
export function wakeInvocations(inbox: Inbox, journal: Journal, api: RestateApi): Inbox {
  return {
    ...inbox,
    async send(run, body) {
      const id = await inbox.send(run, body);
      const record = await journal.readRun(run);
      if (record !== undefined) api.wake(record.id);
      return id;
    },
  };
}
