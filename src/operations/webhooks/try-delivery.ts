import { createMask } from "../../config/create-mask.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { parseExact } from "../../core/exact-json.ts";
import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import { decodeSegment } from "../../core/graph/path-pattern.ts";
import { traceParentOf } from "../../hosts/trace-context.ts";
import type { Mailer, MailMessage, MailResult } from "../../ports/mailer.ts";
import type { Outbound, OutboundResult } from "../../ports/outbound.ts";
import type { RunSecrets } from "../../ports/run-secrets.ts";
import type { Delivery, DeliveryState, MadeTry } from "../../ports/service/deliveries.ts";
import type { Ports } from "../application/ports.ts";
import { readRunStarted } from "../runs/read-run-started.ts";
import { readBodyOf } from "./add-delivery.ts";
import { signWebhook } from "./sign-webhook.ts";

export interface TryParts {
  readonly app: Pick<Ports, "clock" | "config" | "mask" | "records" | "secrets" | "service">;
  readonly outbound: Outbound;
  /** Absent: nobody sends e-mail. */
  readonly mailer?: Mailer | undefined;
  /** 0 up to 1. */
  random(): number;
}

/** The outcome: a try to record, an end without one, or nothing because `signal` aborted. */
export type Tried =
  | ({ readonly is: "made" } & MadeTry)
  | { readonly is: "skipped"; readonly reason: string }
  | { readonly is: "stopped" };

/** Bytes of the answer. A secret that is cut in two is not recognised, so more is read than shown. */
const READ_BYTES = 16_384;
const EXCERPT_CHARACTERS = 2_048;
/** A receiver that wants to be asked later still is asked then. */
const LONGEST_PAUSE_MS = 60 * 60 * 1_000;

/** Headers of the connection itself. A client that starts a run cannot set them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Sends a message once. Records nothing. */
export async function tryDelivery(delivery: Delivery, parts: TryParts, signal: AbortSignal): Promise<Tried> {
  const { app } = parts;
  const { deliveries } = await app.service();
  if (delivery.round === 1 && (await deliveries.isClosed(delivery)))
    return { is: "skipped", reason: "The receiver has answered 410 before: it is gone." };
  const written = delivery.readsEnv ? resolveEnv(delivery.url, app.config.env).trim() : delivery.url;
  if (written === "") return { is: "skipped", reason: `${delivery.url} is not set any more.` };
  if (!delivery.readsEnv && /\$\{\w+\}/.test(written))
    return {
      is: "skipped",
      reason: "Variables are read for workflows of the application, not for what a client sends.",
    };
  const at = app.clock.now();
  const body = await readBodyOf(app, delivery.id).catch((error: unknown) => {
    if (isPawlError(error) && error.code.startsWith("BLOB_")) return undefined;
    throw error;
  });
  if (body === undefined) return { is: "skipped", reason: "What was to be sent is damaged or gone." };
  if (delivery.channel === "email") return mail({ delivery, at, body }, parts, signal);
  return post({ delivery, at, body, written }, parts, signal);
}

interface Posted {
  readonly delivery: Delivery;
  readonly at: number;
  readonly body: string;
}

async function mail({ delivery, at, body }: Posted, parts: TryParts, signal: AbortSignal): Promise<Tried> {
  const { app, mailer } = parts;
  if (mailer === undefined) return { is: "skipped", reason: "E-mail cannot be sent: SMTP_URL is not set." };
  const message = { id: delivery.id, ...(parseExact(body) as Omit<MailMessage, "id">) };
  const { timeout_ms: timeoutMs } = app.config.settings.webhook;
  const result = await mailer.send(message, { timeoutMs, signal });
  if (!result.ok && result.reason === "aborted") return { is: "stopped" };
  return { is: "made", ...judgeMail(result, { delivery, at, parts, sent: {} }) };
}

async function post(
  { delivery, at, body, written }: Posted & { readonly written: string },
  parts: TryParts,
  signal: AbortSignal,
): Promise<Tried> {
  const { app, outbound } = parts;
  const given = openHeaders(delivery, await app.secrets());
  if (given === undefined) return { is: "skipped", reason: "Its headers were sealed with another key." };
  const { url, headers } = toTarget(written, given);
  const { timeout_ms: timeoutMs } = app.config.settings.webhook;
  const result = await outbound.request(
    {
      url,
      method: "POST",
      body,
      headers: {
        ...headers,
        "content-type": "application/json",
        ...(delivery.channel === "webhook" ? await ownHeaders({ delivery, at, body }, app) : {}),
      },
      timeoutMs,
      maxBytes: READ_BYTES,
      // Another address is not where the message was meant to go, and would get its signature.
      maxRedirects: 0,
      needsNoBody: true,
    },
    signal,
  );
  if (!result.ok && result.reason === "aborted") return { is: "stopped" };
  return { is: "made", ...judge(result, { delivery, at, parts, sent: headers }) };
}

/** Headers that say who sends this and what it is. Slack gets none of them. */
async function ownHeaders({ delivery, at, body }: Posted, app: TryParts["app"]): Promise<Record<string, string>> {
  const { id, event, runId } = delivery;
  const { secret, previous_secret: previousSecret } = app.config.settings.webhook;
  const traceparent = runId === undefined ? undefined : await readRunTrace(app, runId);
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    "x-sandcastle-event": event,
    ...(secret === undefined ? { "webhook-id": id } : signWebhook({ secret, previousSecret, id, atMs: at, body })),
  };
}

