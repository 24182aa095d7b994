import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Inbox } from "../../ports/inbox.ts";
import { type Journal, type RunRecord, UNFINISHED_STATUSES } from "../../ports/journal.ts";
import { NO_BUDGETS } from "../../ports/waits.ts";
import type { RunHost } from "../run-host.ts";
import type { RestateApi } from "./restate-api.ts";
import type { RestateEndpoint } from "./restate-endpoint.ts";

interface RestateHostParts {
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

export interface RestateHost extends RunHost {
  /** Before the journal is closed. */
  close(): Promise<void>;
  /** Where Restate calls this process: tells it of every run that has not ended. It goes on once with each. */
  startUnfinished(): Promise<void>;
}

/** Runs are created in our records, and driven by Restate: where one of its invocations is, there the run is in memory. */
export function createRestateHost(parts: RestateHostParts): RestateHost {
  const { host, starts, api, journal, clock, endpoint, onDefect } = parts;

  async function startAll(isWanted: (run: RunRecord) => boolean): Promise<void> {
    for (let afterRun = 0; ; ) {
      const runs = await journal.listRuns({ status: UNFINISHED_STATUSES, afterRun, limit: SLICE });
      for (const run of runs) if (isWanted(run)) api.start(run.id);
      const last = runs.at(-1);
      if (last === undefined || runs.length < SLICE) return;
      afterRun = last.no;
    }
  }

  /** A process may have died between the creation of a run and telling Restate of it. */
  const startOverdue = () =>
    startAll(({ status, createdAt }) => status === "queued" && createdAt < clock.now() - OVERDUE_MS).catch(onDefect);
  const looking = endpoint && setInterval(() => void startOverdue(), LOOK_EVERY_MS).unref();
  return {
    get driving() {
      return host.driving;
    },
    recover: () => host.recover(),
    async startRun(start) {
      const { name, concurrency, rate } = start.definition.graph;
      if (concurrency !== undefined || rate !== undefined)
        throw new PawlError("NOT_SUPPORTED", {
          message: `"${name}" says ${rate === undefined ? "`concurrency` or `debounce`" : "`rate`"}, and Restate drives the runs.`,
          remedy: "Serve it without `RESTATE_URL`.",
        });
      const record = await starts.startRun(start);
      api.start(record.id);
      return record;
    },
    request: (runId, request) => host.request(runId, request),
    budgetView: (runs) => host.budgetView?.(runs) ?? NO_BUDGETS,
    deleteRun: (runId) => host.deleteRun(runId),
    watch: (runId, listen) => host.watch(runId, listen),
    settled: (runId) => host.settled(runId),
    stopAsking: () => host.stopAsking?.(),
    /** From then on Restate's calls fail, and it tries them elsewhere or later. */
    async park(force, hold) {
      clearInterval(looking);
      await endpoint?.close();
      await host.park(force, hold);
      if (starts !== host) await starts.park(force);
    },
    async close() {
      clearInterval(looking);
      await endpoint?.close();
      await api.close();
    },
    startUnfinished: async () => (endpoint === undefined ? undefined : startAll(() => true)),
  };
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
