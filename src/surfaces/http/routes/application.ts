import { createHash } from "node:crypto";
import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { decodeSegment } from "../../../core/graph/path-pattern.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isJsonDeeperThan } from "../../../core/json-depth.ts";
import { parseJson } from "../../../core/parse-json.ts";
import { forOwner } from "../../../operations/application/owner-application.ts";
import { MAX_REQUEST_DEPTH } from "../../../operations/parse-json.ts";
import { resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { readRunOutcome } from "../../../operations/runs/read-run-result.ts";
import { toRequestInput } from "../../../operations/start/input/to-run-input.ts";
import { prepareStart } from "../../../operations/start/prepare-run.ts";
import { describeSubmitted, type RunRequest } from "../../../operations/start/submit-run.ts";
import type { RouteMatch } from "../../../operations/triggers/route-table.ts";
import { nameOf, type RouteTarget } from "../../../operations/triggers/trigger-table.ts";
import { checkStandard } from "../../../operations/webhooks/sign-webhook.ts";
import { decodeUtf8 } from "../../../ports/decode-utf8.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { callerOf, idempotencyKeyOf, pathOf, targetOf } from "../path-of.ts";
import { readBody } from "../read-body.ts";
import { toHttpResponse } from "../to-http-response.ts";
import { tellRun, wantsEvents } from "./tell-run.ts";

/** Every path that is not the service's own: the workflow whose trigger fits answers. */
export async function answerApplication(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const { method } = c.req;
  const { tenantId, path } = splitTenantPath(pathOf(c.req.raw.url));
  const match = (await parts.triggers(tenantId)).routes.match(method, path);
  if (match.is !== "route") await parts.authorize(c, "anybody");
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

type Matched = RouteMatch<RouteTarget> & { readonly is: "route" };

async function answerRoute(parts: HttpParts, c: Context<HttpEnv>, { route, parameters }: Matched): Promise<Response> {
  const { app, runner, submissions, checker } = parts;
  const { target } = route;
  const { definition, tenantId } = target;
  const { graph } = definition;
  c.set("route", `${tenantId === undefined ? "" : TENANT_ROUTES}${route.pattern.written}`);
  await admit(parts, c, target);
  runner.refuseWhereFull();
  const body = await readBody(c.req.raw, app.config.settings.server.max_body_bytes);
  const signed = checkSignature(app, c, { target, body });
  const key = idempotencyKeyOf(c);
  const sent = { method: c.req.method, path: targetOf(c.req.raw.url) };
  const isolated = tenantId === undefined ? c.req.raw : withoutCookies(c.req.raw);
  const httpDetails = toHttpDetails(isolated, { body, parameters, routePattern: route.pattern.written });
  refuseDeep(httpDetails["body"]);
  const traceId = c.get("traceId");
  const asker = target.file === undefined ? {} : await resolveTrustedContext(app, runner, callerOf(c));
  const context = {
    workflowInfo: { workflowId: graph.name },
    ...(traceId === undefined ? {} : { traceId }),
    ...asker,
  };
  const payload = await readForm(body, c.req.header("content-type"));
  const requestData = {
    source: "http",
    ...nameOf(target.trigger),
    httpDetails,
    ...(payload === undefined ? {} : { payload }),
  };
  const request = { requestId: c.get("requestId"), requestData, context };
  const input = await toRequestInput(request, graph, checker);
  const owner = forOwner(app, { ...target, key: c.get("key") });
  // A signature counts before a key, which is not signed.
  const asked: RunRequest = {
    asked: signed === undefined ? { ...sent, ...toAsker(c, target), body: hashOf(body), context: asker } : sent,
    idempotencyKey: signed ?? (key && scopeKey(c, key, target)),
    async prepare(runId) {
      const start = await prepareStart(owner, { ...target, input, ...(runId && { runId }) }, { folder: app.appDir });
      c.set("runId", start.runId);
      return { start };
    },
    traceParent: c.req.header("traceparent"),
  };
  const answer = async (record: Parameters<typeof readRunOutcome>[1]) => {
    const ids = { request_id: c.get("requestId"), run_id: record.id };
    return toHttpResponse(await readRunOutcome(await app.records(), record, parts.graphs), ids);
  };
  if (/(^|,)\s*respond-async\s*(;|,|$)/i.test(c.req.header("prefer") ?? "")) {
    const { run_id, status } = describeSubmitted(await submissions.start(owner, asked));
    c.set("runId", run_id);
    c.header("preference-applied", "respond-async");
    return answerAccepted(c, run_id, status);
  }
  if (target.trigger.streams === true && wantsEvents(c))
    return tellRun(parts, c, {
      app: owner,
      graph,
      request: asked,
      textsOnly: true,
      answer: async (record) => toEvent(await answer(record)),
    });
  const { runId, ran } = await submissions.run(owner, asked);
  c.set("runId", runId);
  if (ran.is === "unanswered") throw ran.error;
  if (ran.is === "parked") return answerAccepted(c, runId, ran.record.status);
  const response = await answer(ran.record);
  if (tenantId !== undefined) isolate(response.headers);
  return response;
}

/** The run goes on; the address tells how, to whoever has a key that may see it. */
function answerAccepted(c: Context<HttpEnv>, run_id: string, status: string): Response {
  c.header("location", `/runs/${run_id}`);
  return answerJson(c, { request_id: c.get("requestId"), run_id, status }, 202);
}

/** What the route would have answered, as the last event of a stream. */
async function toEvent(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  return { status: response.status, body: isJson ? (parseJson(text) ?? null) : text };
}

/** Throws `UNAUTHORIZED`, `FORBIDDEN`, `RATE_LIMITED`. */
async function admit(
  parts: HttpParts,
  c: Context<HttpEnv>,
  { trigger: { auth }, tenantId }: RouteTarget,
): Promise<void> {
  await parts.authorize(c, auth === "hmac" || auth === "open" ? "anybody" : "run");
  const key = c.get("key");
  if (tenantId === undefined || key?.tenantId === undefined || key.tenantId === tenantId) return;
  throw new PawlError("FORBIDDEN", {
    message: `The key "${key.name}" belongs to another tenant than the route.`,
    remedy: "Use a key of the route's tenant.",
  });
}

/**
 * Gives a key by which what was signed starts one run of this route, however often it is sent; undefined where the route checks no
 * signature. Only the scheme with a time counts: a signature of the body alone could be sent again for ever. Throws `UNAUTHORIZED`.
 */
function checkSignature(
  { config, clock }: HttpParts["app"],
  c: Context<HttpEnv>,
  { target, body }: { readonly target: RouteTarget; readonly body: Uint8Array },
): string | undefined {
  const { trigger } = target;
  if (trigger.auth !== "hmac") return undefined;
  const { secret: usual, previous_secret: previous } = config.settings.webhook;
  const own = trigger.secret === undefined ? [usual, previous] : [config.env(trigger.secret)];
  const secrets = own.filter((secret) => secret !== undefined && secret !== "") as readonly string[];
  if (secrets.length === 0)
    throw new PawlError("UNAUTHORIZED", {
      message: "The route checks signatures, and its secret is not set here.",
      remedy: `Set ${trigger.secret ?? "`webhook.secret` (WEBHOOK_SECRET)"} where the server runs.`,
    });
  const headers = Object.fromEntries(c.req.raw.headers);
  const verdict = checkStandard({ secrets, headers, body, nowMs: clock.now() });
  if (verdict.is === "right") {
    const { "webhook-id": id, "webhook-timestamp": timestamp } = headers;
    const signed = createHash("sha256").update(`${id}.${timestamp}.`).update(body).digest("base64");
    return `signed request to ${c.get("route")} · ${signed}`;
  }
  throw new PawlError("UNAUTHORIZED", {
    message: `The request is not signed as the route wants it. ${verdict.reason ?? "It has no `webhook-signature`."}`,
    remedy:
      "Send `webhook-id`, `webhook-timestamp` and `webhook-signature` as Standard Webhooks says, with the route's secret.",
  });
}

function isOpen({ trigger }: RouteTarget): boolean {
  return trigger.auth === "open";
}

/** Who asks, where the workflow itself finds out: the answer of one is not for another who has the same key. */
function toAsker(c: Context<HttpEnv>, target: RouteTarget): JsonObject {
  if (!isOpen(target)) return {};
  return { authorization: c.req.header("authorization") ?? null, cookie: c.req.header("cookie") ?? null };
}

/** A key of strangers, or of another tenant than the run's, takes none away from the run's tenant. Keys of clients are ASCII. */
function scopeKey(c: Context<HttpEnv>, key: string, target: RouteTarget): string {
  const caller = c.get("key")?.tenantId;
  if (!isOpen(target) && caller === target.tenantId) return key;
  return `${key} · ${c.get("route")} · ${caller ?? ""}`;
}

function hashOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("base64");
}

/** Steps read a body that is JSON as such: what comes after a parser recurses. */
function refuseDeep(body: unknown): void {
  if (typeof body !== "string" || !/^\s*[[{]/.test(body) || !isJsonDeeperThan(body, MAX_REQUEST_DEPTH)) return;
  throw new PawlError("REQUEST_INVALID", { message: `The body nests more than ${MAX_REQUEST_DEPTH} levels deep.` });
}

/** Below it each tenant has a folder for the routes of what it has saved. */
const TENANT_ROUTES = "/tenant-routes/{tenant}";

/** `path` as it stands in the URL. Whose it is, and the path as the tenant's definitions know it. */
function splitTenantPath(path: string): { readonly tenantId?: string; readonly path: string } {
  const [, segment = "", rest = "/"] = /^\/tenant-routes\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const tenantId = decodeSegment(segment);
  return tenantId === undefined || tenantId === "" ? { path } : { tenantId, path: rest };
}

/** Cookies of a browser are for the whole origin, which tenants share with the application and with one another. */
function withoutCookies(request: Request): Pick<Request, "method" | "url" | "headers"> {
  const headers = new Headers(request.headers);
  headers.delete("cookie");
  return { method: request.method, url: request.url, headers };
}

/** A tenant's answer sets no cookies and runs no scripts: browsers would take both for those of all at this origin. */
function isolate(headers: Headers): void {
  headers.delete("set-cookie");
  headers.set("content-security-policy", "sandbox; frame-ancestors 'none'");
  for (const name of FOR_THE_ORIGIN) headers.delete(name);
}

const FOR_THE_ORIGIN = ["clear-site-data", "strict-transport-security", "service-worker-allowed", "alt-svc"];

interface MatchedRequest {
  readonly body: Uint8Array;
  readonly parameters: Readonly<Record<string, string>>;
  readonly routePattern: string;
}

/** A request as workflows read it. */
function toHttpDetails(
  request: Pick<Request, "method" | "url" | "headers">,
  { body, parameters, routePattern }: MatchedRequest,
): JsonObject {
  const path = targetOf(request.url);
  const { content, encoding } = toText(body);
  return {
    method: request.method,
    path,
    routePattern,
    pathParameters: parameters,
    queryParameters: queryOf(path),
    headers: Object.fromEntries(request.headers),
    body: content,
    bodyEncoding: encoding,
  };
}

const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** The fields of a form; a file is `{filename, type, size, content, encoding}`. Undefined: the body is none. Throws `REQUEST_INVALID`. */
async function readForm(body: Uint8Array, type = ""): Promise<JsonObject | undefined> {
  if (!FORM.test(type)) return undefined;
  const form = await new Response(Buffer.from(body), { headers: { "content-type": type } })
    .formData()
    .catch((cause) => {
      throw new PawlError("REQUEST_INVALID", { message: "The body is no form, as its type says.", cause });
    });
  const fields = [...form].map(async ([name, value]): Promise<readonly [string, Json]> => {
    refuseDeep(value);
    return [name, typeof value === "string" ? value : await toFile(value)];
  });
  return collect(await Promise.all(fields));
}

async function toFile(file: File): Promise<JsonObject> {
  const { content, encoding } = toText(new Uint8Array(await file.arrayBuffer()));
  return { filename: file.name, type: file.type, size: file.size, content, encoding };
}

/** What is no UTF-8 is base64. */
function toText(bytes: Uint8Array): { readonly content: string; readonly encoding: "utf8" | "base64" } {
  const text = decodeUtf8(bytes, "keep");
  return text === undefined
    ? { content: Buffer.from(bytes).toString("base64"), encoding: "base64" }
    : { content: text, encoding: "utf8" };
}

function queryOf(path: string): JsonObject {
  const mark = path.indexOf("?");
  return collect(new URLSearchParams(mark < 0 ? "" : path.slice(mark)));
}

/** A name that comes more than once has a list. */
function collect(fields: Iterable<readonly [string, Json]>): JsonObject {
  const lists = new Map<string, Json[]>();
  for (const [name, value] of fields) {
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries([...lists].map(([name, list]) => [name, list.length === 1 ? (list[0] ?? null) : list]));
}
