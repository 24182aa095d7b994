import { writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { MailMessage } from "../../ports/mailer.ts";
import type { ScheduleNotify } from "./schedule-notify.ts";

/** The outcome of a slot, for people. */
export interface ScheduleNotice {
  readonly workflow: string;
  readonly scheduleId: string;
  /** `completed`, `failed` ... or `refused`: it was not started. */
  readonly status: string;
  readonly runId?: string;
  readonly durationSeconds?: number;
  readonly costUsd?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly at: string;
}

/** One message to one receiver. */
export interface WrittenNotice {
  readonly channel: "webhook" | "slack" | "email";
  readonly url: string;
  readonly body: string;
}

const LONGEST_MESSAGE = 500;

/**
 * A notice for each receiver. Names of workflows and messages of errors come from elsewhere: they end no header, and mean
 * nothing in HTML or in Slack's markup. Inputs, prompts and outputs are in none but the webhook's.
 */
export function writeNotices(
  notify: ScheduleNotify,
  notice: ScheduleNotice,
  webhookBody: object,
): readonly WrittenNotice[] {
  const { webhook, slack, email } = notify;
  return [
    ...(webhook === undefined ? [] : [{ channel: "webhook" as const, url: webhook, body: writeExact(webhookBody) }]),
    ...(slack === undefined ? [] : [{ channel: "slack" as const, url: slack, body: writeExact(writeSlack(notice)) }]),
    ...email.map((to) => ({
      channel: "email" as const,
      url: `mailto:${to}`,
      body: writeExact(writeMail(notice, to)),
    })),
  ];
}

/** `plain_text` is shown as it is; `text` is for notifications, where the three characters of the markup are escaped. */
function writeSlack(notice: ScheduleNotice): Json {
  const text = [headline(notice), ...linesOf(notice)].join("\n");
  return {
    text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
    blocks: [{ type: "section", text: { type: "plain_text", text: text.slice(0, 2_900), emoji: false } }],
  };
}

function writeMail(notice: ScheduleNotice, to: string): Omit<MailMessage, "id"> {
  const lines = linesOf(notice);
  return {
    to,
    subject: `[Pawl] ${headline(notice)}`.slice(0, 200),
    text: `${[headline(notice), "", ...lines].join("\n")}\n`,
    html: `<p><strong>${escapeHtml(headline(notice))}</strong></p>\n<p>${lines.map(escapeHtml).join("<br>\n")}</p>\n`,
  };
}

function headline({ workflow, status }: ScheduleNotice): string {
  return `${oneLine(workflow)}: ${status === "refused" ? "could not be started" : status.replaceAll("_", " ")}`;
}

function linesOf({ error, runId, scheduleId, durationSeconds, costUsd, at }: ScheduleNotice): readonly string[] {
  return [
    ...(error === undefined ? [] : [`${error.code}: ${oneLine(error.message).slice(0, LONGEST_MESSAGE)}`]),
    ...(runId === undefined ? [] : [`Run: ${runId} (pawl runs show ${runId})`]),
    `Schedule: ${scheduleId}`,
    ...(durationSeconds === undefined ? [] : [`Took: ${durationSeconds} s`]),
    ...(costUsd === undefined ? [] : [`Cost: $${costUsd}`]),
    `At: ${at}`,
  ];
}

/** Line breaks of every kind, and what else controls a terminal or a header. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
