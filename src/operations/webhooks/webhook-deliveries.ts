import { ERRORS } from "../../core/errors/error-table.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type {
  Deliveries,
  Delivery,
  DeliveryChannel,
  DeliverySelection,
  DeliveryStatus,
  DeliveryTry,
} from "../../ports/deliveries.ts";
import type { Application } from "../application/application.ts";
import type { ErrorDescription } from "../runs/describe-run.ts";
import { findRun } from "../runs/find-run.ts";
import { showReceiver } from "./show-receiver.ts";

/** A message to one receiver, as people see it. Times are ISO 8601. */
export interface WebhookDescription {
  readonly webhook_id: string;
  /** `slack` and `email`: what a schedule tells people. */
  readonly channel: DeliveryChannel;
  readonly event: string;
  readonly run_id: string | null;
  readonly workflow_name: string;
  /** Without what gives access. */
  readonly url: string;
  readonly status: DeliveryStatus;
  /** Tries so far. */
  readonly attempt: number;
  readonly next_attempt_at: string | null;
  /** Why it was not delivered. */
  readonly error: ErrorDescription | null;
  readonly tenant_id: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

export interface WebhookWithAttempts extends WebhookDescription {
  readonly attempts: readonly WebhookAttempt[];
}

interface WebhookAttempt {
  readonly at: string;
  readonly duration_seconds: number;
  /** The HTTP status of the answer. Null if there was none. */
  readonly status: number | null;
  readonly error: string | null;
  /** The beginning of the answer. */
  readonly excerpt: string | null;
}

export interface WebhooksWanted {
  /** By its id or the beginning of it. */
  readonly run?: string;
  readonly status?: readonly DeliveryStatus[];
}

interface ListRequest extends WebhooksWanted {
  readonly limit: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
  readonly offset?: number;
}

type WebhookApplication = Pick<Application, "clock" | "mask" | "records" | "service" | "tenantId">;

/** Newest first. Throws `RUN_NOT_FOUND`, `WEBHOOK_NOT_FOUND` for a cursor that is none. */
export async function listWebhooks(
  app: WebhookApplication,
  { limit, cursor, offset, ...wanted }: ListRequest,
): Promise<{ readonly items: readonly WebhookDescription[]; readonly next_cursor: string | null }> {
  const { deliveries } = await app.service();
  const before = cursor === undefined ? undefined : await findOwn(app, deliveries, cursor);
  const found = await deliveries.list({
    ...(await toSelection(app, wanted)),
    limit: limit + 1,
    ...(before === undefined ? {} : { beforeNo: before.no }),
    offset,
  });
  const items = found.slice(0, limit).map((delivery) => describe(app, delivery));
  return { items, next_cursor: found.length > limit ? (items.at(-1)?.webhook_id ?? null) : null };
}

export async function countWebhooks(app: WebhookApplication, wanted: WebhooksWanted): Promise<number> {
  return (await app.service()).deliveries.count(await toSelection(app, wanted));
}

/** With every try. Throws `WEBHOOK_NOT_FOUND`. */
export async function showWebhook(app: WebhookApplication, id: string): Promise<WebhookWithAttempts> {
  const { deliveries } = await app.service();
  const delivery = await findOwn(app, deliveries, id);
  return { ...describe(app, delivery), attempts: (await deliveries.readTries(delivery.id)).map(describeTry) };
}

/**
 * Has it delivered again, whatever became of it: the same bytes with the same id, as many tries as a new one. Also where the
 * receiver has answered 410; if it takes the message now, later ones are sent there again. Throws `WEBHOOK_NOT_FOUND`.
 */
export async function resendWebhook(app: WebhookApplication, id: string): Promise<WebhookDescription> {
  const { deliveries } = await app.service();
  const { id: known } = await findOwn(app, deliveries, id);
  await deliveries.sendAgain(known, app.clock.now());
  return describe(app, await findOwn(app, deliveries, known));
}

async function findOwn(app: WebhookApplication, deliveries: Deliveries, id: string): Promise<Delivery> {
  const delivery = await deliveries.find(id);
  const isMine = app.tenantId === undefined || delivery?.tenantId === app.tenantId;
  if (delivery !== undefined && isMine) return delivery;
  throw new PawlError("WEBHOOK_NOT_FOUND", { message: `There is no webhook delivery "${id}".` });
}

async function toSelection(app: WebhookApplication, { run, status }: WebhooksWanted): Promise<DeliverySelection> {
  return { tenantId: app.tenantId, ...(run === undefined ? {} : { runId: (await findRun(app, run)).id }), status };
}

function describe(app: WebhookApplication, delivery: Delivery): WebhookDescription {
  const { state } = delivery;
  return {
    webhook_id: delivery.id,
    channel: delivery.channel,
    event: delivery.event,
    run_id: delivery.runId ?? null,
    workflow_name: delivery.workflow,
    url: showReceiver(delivery, (text) => app.mask(text)),
    status: state.status,
    attempt: delivery.tries,
    next_attempt_at: state.status === "pending" ? toIsoTime(state.nextAt) : null,
    error: "reason" in state ? toError(state.reason) : null,
    tenant_id: delivery.tenantId ?? null,
    created_at: toIsoTime(delivery.createdAt),
    completed_at: state.status === "pending" ? null : toIsoTime(state.endedAt),
  };
}

function toError(message: string): ErrorDescription {
  return { code: "WEBHOOK_NOT_DELIVERED", message, remedy: ERRORS.WEBHOOK_NOT_DELIVERED.remedy };
}

function describeTry({ at, durationMs, status, error, excerpt }: DeliveryTry): WebhookAttempt {
  return {
    at: toIsoTime(at),
    duration_seconds: durationMs / 1_000,
    status: status ?? null,
    error: error ?? null,
    excerpt: excerpt ?? null,
  };
}
