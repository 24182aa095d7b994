import type { Driving, Stores } from "../../operations/application/ports.ts";
import { QUOTAS, type QuotaName, type Quotas } from "../../operations/limits/quotas.ts";
import type { RequestRunner } from "../../operations/start/request-runner.ts";
import type { CapacityView, PoolState } from "../../ports/capacity.ts";
import { UNFINISHED_STATUSES } from "../../ports/journal.ts";
import type { OpenStreams } from "../../surfaces/http/open-streams.ts";
import type { MetricsGauge } from "../../telemetry/metrics/service-metrics.ts";

export interface Served {
  readonly runner: Pick<RequestRunner, "inFlight">;
  readonly streams: Pick<OpenStreams, "open">;
  readonly quotas: Pick<Quotas, "used" | "most">;
  /** Whether tenants are told apart. */
  readonly tenantLabel: boolean;
}

/** Numbers that are counted when the metrics are asked for. */
export function describeGauges(app: Stores & Driving, served: Served): readonly MetricsGauge[] {
  const { runner, streams } = served;
  return [
    ...describePools(app.capacity),
    ...describeQuotas(served),
    {
      name: "pawl_quota_limit",
      help: "How much of it a tenant may have at once.",
      label: "quota",
      read: async () => new Map(Object.entries(served.quotas.most)),
    },
    {
      name: "pawl_runs",
      help: "Runs that have not ended; `queued` is what has not begun.",
      label: "status",
      read: () => countUnfinishedRuns(app),
    },
    {
      name: "pawl_deliveries",
      help: "Webhooks, Slack messages and e-mail of the last 30 days; `pending` is what waits.",
      label: "status",
      read: () => countDeliveries(app),
    },
    {
      name: "pawl_approvals_open",
      help: "Questions that wait for a person.",
      read: () => countOpenApprovals(app),
    },
    {
      name: "pawl_requests_waiting",
      help: "Requests that wait for the end of their run.",
      read: async () => new Map([["", runner.inFlight]]),
    },
    {
      name: "pawl_event_streams_open",
      help: "Followers of server-sent events.",
      read: async () => new Map([["", streams.open]]),
    },
  ];
}

function describeQuotas({ quotas, tenantLabel }: Served): readonly MetricsGauge[] {
  return Object.entries(QUOTAS).map(([name, what]) => ({
    name: `pawl_quota_${name}`,
    help: `In use by tenants: ${what}.`,
    ...(tenantLabel ? { label: "tenant" } : {}),
    read: async () => {
      const counts = new Map<string, number>(tenantLabel ? [] : [["", 0]]);
      for (const [tenant, used] of quotas.used) {
        const label = tenantLabel ? tenant : "";
        counts.set(label, (counts.get(label) ?? 0) + used[name as QuotaName]);
      }
      return counts;
    },
  }));
}

/** Definitions may name servers, and each value of a label is a time series for ever. */
const MAX_POOLS = 100;

function describePools(capacity: CapacityView): readonly MetricsGauge[] {
  const gauge = (name: string, help: string, count: (pool: PoolState) => number): MetricsGauge => ({
    name: `pawl_capacity_${name}`,
    help,
    label: "pool",
    read: async () => {
      const counts = new Map<string, number>();
      for (const pool of capacity.pools()) {
        const label = counts.size < MAX_POOLS ? pool.name : "other";
        counts.set(label, (counts.get(label) ?? 0) + count(pool));
      }
      return counts;
    },
  });
  return [
    gauge("width", "Calls that a server or a model takes at once, as far as is known.", ({ width }) => width),
    gauge("in_flight", "Calls that it works on.", ({ inFlight }) => inFlight),
    gauge("waiting", "Calls that wait for it.", ({ waiting }) => waiting),
    {
      ...gauge("refused_total", "Calls that it has refused for the moment.", ({ refused }) => refused),
      isCounter: true,
    },
  ];
}

/** Runs that have not ended, by status. */
async function countUnfinishedRuns(app: Stores): Promise<ReadonlyMap<string, number>> {
  const { journal } = await app.records();
  const counts = new Map<string, number>();
  for (const status of UNFINISHED_STATUSES) counts.set(status, await journal.countRuns({ status: [status] }));
  return counts;
}

/** Messages to others, by what has become of them. */
async function countDeliveries(app: Stores): Promise<ReadonlyMap<string, number>> {
  const { deliveries } = await app.service();
  const counts = new Map<string, number>();
  for (const status of ["pending", "delivered", "failed", "skipped"] as const)
    counts.set(status, await deliveries.count({ status: [status] }));
  return counts;
}

/** Questions that wait for a person: each run's row says how many. */
async function countOpenApprovals(app: Stores): Promise<ReadonlyMap<string, number>> {
  const { journal } = await app.records();
  return new Map([["", await journal.countApprovals()]]);
}
