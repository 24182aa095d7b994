import { randomUUID } from "node:crypto";

/** UUIDv7 (RFC 9562): sorts by time, so that short ids and lists read well. */
export function newRunId(atMs: number): string {
  const time = atMs.toString(16).padStart(12, "0");
  // A random UUID has its random bits where version 7 wants them, and is much cheaper than drawing bytes.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
