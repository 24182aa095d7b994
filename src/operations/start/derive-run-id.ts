import { hash } from "node:crypto";
import { writeExact } from "../../core/exact-json.ts";

/**
 * The id of a run that something outside may ask for more than once: equal names, equal id, so that a repetition meets
 * `RUN_ID_TAKEN`. A UUID of version 8 (RFC 9562) made of a SHA-256.
 */
export function deriveRunId(kind: "schedule" | "queue" | "event" | "step", ...names: readonly string[]): string {
  const digest = hash("sha256", writeExact([kind, ...names]));
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ];
  return parts.join("-");
}
