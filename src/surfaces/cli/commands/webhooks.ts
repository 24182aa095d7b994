import { text } from "node:stream/consumers";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../../operations/application/application.ts";
import { readTextFile } from "../../../operations/definitions/read-text-file.ts";
import { checkSignatures } from "../../../operations/webhooks/sign-webhook.ts";
import { listWebhooks, resendWebhook, showWebhook } from "../../../operations/webhooks/webhook-deliveries.ts";
import type { DeliveryStatus } from "../../../ports/deliveries.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";

export interface ListWebhooksOptions extends CommonOptions {
  readonly run?: string;
  readonly status?: readonly DeliveryStatus[];
  readonly limit: number;
  readonly cursor?: string;
}

/** `pawl webhooks ls`. */
export async function listWebhooksCommand(app: OpenApplication, options: ListWebhooksOptions): Promise<number> {
  const { run, status, limit, cursor } = options;
  const page = await listWebhooks(app, { limit, run, status, cursor });
  return showWebhooks(page, options);
}

export async function showWebhooks(
  page: Awaited<ReturnType<typeof listWebhooks>>,
  options: CommonOptions,
): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(page);
  else {
    const { renderWebhooks } = await import("../render/render-webhooks.ts");
    print(renderWebhooks(page.items, pageOptions()));
    if (page.next_cursor !== null) tell(`More: pawl webhooks ls --cursor ${page.next_cursor}`);
  }
  return 0;
}

/** `pawl webhooks show`. */
export async function showWebhookCommand(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  return showOneWebhook(await showWebhook(app, id), options);
}

export async function showOneWebhook(
  webhook: Awaited<ReturnType<typeof showWebhook>>,
  options: CommonOptions,
): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(webhook);
  else {
    const { renderWebhook } = await import("../render/render-webhooks.ts");
    print(renderWebhook(webhook, pageOptions()));
  }
  return 0;
}

/** `pawl webhooks resend`: who delivers is the service, whether it runs now or later. */
export async function resendWebhookCommand(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  const webhook = await resendWebhook(app, id);
  const owner = await app.findOwner();
  if (formatOf(options) !== "text") printEnvelope(webhook);
  else if (owner.state === "held" && owner.url !== undefined) tell(`${id} is sent again now.`);
  else tell(`${id} is sent again as soon as \`pawl serve\` runs.`);
  return 0;
}

export interface VerifyOptions extends CommonOptions {
  readonly header: readonly string[];
}

/** `pawl webhooks verify`: for who receives webhooks and wants to know why a check of theirs fails. */
export async function verifyWebhookCommand(
  app: OpenApplication,
  source: string,
  { header, ...options }: VerifyOptions,
): Promise<number> {
  const { secret, previous_secret: previous } = app.config.settings.webhook;
  if (secret === undefined) {
    throw new PawlError("USAGE", {
      message: "There is no secret to check with.",
      remedy: "Set WEBHOOK_SECRET to what the sender signs with.",
    });
  }
  const checks = checkSignatures({
    secrets: [secret, ...(previous === undefined ? [] : [previous])],
    headers: Object.fromEntries(header.map(toHeader)),
    body: source === "-" ? await text(io().stdin) : await readTextFile(source),
    nowMs: app.clock.now(),
  });
  if (checks.every(({ is }) => is === "absent")) {
    throw new PawlError("USAGE", {
      message: "No header given bears a signature.",
      remedy:
        "Give those of the request: -H 'X-Sandcastle-Signature: ...', or -H 'webhook-id: ...' with webhook-timestamp and webhook-signature.",
    });
  }
  const wrong = checks.filter(({ is }) => is === "wrong");
  if (wrong.length > 0) {
    const reasons = wrong.map(({ scheme, reason }) => `${scheme}: ${reason}`);
    throw new PawlError("WEBHOOK_SIGNATURE_WRONG", {
      message: reasons.join(" "),
      details: { checks: checks.map((check) => ({ ...check })) },
    });
  }
  if (formatOf(options) !== "text") printEnvelope({ checks });
  else for (const { scheme, is } of checks) if (is === "right") print(`${scheme} is right.`);
  return 0;
}

function toHeader(written: string): [string, string] {
  const [, name, value = ""] = /^([^:\s]+)\s*:\s*(.*?)\s*$/s.exec(written) ?? [];
  if (name !== undefined) return [name.toLowerCase(), value];
  throw new PawlError("USAGE", { message: `"${written}" is no header.`, remedy: "Write it as -H 'name: value'." });
}
