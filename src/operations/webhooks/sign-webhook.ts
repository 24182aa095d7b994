import { createHmac, timingSafeEqual } from "node:crypto";

interface SignedMessage {
  readonly secret: string;
  /** The secret of receivers that have not changed over yet. */
  readonly previousSecret?: string | undefined;
  readonly id: string;
  /** The time of this try. */
  readonly atMs: number;
  readonly body: string;
}

/**
 * The headers by which a receiver knows that a message is ours, twice over the same bytes: the bare hex HMAC-SHA256 of the
 * body, and the three of Standard Webhooks 1.0, which sign id and time as well, and may bear the signature of another secret.
 */
export function signWebhook({
  secret,
  previousSecret,
  id,
  atMs,
  body,
}: SignedMessage): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000));
  return {
    "x-sandcastle-signature": plainSignature(secret, body),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": [secret, previousSecret]
      .flatMap((each) => (each === undefined ? [] : [`v1,${standardSignature(each, { id, timestamp, body })}`]))
      .join(" "),
  };
}

/** The verdict of one scheme. `absent`: the message does not have its headers. */
export interface SignatureCheck {
  readonly scheme: "x-sandcastle-signature" | "webhook-signature";
  readonly is: "right" | "wrong" | "absent";
  readonly reason?: string;
}

interface ReceivedMessage {
  /** One of them must fit. */
  readonly secrets: readonly string[];
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly as it was received. */
  readonly body: string | Uint8Array;
  readonly nowMs: number;
}

/** How far the clocks of sender and receiver may be apart, and how old a message may be before it counts as replayed. */
const TOLERANCE_MS = 5 * 60 * 1_000;

/** Checks a message as its receiver would, by each scheme. */
export function checkSignatures(message: ReceivedMessage): readonly SignatureCheck[] {
  return [checkPlain(message), checkStandard(message)];
}

function checkPlain({ secrets, headers, body }: ReceivedMessage): SignatureCheck {
  const scheme = "x-sandcastle-signature";
  const given = headers[scheme];
  if (given === undefined) return { scheme, is: "absent" };
  const written = given.trim().toLowerCase();
  if (secrets.some((secret) => isSame(written, plainSignature(secret, body)))) return { scheme, is: "right" };
  return { scheme, is: "wrong", reason: "It is not the HMAC-SHA256 of these bytes with this secret." };
}

/** Checks the scheme that signs the time as well. */
export function checkStandard({ secrets, headers, body, nowMs }: ReceivedMessage): SignatureCheck {
  const scheme = "webhook-signature";
  const { "webhook-id": id, "webhook-timestamp": timestamp, [scheme]: given } = headers;
  if (given === undefined) return { scheme, is: "absent" };
  if (id === undefined || timestamp === undefined)
    return { scheme, is: "wrong", reason: "`webhook-id` and `webhook-timestamp` belong to it." };
  const expected = secrets.map((secret) => `v1,${standardSignature(secret, { id, timestamp, body })}`);
  // Several may be there while a secret is being replaced.
  if (!given.split(" ").some((each) => expected.some((one) => isSame(each, one))))
    return { scheme, is: "wrong", reason: "It is not that of this id, time and body with this secret." };
  const apartMs = Math.abs(nowMs - Number(timestamp) * 1_000);
  if (apartMs <= TOLERANCE_MS) return { scheme, is: "right" };
  return {
    scheme,
    is: "wrong",
    reason: `The message is from another time: ${Math.round(apartMs / 60_000)} minutes apart.`,
  };
}

function plainSignature(secret: string, body: string | Uint8Array): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

function standardSignature(
  secret: string,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string | Uint8Array },
): string {
  return createHmac("sha256", toKey(secret)).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

/** Secrets made for Standard Webhooks are base64 behind `whsec_`; any other is taken as it is written. */
function toKey(secret: string): Buffer {
  const [, encoded] =
    /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
