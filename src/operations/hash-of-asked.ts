import { createHash } from "node:crypto";
import { writeExact } from "../core/exact-json.ts";

/** Equal for equal requests, whatever the order of keys: a client that writes it again may write it in another. */
export function hashOfAsked(asked: object): string {
  return createHash("sha256").update(inOneOrder(asked)).digest("hex");
}

function inOneOrder(asked: object): string {
  return writeExact(asked, (_name, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
