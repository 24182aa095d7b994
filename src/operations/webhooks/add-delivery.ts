import { hash } from "node:crypto";
import { writeExact } from "../../core/exact-json.ts";
import type { NewDelivery } from "../../ports/service/deliveries.ts";
import type { Stores } from "../application/ports.ts";

/** A message that somebody elsewhere is to get. */
export interface WantedDelivery extends Omit<NewDelivery, "id" | "lane" | "sealedHeaders"> {
  /** Identifies the message. A message with equal names is not sent again. */
  readonly names: readonly (string | number)[];
  readonly sealedHeaders?: string;
}

/** Longer bodies lie beside the table. */
const MAX_INLINE_BYTES = 65_536;

/**
 * Has a message delivered: durably, at least once, with an id by which its receiver tells repetitions. The service sends it
 * as soon as it looks, signed and through the guard of everything outbound. Returns the id.
 */
export async function addDelivery(
  app: Pick<Stores, "records" | "service">,
  { names, sealedHeaders = "", body, ...rest }: WantedDelivery,
): Promise<string> {
  const id = `msg_${hash("sha256", writeExact(names)).slice(0, 24)}`;
  const { deliveries } = await app.service();
  const isLong = Buffer.byteLength(body) > MAX_INLINE_BYTES;
  const stored = isLong ? `~${await (await app.records()).blobs.put(body)}` : body;
  // The receiver, as far as it is known before variables are resolved.
  await deliveries.add({ ...rest, id, sealedHeaders, body: stored, lane: URL.parse(rest.url)?.origin ?? rest.url });
  return id;
}

/** The text that is sent, whatever the way it is stored. */
export async function readBodyOf(app: Pick<Stores, "records" | "service">, id: string): Promise<string> {
  const stored = await (await app.service()).deliveries.readBody(id);
  if (!stored.startsWith("~")) return stored;
  return Buffer.from(await (await app.records()).blobs.get(stored.slice(1))).toString();
}
