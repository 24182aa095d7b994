import type { Settings } from "../config/settings.ts";
import { createSmtpMailer } from "../executors/outbound/smtp-mailer.ts";
import type { Mailer } from "../ports/mailer.ts";

/** Undefined: nobody has said through which server mail goes. */
export function toMailer({ smtp_url: url, email_from: from }: Settings["notify"]): Mailer | undefined {
  if (url === undefined) return undefined;
  return createSmtpMailer({ url, from: from ?? `pawl@${URL.parse(url)?.hostname ?? "localhost"}` });
}
