import type { Application } from "../../operations/application/application.ts";
import type { RequestRunner } from "../../operations/requests/request-runner.ts";
import { countDeliveries, countOpenApprovals, countUnfinishedRuns } from "../../operations/service/metrics-gauges.ts";
import type { OpenStreams } from "../../surfaces/http/open-streams.ts";
import type { MetricsGauge } from "../../telemetry/metrics/service-metrics.ts";

export interface Served {
  readonly runner: Pick<RequestRunner, "inFlight">;
  readonly streams: Pick<OpenStreams, "open">;
}

/** Numbers that are counted when somebody asks for the metrics. */
export function describeGauges(app: Application, { runner, streams }: Served): readonly MetricsGauge[] {
  return [
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
