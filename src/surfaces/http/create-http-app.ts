import { basename } from "node:path";
import { type Context, Hono } from "hono";
import { matchedRoutes } from "hono/route";
import { TrieRouter } from "hono/router/trie-router";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { APPROVAL_LINKS } from "../../operations/approvals/approval-link.ts";
import { inRequest, RequestUse } from "../../operations/limits/quotas.ts";
import { findTrouble } from "../../operations/service/check-health.ts";
import { describeRoutes } from "../../operations/triggers/describe-routes.ts";
import { answerError } from "./answer-error.ts";
import { answerJson } from "./answer-json.ts";
import type { ErrorShape, HttpEnv, HttpParts } from "./http-parts.ts";
import { allowOrigins, checkHost, limitBody, logRequest, nameRequest, secureAnswer, tellNames } from "./middleware.ts";
import { KeyedStreams } from "./open-streams.ts";
import { executeAgent, executeCustomWorkflow, executeWorkflow, runWorkflow, showStatus } from "./routes/agents.ts";
import { answerApplication } from "./routes/application.ts";
import { answerLink } from "./routes/approval-links.ts";
import { execute } from "./routes/execute.ts";
import { deliverEvent, deliverToQueue } from "./routes/messages.ts";
import { mountWebUi } from "./routes/web-ui.ts";
import { describeService } from "./service/describe-service.ts";
import type { Endpoint } from "./service/endpoint.ts";
import { mountEndpoints } from "./service/mount-endpoints.ts";

type Handler = (parts: HttpParts, c: Context<HttpEnv>) => Response | Promise<Response>;

/**
 * The whole HTTP surface as a function from a request to its response. The service's own paths go before the application's.
 * `mountMore`: adds routes of this listener alone, and returns their patterns.
 */
export function createHttpApp(
  parts: HttpParts,
  endpoints: readonly Endpoint[],
  mountMore?: (http: Hono<HttpEnv>) => readonly string[],
): Hono<HttpEnv> {
  // The one router that understands all of our paths.
  const http = new Hono<HttpEnv>({ router: new TrieRouter() });
  const shapes = new Map<string, ErrorShape>();
  http.onError((error, c) => answerError(parts, error, { c, shape: shapeAt(c, shapes) }));
  const { cors_origins: origins, max_body_bytes: maxBytes } = parts.app.config.settings.server;
  const keyed = new KeyedStreams(parts.app);
  // Each layer costs every request: what stands around all routes is two of them.
  http.use(async (c, next) => {
    const beganAt = performance.now();
    const name = nameRequest(c);
    const use = new RequestUse(parts.quotas);
    // What is sent is in memory until the client has taken it.
    const outgoing = (c.env as Partial<HttpEnv["Bindings"]> | undefined)?.outgoing;
    outgoing?.once("close", () => use.release());
    await inRequest(use, next);
    if (outgoing === undefined) use.release();
    const key = c.get("key");
    if (key !== undefined && KeyedStreams.isStream(c.res)) c.res = keyed.bind(c.res, key);
    tellNames(c, name);
    secureAnswer(c);
    logRequest(c, parts.log, beganAt);
  });
  if (origins.length > 0) http.use(allowOrigins(origins));
  const refuseForeign = checkHost(parts.hosts, origins);
  http.use((c, next) => {
    refuseForeign(c);
    limitBody(c, maxBytes);
    return next();
  });
  http.use(async (c, next) => {
    if (!READING.has(c.req.method)) await refuseWhatIsNotKept(parts.app);
    await next();
  });
  const on = (method: string, path: string, shape: ErrorShape, handler: Handler) => {
    shapes.set(path, shape);
    http.on(method, path, async (c) => {
      if (shape === "agents") await authorizeAgents(parts, c);
      else await parts.authorize(c, OPEN.has(path) ? "open" : "run");
      return handler(parts, c);
    });
    http.all(path, (c) => refuseMethod(c, method));
  };
  // It takes some fifty milliseconds, and says the same for ever.
  let described: string | undefined;
  on("GET", "/healthz", "envelope", (_, c) => answerJson(c, { status: "ok" }));
  on("GET", "/ready", "envelope", (_, c) => answerReady(parts.app, c));
  on("POST", "/execute", "execute", execute);
  on("GET", "/app/openapi.json", "envelope", appDocument);
  on("GET", "/openapi.json", "envelope", (_, c) => {
    described ??= writeExact(describeService(endpoints, parts.version));
    return c.body(described, 200, { "content-type": "application/json" });
  });
  shapes.set("/mcp", "envelope");
  http.all("/mcp", (c) => answerMcp(parts, c));
  on("POST", "/queues/:name/messages", "envelope", deliverToQueue);
  on("POST", "/triggers/:event", "envelope", deliverEvent);
  on("GET", "/status", "agents", showStatus);
  on("POST", "/workflows/:name/execute", "agents", executeWorkflow);
  on("POST", "/agents/:name/execute", "agents", executeAgent);
  on("POST", "/custom_workflows/:name/execute", "agents", executeCustomWorkflow);
  on("POST", "/execution/workflows/:kind/:name/run", "agents", runWorkflow);
  const link = `${APPROVAL_LINKS}/:token`;
  shapes.set(link, "envelope");
  http.on(["GET", "POST"], link, (c) => answerLink(parts, c));
  for (const pattern of mountEndpoints(http, parts, endpoints)) shapes.set(pattern, "envelope");
  for (const pattern of mountMore?.(http) ?? []) shapes.set(pattern, "envelope");
  mountWebUi(http, parts);
  http.all("*", (c) => answerApplication(parts, c));
  return http;
}

