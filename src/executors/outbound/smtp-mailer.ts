import type { Mailer, MailResult } from "../../ports/mailer.ts";
import { untilAborted } from "../until-aborted.ts";

export interface SmtpOptions {
  /** `smtp://user:password@host:587`, `smtps://` for TLS from the first byte. A password goes beyond this machine through TLS only. */
  readonly url: string;
  readonly from: string;
}

/** E-mail over SMTP. The library is loaded with the first message, and each message has its own connection. */
export function createSmtpMailer({ url, from }: SmtpOptions): Mailer {
  return {
    async send({ id, to, subject, text, html }, { timeoutMs, signal }) {
      const { createTransport } = await import("nodemailer");
      const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
      const transport = createTransport({
        url,
        ...limits,
        requireTLS: isSecretAbroad(url),
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const stop = () => transport.close();
      signal.addEventListener("abort", stop, { once: true });
      try {
        const sent = transport.sendMail({ from, to, subject, text, html, messageId: `<${id}@pawl>` });
        // A connection that is closed under it may never settle.
        return { ok: true, answer: (await untilAborted(sent, signal)).response };
      } catch (error) {
        return signal.aborted ? ABORTED : toFailure(error);
      } finally {
        signal.removeEventListener("abort", stop);
        transport.close();
      }
    },
  };
}

/** An attacker in between could else remove `STARTTLS` from the server's offer and read the password. */
function isSecretAbroad(url: string): boolean {
  const { username = "", hostname = "" } = URL.parse(url) ?? {};
  return username !== "" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

const ABORTED: MailResult = { ok: false, reason: "aborted", message: "The message was stopped." };

/** A password that is wrong today may be set right before the next try; a mailbox that is not there stays away. */
function toFailure(error: unknown): MailResult {
  if (!(error instanceof Error)) return { ok: false, reason: "failed", message: String(error) };
  const { responseCode = 0, code } = error as Error & { readonly responseCode?: number; readonly code?: string };
  const isFinal = responseCode >= 500 && code !== "EAUTH";
  return { ok: false, reason: isFinal ? "refused" : "failed", message: error.message };
}
