import { BoundedMap } from "../../core/bounded-map.ts";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import { AgentCatalog } from "../../operations/agents/agent-catalog.ts";
import type { Ports } from "../../operations/application/ports.ts";
import type { EventFeed } from "../../operations/events/event-feed.ts";
import { Quotas } from "../../operations/limits/quotas.ts";
import { FetchedDefinitions } from "../../operations/requests/fetched-definitions.ts";
import { FollowedRuns } from "../../operations/runs/follow/followed-runs.ts";
import type { RequestRunner } from "../../operations/start/request-runner.ts";
import { Submissions } from "../../operations/start/submit-run.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import type { HttpParts, RequestEntry } from "../../surfaces/http/http-parts.ts";
import { OpenStreams } from "../../surfaces/http/open-streams.ts";
import { ServiceMcp } from "./service-mcp.ts";

const MAX_GRAPHS = 500;

export type Gate = Pick<HttpParts, "authorize" | "appFor" | "callerFor">;

interface Composed extends Pick<HttpParts, "hosts" | "isLoopback" | "metrics" | "triggers" | "onDefect"> {
  readonly app: Ports;
  readonly runner: RequestRunner;
  readonly feed: EventFeed;
  readonly streams?: OpenStreams;
  readonly quotas?: Quotas;
  readonly version: string;
  /** Decides who is let in, and as whom. */
  readonly gate: Gate;
  logRequest(entry: RequestEntry): void;
  log(level: "info" | "error", line: string): void;
}

export function openQuotas(app: Ports): Quotas {
  return new Quotas(app.config.settings.quotas, async (tenant) => (await app.records()).journal.sumStoredBytes(tenant));
}

/** The parts that answer requests, for the server and for the owner's socket. */
export function composeHttpParts(composed: Composed): { readonly parts: HttpParts; readonly mcp: ServiceMcp } {
  const { app, runner, feed, version, gate, hosts, isLoopback, metrics, streams = new OpenStreams() } = composed;
  const { quotas = openQuotas(app) } = composed;
  const submissions = new Submissions(runner);
  const mcp = new ServiceMcp({
    submissions,
    version,
    maxBodyBytes: app.config.settings.server.max_body_bytes,
    stopping: streams.stopping,
    log: (line) => composed.log("info", `mcp: ${line}`),
    onDefect: (line) => composed.log("error", line),
  });
  const parts: HttpParts = {
    app,
    runner,
    submissions,
    version,
    streams,
    quotas,
    followed: new FollowedRuns(),
    feed,
    metrics,
    isLoopback,
    hosts,
    authorize: (c, scope, way) => gate.authorize(c, scope, way),
    appFor: (c) => gate.appFor(c),
    callerFor: (c) => gate.callerFor(c),
    mcp: (request, caller) => mcp.fetch(request, caller),
    checker: new JsonSchemas(),
    fetched: new FetchedDefinitions(app),
    triggers: (tenantId) => composed.triggers(tenantId),
    agents: new AgentCatalog(app),
    graphs: new BoundedMap<string, IndexedGraph>(MAX_GRAPHS),
    log: (entry) => composed.logRequest(entry),
    onDefect: (error) => composed.onDefect(error),
  };
  return { parts, mcp };
}