/** W3C trace context for what is told of a run. Undefined: the run is gone, or nobody traces it. */
async function readRunTrace(app: TryParts["app"], runId: string): Promise<string | undefined> {
  const { journal } = await app.records();
  const record = await journal.findRun(runId);
  if (record === undefined || record === "ambiguous") return undefined;
  const { options = {} } = (await readRunStarted(journal, record)) ?? {};
  const tracing = app.config.settings.telemetry.otlp_endpoint !== undefined;
  return traceParentOf({ runId: record.id, options }, { tracing });
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

function openHeaders({ sealedHeaders }: Delivery, secrets: RunSecrets): Readonly<Record<string, string>> | undefined {
  if (sealedHeaders === "") return {};
  try {
    return parseExact(secrets.open(sealedHeaders)) as Record<string, string>;
  } catch (error) {
    if (isPawlError(error) && error.code === "SECRET_UNREADABLE") return undefined;
    throw error;
  }
}

/** A user and a password in a URL are sent as what they mean. */
function toTarget(written: string, given: Readonly<Record<string, string>>): Target {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!OWN_HEADERS.has(name.toLowerCase())) headers[name.toLowerCase()] = value;
  }
  const url = URL.parse(written);
  if (url === null || (url.username === "" && url.password === "")) return { url: written, headers };
  const [user, password] = [url.username, url.password].map((each) => decodeSegment(each) ?? each);
  const pair = `${user}:${password}`;
  url.username = "";
  url.password = "";
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}`, ...headers } };
}

interface Made {
  readonly delivery: Delivery;
  readonly at: number;
  readonly parts: TryParts;
  /** Headers that are not ours. */
  readonly sent: Target["headers"];
}

function judgeMail(result: MailResult, { delivery, at, parts }: Made): MadeTry {
  const { app } = parts;
  const now = app.clock.now();
  const timed = { at, durationMs: now - at };
  if (result.ok) {
    const excerpt = app.mask(result.answer).slice(0, EXCERPT_CHARACTERS);
    return { made: { ...timed, excerpt }, next: { status: "delivered", endedAt: now }, gone: false };
  }
  const error = app.mask(result.message).slice(0, EXCERPT_CHARACTERS);
  const nextAt = result.reason === "refused" ? undefined : decideNextAt(delivery, { parts, now, askedForMs: 0 });
  const next: DeliveryState = nextAt === undefined ? failed(now, error) : { status: "pending", nextAt };
  return { made: { ...timed, error }, next, gone: false };
}

function judge(result: OutboundResult, { delivery, at, parts, sent }: Made): MadeTry {
  const { app } = parts;
  const now = app.clock.now();
  const timed = { at, durationMs: now - at };
  const pauseOrFail = (reason: string, askedForMs = 0): DeliveryState => {
    const nextAt = decideNextAt(delivery, { parts, now, askedForMs });
    return nextAt === undefined ? failed(now, reason) : { status: "pending", nextAt };
  };
  if (!result.ok) {
    const error = app.mask(result.message);
    // A refused address stays refused.
    const next = result.reason === "refused" ? failed(now, error) : pauseOrFail(error);
    return { made: { ...timed, error }, next, gone: false };
  }
  const { status, body, headers } = result;
  const made = { ...timed, status, excerpt: toExcerpt(body, sent, app) };
  if (status >= 200 && status < 300) return { made, next: { status: "delivered", endedAt: now }, gone: false };
  if (status === 410) return { made, next: failed(now, GONE), gone: true };
  const isRedirect = status >= 300 && status < 400;
  const reason = `It was answered with ${status}${isRedirect ? ": redirects are not followed" : ""}.`;
  return { made, next: pauseOrFail(reason, readRetryAfter(headers["retry-after"], now)), gone: false };
}

const GONE = "It was answered with 410: the receiver is gone. Nothing more of this workflow is sent there.";

function failed(endedAt: number, reason: string): DeliveryState {
  return { status: "failed", endedAt, reason };
}

interface Pause {
  readonly parts: TryParts;
  readonly now: number;
  /** By the receiver. */
  readonly askedForMs: number;
}

/**
 * Twice as long each time, and somewhere between half of that and all of it, so that many do not come back at once.
 * Undefined: that was the last try.
 */
function decideNextAt({ triesInRound }: Delivery, { parts, now, askedForMs }: Pause): number | undefined {
  const { max_attempts: maxTries, retry_delay_ms: delayMs } = parts.app.config.settings.webhook;
  if (triesInRound + 1 >= maxTries) return undefined;
  const pauseMs = delayMs * 2 ** triesInRound * (0.5 + parts.random() / 2);
  return now + Math.round(Math.min(Math.max(pauseMs, askedForMs), LONGEST_PAUSE_MS));
}

/** Seconds, or a date of HTTP. */
function readRetryAfter(given: string | undefined, now: number): number {
  if (given === undefined) return 0;
  const ms = /^\d+$/.test(given.trim()) ? Number(given) * 1_000 : Date.parse(given) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

/** Receivers repeat what they were sent, headers too: as a whole, or what stands behind `Bearer`. */
function toExcerpt(body: Buffer, sent: Target["headers"], app: TryParts["app"]): string {
  const values = Object.values(sent).flatMap((value) => [value, value.slice(value.lastIndexOf(" ") + 1)]);
  return createMask(values)(app.mask(body.toString())).slice(0, EXCERPT_CHARACTERS);
}
