import type { Hono } from "hono";
import { readVersion } from "../../config/read-version.ts";
import type { Settings } from "../../config/settings.ts";
import type { Ports } from "../../operations/application/ports.ts";
import { withMethods } from "../../operations/application/with-methods.ts";
import { EventFeed } from "../../operations/events/event-feed.ts";
import { RequestRunner } from "../../operations/start/request-runner.ts";
import { TriggerTables } from "../../operations/triggers/trigger-tables.ts";
import { createHttpApp } from "../../surfaces/http/create-http-app.ts";
import type { HttpEnv, HttpParts } from "../../surfaces/http/http-parts.ts";
import { OpenStreams } from "../../surfaces/http/open-streams.ts";
import { loadEndpoints } from "../../surfaces/http/service/endpoints.ts";
import { composeHttpParts, type Gate } from "./compose-http-parts.ts";

interface QuietService extends Pick<HttpParts, "hosts" | "isLoopback" | "onDefect"> {
  /** What this listener has in place of the server's settings. */
  readonly settings: Partial<Settings["server"]>;
  gate(app: Ports): Gate;
  mountMore?(http: Hono<HttpEnv>, app: Ports): readonly string[];
}

/** All routes of `pawl serve` on a listener of another process: nothing is logged or counted, and no other origin may ask. */
export async function openQuietService(whole: Ports, service: QuietService) {
  const { config } = whole;
  const server = { ...config.settings.server, ...service.settings, cors_origins: [] };
  const app = withMethods(whole, { config: { ...config, settings: { ...config.settings, server } } });
  const { hosts, isLoopback, onDefect } = service;
  const feed = new EventFeed({ records: () => app.records(), secrets: () => app.secrets(), onDefect });
  const tables = new TriggerTables(app);
  const streams = new OpenStreams();
  const { parts } = composeHttpParts({
    app,
    runner: new RequestRunner(await app.host(), { maxInFlight: server.max_in_flight }),
    feed,
    streams,
    metrics: undefined,
    version: await readVersion(),
    gate: service.gate(app),
    isLoopback,
    hosts,
    triggers: (tenantId) => tables.find(tenantId),
    logRequest: () => undefined,
    log: () => undefined,
    onDefect,
  });
  const http = createHttpApp(parts, await loadEndpoints(), (mounted) => service.mountMore?.(mounted, app) ?? []);
  return { http, feed, stop: () => streams.stop() };
}
