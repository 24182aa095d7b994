import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonDeeperThan } from "../../../core/json-depth.ts";
import { forOwner } from "../../../operations/application/owner-application.ts";
import { MAX_REQUEST_DEPTH } from "../../../operations/requests/parse-json.ts";
import { resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { readRunResult } from "../../../operations/runs/read-run-result.ts";
import { toRequestInput } from "../../../operations/start/input/to-run-input.ts";
import { prepareStart } from "../../../operations/start/prepare-run.ts";
import { withTrace } from "../../../operations/start/with-trace.ts";
import type { RouteMatch } from "../../../operations/triggers/route-table.ts";
import type { TriggerTarget } from "../../../operations/triggers/trigger-table.ts";
import { callerOf } from "../caller-of.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { pathOf } from "../path-of.ts";
import { readBody } from "../read-body.ts";
import { isolate, splitTenantPath, TENANT_ROUTES, withoutCookies } from "../tenant-routes.ts";
import { toHttpDetails } from "../to-http-details.ts";
import { toHttpResponse } from "../to-http-response.ts";

/** Every path that is not the service's own: the workflow whose trigger fits answers. */
export async function answerApplication(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const { method } = c.req;
  const { tenantId, path } = splitTenantPath(pathOf(c.req.raw.url));
  const match = (await parts.triggers(tenantId)).routes.match(method, path);
  switch (match.is) {
    case "malformed":
      throw new PawlError("REQUEST_INVALID", { message: "The path is not encoded as it should be." });
    case "nothing":
      throw new PawlError("PATH_NOT_FOUND", { message: "Nothing is served at this path." });
    case "other methods":
      c.header("allow", match.methods.join(", "));
      if (method === "OPTIONS") return c.body(null, 204);
      throw new PawlError("METHOD_NOT_ALLOWED", { message: `This path takes ${match.methods.join(", ")}.` });
    case "route":
      return answerRoute(parts, c, match);
  }
}

type Matched = RouteMatch<TriggerTarget> & { readonly is: "route" };

async function answerRoute(parts: HttpParts, c: Context<HttpEnv>, { route, parameters }: Matched): Promise<Response> {
  const { app, runner, checker } = parts;
  const { target } = route;
  const { definition, tenantId } = target;
  const { graph } = definition;
  c.set("route", `${tenantId === undefined ? "" : TENANT_ROUTES}${route.pattern.written}`);
  runner.refuseWhereFull();
  const body = await readBody(c.req.raw, app.config.settings.server.max_body_bytes);
  const isolated = tenantId === undefined ? c.req.raw : withoutCookies(c.req.raw);
  const httpDetails = toHttpDetails(isolated, { body, parameters, routePattern: route.pattern.written });
  refuseDeep(httpDetails["body"]);
  const traceId = c.get("traceId");
  const context = {
    workflowInfo: { workflowId: graph.name },
    ...(traceId === undefined ? {} : { traceId }),
    ...(target.file === undefined ? {} : await resolveTrustedContext(app, runner, callerOf(c))),
  };
  const request = { requestId: c.get("requestId"), requestData: { source: "http", httpDetails }, context };
  const input = await toRequestInput(request, graph, checker);
  const prepared = await prepareStart(forOwner(app, target), { ...target, input }, { folder: app.appDir });
  c.set("runId", prepared.runId);
  const ran = await runner.run(withTrace(prepared, c.req.header("traceparent")));
  if (ran.is === "unanswered") throw ran.error;
  const ids = { request_id: c.get("requestId"), run_id: ran.record.id };
  if (ran.is === "parked") return c.json({ ...ids, status: ran.record.status }, 202);
  const response = toHttpResponse(await readRunResult(await app.records(), ran.record, parts.graphs), ids);
  if (tenantId !== undefined) isolate(response.headers);
  return response;
}

/** Steps read a body that is JSON as such: what comes after a parser recurses. */
function refuseDeep(body: unknown): void {
  if (typeof body !== "string" || !/^\s*[[{]/.test(body) || !isJsonDeeperThan(body, MAX_REQUEST_DEPTH)) return;
  throw new PawlError("REQUEST_INVALID", { message: `The body nests more than ${MAX_REQUEST_DEPTH} levels deep.` });
}
