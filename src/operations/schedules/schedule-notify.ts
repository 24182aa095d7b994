import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { RunStatus } from "../../ports/journal.ts";
import type { Place } from "../application/ports.ts";
import { showSlackUrl, showUrl } from "../show-receiver.ts";

/** Whom a schedule tells what became of its runs. */
export interface ScheduleNotify {
  /** `failure`: of everything but `completed`. */
  readonly on: NotifyOutcome;
  readonly webhook?: string;
  readonly slack?: string;
  readonly email: readonly string[];
}

const OUTCOMES = ["always", "failure", "success"] as const;
type NotifyOutcome = (typeof OUTCOMES)[number];

const MAX_RECIPIENTS = 10;
/** Local part and domain, each of what mail servers take unquoted: nothing that ends a header or begins another address. */
const ADDRESS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/**
 * Reads `notify`: `{on?, webhook?: URL | {url}, slack?: {url}, email?: {to}}`. Throws `REQUEST_INVALID` with the
 * place, and `EMAIL_NOT_CONFIGURED` where there is nobody to send e-mail.
 */
export function checkNotify({ config }: Pick<Place, "config">, given: JsonObject): void {
  const { email } = readNotify(given);
  if (email.length === 0 || config.settings.notify.smtp_url !== undefined) return;
  throw new PawlError("EMAIL_NOT_CONFIGURED", {
    message: "`notify.email` needs a mail server, and none is configured.",
  });
}

export function readNotify(given: JsonObject): ScheduleNotify {
  for (const name of Object.keys(given)) if (!KNOWN.has(name)) throw invalid(name, "there is no such channel");
  const { on = "always", webhook, slack, email } = given;
  const outcome = OUTCOMES.find((each) => each === on);
  if (outcome === undefined) throw invalid("on", `must be one of ${OUTCOMES.join(", ")}`);
  const told: ScheduleNotify = {
    on: outcome,
    ...(isAbsent(webhook)
      ? {}
      : { webhook: readUrl("webhook", typeof webhook === "string" ? { url: webhook } : webhook) }),
    ...(isAbsent(slack) ? {} : { slack: readUrl("slack", slack) }),
    email: isAbsent(email) ? [] : readRecipients(email),
  };
  const hasChannel = told.webhook !== undefined || told.slack !== undefined || told.email.length > 0;
  if (!hasChannel) throw invalid("", "names no channel: give `webhook`, `slack` or `email`");
  return told;
}

const KNOWN: ReadonlySet<string> = new Set(["on", "webhook", "slack", "email"]);

export function isWanted({ on }: ScheduleNotify, status: RunStatus): boolean {
  return on === "always" || (on === "success") === (status === "completed");
}

/** Hides the address of a Slack hook: whoever has it can post there. */
export function showNotify(given: JsonObject | undefined, mask: (text: string) => string): JsonObject | null {
  if (given === undefined) return null;
  const { on, webhook, slack, email } = readNotify(given);
  return {
    on,
    ...(webhook === undefined ? {} : { webhook: { url: showUrl(webhook, mask) } }),
    ...(slack === undefined ? {} : { slack: { url: showSlackUrl(slack) } }),
    ...(email.length === 0 ? {} : { email: { to: [...email] } }),
  };
}

function readUrl(channel: string, given: Json | undefined): string {
  const url = isJsonObject(given) ? given["url"] : undefined;
  if (!isJsonObject(given) || typeof url !== "string") throw invalid(channel, "must be `{url}`");
  refuseOthers(channel, given, "url");
  const parsed = /\s/.test(url) ? null : URL.parse(url);
  if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
    throw invalid(`${channel}.url`, "must begin with http:// or https://");
  if (/\$\{\w+\}/.test(url)) throw invalid(`${channel}.url`, "variables are not read here");
  return url;
}

function readRecipients(given: Json | undefined): readonly string[] {
  if (!isJsonObject(given)) throw invalid("email", "must be `{to}`");
  refuseOthers("email", given, "to");
  const to = [given["to"]].flat();
  if (to.length === 0 || to.length > MAX_RECIPIENTS) throw invalid("email.to", `1 to ${MAX_RECIPIENTS} addresses`);
  return [...new Set(to)].map((address) => {
    if (typeof address === "string" && ADDRESS.test(address)) return address;
    throw invalid("email.to", "must be an address such as `ops@example.org`, or a list of such");
  });
}

function refuseOthers(channel: string, given: JsonObject, known: string): void {
  for (const name of Object.keys(given))
    if (name !== known) throw invalid(`${channel}.${name}`, "there is no such field");
}

function isAbsent(given: Json | undefined): boolean {
  return given === undefined || given === null;
}

function invalid(place: string, message: string): PawlError {
  const path = place === "" ? "notify" : `notify.${place}`;
  return new PawlError("REQUEST_INVALID", {
    message: `The request is not valid: ${path}: ${message}.`,
    details: { violations: [{ path, message }] },
  });
}
