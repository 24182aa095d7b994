import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Ports } from "../../operations/application/ports.ts";
import { soleCaller } from "../../operations/application/service-caller.ts";
import type { RunObservers } from "../../operations/events/run-observers.ts";
import type { HttpEnv } from "../../surfaces/http/http-parts.ts";
import { MAX_OWNER_BODY, mountOwnerRoutes } from "../../surfaces/http/owner-routes.ts";
import { openQuietService } from "../server/open-quiet-service.ts";
import type { Successors } from "./open-ownership.ts";

interface Owned {
  readonly app: Ports;
  readonly observers: RunObservers;
  readonly successors: Successors;
  onDefect(error: unknown): void;
}

/** The service on the owner's socket: all routes of `pawl serve`, without keys and limits, and the routes by which processes share the owner. */
export async function openOwnerService({ app: whole, observers, successors, onDefect }: Owned) {
  const { http, feed } = await openQuietService(whole, {
    settings: { max_body_bytes: MAX_OWNER_BODY },
    hosts: undefined,
    isLoopback: true,
    onDefect,
    gate: (app) => ({
      authorize: async () => undefined,
      appFor: () => app,
      callerFor: () => soleCaller(app),
    }),
    mountMore: (http, app) => mountOwnerRoutes(http, app, successors),
  });
  observers.add(feed);
  const answer = getRequestListener((request: Request, env) => http.fetch(request, env as HttpEnv["Bindings"]));
  return (request: IncomingMessage, response: ServerResponse) => answer(request, response);
}
