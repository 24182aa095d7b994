import type { WebhookWithAttempts } from "../../../../operations/webhooks/webhooks.ts";
import { formatDuration } from "../text/format-duration.ts";
import { formatTime } from "../text/format-time.ts";
import type { PageOptions } from "../text/page-options.ts";
import { sanitize } from "../text/sanitize.ts";

/** The page of `pawl webhooks show`. */
export function renderWebhook(webhook: WebhookWithAttempts, { now }: PageOptions): string {
  const at = (time: string) => formatTime(Date.parse(time), now);
  const lines = [
    `${webhook.webhook_id}  ${sanitize(webhook.event)}  ${webhook.status}`,
    `  to    ${sanitize(webhook.url)}`,
    `  of    ${sanitize(webhook.workflow_name)}${webhook.run_id === null ? "" : `, run ${webhook.run_id}`}`,
  ];
  for (const { at: time, status, error, excerpt, duration_seconds: seconds } of webhook.attempts) {
    lines.push(`  ${at(time)}  ${status ?? sanitize(error ?? "")}  ${formatDuration(seconds * 1_000)}`);
    if (excerpt !== null && excerpt !== "") lines.push(`      ${sanitize(excerpt.slice(0, 200))}`);
  }
  if (webhook.next_attempt_at !== null) lines.push(`  next  ${at(webhook.next_attempt_at)}`);
  if (webhook.error !== null) {
    lines.push(`  ${sanitize(webhook.error.message)}`, `  pawl webhooks resend ${webhook.webhook_id}`);
  }
  return lines.join("\n");
}
