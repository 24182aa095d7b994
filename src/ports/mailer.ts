/** Sends e-mail by the server that this installation is configured with. */
export interface Mailer {
  /** Never rejects: what can go wrong is an answer. */
  send(
    message: MailMessage,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<MailResult>;
}

export interface MailMessage {
  /** The same with every try: receivers drop what they have had already. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type MailResult =
  /** The server has taken it; what becomes of it then is not known. */
  | { readonly ok: true; readonly answer: string }
  /** `refused`: the server says that trying again is of no use. */
  | { readonly ok: false; readonly reason: "refused" | "failed" | "aborted"; readonly message: string };