/** By the path alone, as what is refused before it comes to its route is answered as the route would. */
function shapeAt(c: Context<HttpEnv>, shapes: ReadonlyMap<string, ErrorShape>): ErrorShape {
  for (const { path } of matchedRoutes(c)) {
    const shape = shapes.get(path);
    if (shape !== undefined) return shape;
  }
  return "envelope";
}

/** Documents and signs of life need no key. */
const OPEN = new Set(["/healthz", "/ready", "/app/openapi.json", "/openapi.json"]);

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/** A lock is waited for. What is full or lost keeps nothing. Throws `JOURNAL_FULL`, `DATA_LOST`. */
async function refuseWhatIsNotKept(app: HttpParts["app"]): Promise<void> {
  const trouble = await app.storageTrouble?.();
  if (trouble !== undefined && trouble.code !== "JOURNAL_IO") throw trouble;
}

async function answerReady(app: HttpParts["app"], c: Context<HttpEnv>): Promise<Response> {
  const trouble = await findTrouble(app);
  if (trouble === undefined) return answerJson(c, { status: "ready" });
  return answerJson(c, { status: "not_ready", code: trouble.code, message: trouble.message }, 503);
}

async function appDocument({ app, triggers }: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  return answerJson(c, describeRoutes((await triggers()).routes.list(), basename(app.appDir)));
}

function refuseMethod(c: Context<HttpEnv>, method: string): Response {
  const allowed = method === "GET" ? "GET, HEAD, OPTIONS" : `${method}, OPTIONS`;
  c.header("allow", allowed);
  if (c.req.method === "OPTIONS") return c.body(null, 204);
  throw new PawlError("METHOD_NOT_ALLOWED", { message: `This path takes ${allowed}.` });
}

/** Checks the key, and refuses with the words and codes of the original host. Throws `UNAUTHORIZED`, `FORBIDDEN`. */
async function authorizeAgents(parts: Pick<HttpParts, "authorize">, c: Context<HttpEnv>): Promise<void> {
  try {
    await parts.authorize(c, "run");
  } catch (error) {
    if (!isPawlError(error) || error.code !== "UNAUTHORIZED") throw error;
    const isWithout = (c.req.header("x-api-key") || c.req.header("authorization") || "") === "";
    if (isWithout) throw new PawlError("UNAUTHORIZED", { message: "API key required in X-API-Key header" });
    throw new PawlError("FORBIDDEN", { message: "Invalid API Key", remedy: "Send the key that API_KEY sets." });
  }
}

/** `/mcp`: every key can read; what else a tool needs, the tool asks for. */
async function answerMcp(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  await parts.authorize(c, "read");
  return parts.mcp(c.req.raw, parts.callerFor(c));
}
