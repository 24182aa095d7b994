import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import type { AgentCatalog } from "../../operations/agents/agent-catalog.ts";
import type { Ports } from "../../operations/application/ports.ts";
import type { ServiceCaller } from "../../operations/application/service-caller.ts";
import type { EventFeed } from "../../operations/events/event-feed.ts";
import type { Quotas } from "../../operations/limits/quotas.ts";
import type { ExecuteParts } from "../../operations/requests/execute-request.ts";
import type { FollowedRuns } from "../../operations/runs/follow/followed-runs.ts";
import type { RequestRunner } from "../../operations/start/request-runner.ts";
import type { Submissions } from "../../operations/start/submit-run.ts";
import type { TriggerTable } from "../../operations/triggers/trigger-table.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { KeyScope, StoredKey } from "../../ports/service/api-keys.ts";
import type { OpenStreams } from "./open-streams.ts";

export interface HttpParts extends ExecuteParts {
  readonly app: Ports;
  readonly runner: RequestRunner;
  readonly submissions: Submissions;
  readonly version: string;
  /** The triggers of the application's definitions, or of those that count for a tenant, as they are now. */
  triggers(tenantId?: string): Promise<TriggerTable>;
  /** The application's agents, held ready. */
  readonly agents: Pick<AgentCatalog, "find">;
  /** Graphs of runs that were answered, for those that follow. */
  readonly graphs: Map<string, IndexedGraph>;
  /** Host names that requests may be for. Undefined: any. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** Lets only those pass who may. Throws `UNAUTHORIZED`, `FORBIDDEN`, `RATE_LIMITED`. */
  authorize(c: Context<HttpEnv>, scope: Admission, way?: KeyWay): Promise<void>;
  /** The application as the caller may see it. */
  appFor(c: Context<HttpEnv>): Ports;
  readonly quotas: Quotas;
  callerFor(c: Context<HttpEnv>): ServiceCaller;
  /** Speaks MCP. Throws `SERVER_STOPPING`. */
  mcp(request: Request, caller: ServiceCaller): Promise<Response>;
  /** Those that follow something. */
  readonly streams: OpenStreams;
  readonly followed: FollowedRuns;
  readonly feed: EventFeed;
  /** Absent: nothing is counted. */
  readonly metrics: Metrics | undefined;
  /** Whether only this machine can reach the server. */
  readonly isLoopback: boolean;
  log(entry: RequestEntry): void;
  onDefect(error: unknown): void;
}

/** A scope that the caller's key must have. `anybody`: no key is looked at, and addresses are limited. `open`: nothing is limited. */
export type Admission = KeyScope | "anybody" | "open";

export interface RequestEntry {
  readonly method: string;
  /** The pattern that fitted, never the path: that and its query may hold what is not for a log. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly runId: string | undefined;
}

export interface KeyWay {
  /** Takes the key as `?token=` too, for `EventSource` in browsers, which sends no headers. Addresses end up in logs. */
  readonly mayBeInQuery?: boolean;
}

/** How an error is written where the request went to. */
export type ErrorShape = "execute" | "envelope" | "agents";

export interface HttpEnv {
  /** `@hono/node-server` sets these. */
  Bindings: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };
  Variables: {
    requestId: string;
    traceId: string | undefined;
    runId: string | undefined;
    /** The pattern of the application's route. */
    route: string | undefined;
    /** With which the caller came in. Absent: the configured one, or none is needed. */
    key: StoredKey | undefined;
    /** The caller came in with the configured key. */
    bearsConfigured: boolean | undefined;
    /** How lists are written where the request went to: with a cursor, or with numbers of pages. */
    listShape: "cursor" | "numbered" | undefined;
  };
}
