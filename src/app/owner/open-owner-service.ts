import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Application } from "../../operations/application/application.ts";
import { soleCaller } from "../../operations/application/service-caller.ts";
import { withMethods } from "../../operations/application/with-methods.ts";
import { EventFeed } from "../../operations/events/event-feed.ts";
import type { RunObservers } from "../../operations/events/run-observers.ts";
import type { OperationContext } from "../../operations/operation.ts";
import { RequestRunner } from "../../operations/requests/request-runner.ts";
import { TriggerTables } from "../../operations/triggers/trigger-tables.ts";
import { createHttpApp } from "../../surfaces/http/create-http-app.ts";
import type { HttpEnv } from "../../surfaces/http/http-parts.ts";
import { MAX_OWNER_BODY, mountOwnerRoutes } from "../../surfaces/http/owner-routes.ts";
import { readVersion } from "../read-version.ts";
import { composeHttpParts } from "../server/compose-http-parts.ts";
import { SURFACE_HEADER } from "./surface-header.ts";

interface Owned {
  readonly app: Application;
  readonly observers: RunObservers;
  onDefect(error: unknown): void;
}

const SURFACES: readonly string[] = ["api", "cli", "mcp"] satisfies readonly OperationContext["by"][];

/**
 * The service as the owner offers it over its socket: all routes of `pawl serve` without keys and limits, since only the
 * owner's user can open the socket, and those by which processes share the owner.
 */
export async function openOwnerService({ app: given, observers, onDefect }: Owned) {
  const { config } = given;
  const { settings } = config;
  const server = { ...settings.server, max_body_bytes: MAX_OWNER_BODY, cors_origins: [] };
  const app = withMethods(given, { config: { ...config, settings: { ...settings, server } } });
  const feed = new EventFeed({ records: () => app.records(), secrets: () => app.secrets(), onDefect });
  observers.add(feed);
  const tables = new TriggerTables(app);
  const { parts } = composeHttpParts({
    app,
    runner: new RequestRunner(app, await app.host(), { maxInFlight: server.max_in_flight }),
    feed,
    metrics: undefined,
    version: await readVersion(),
    gate: {
      authorize: async () => undefined,
      appFor: () => app,
      callerFor: () => soleCaller(app),
      surfaceOf: (c) => toSurface(c.req.header(SURFACE_HEADER)),
    },
    isLoopback: true,
    hosts: undefined,
    triggers: (tenantId) => tables.find(tenantId),
    logRequest: () => undefined,
    log: () => undefined,
    onDefect,
  });
  const http = createHttpApp(parts, (mounted) => mountOwnerRoutes(mounted, app));
  const answer = getRequestListener((request: Request, env) => http.fetch(request, env as HttpEnv["Bindings"]));
  return (request: IncomingMessage, response: ServerResponse) => answer(request, response);
}

function toSurface(said: string | undefined): OperationContext["by"] {
  return said !== undefined && SURFACES.includes(said) ? (said as OperationContext["by"]) : "api";
}
