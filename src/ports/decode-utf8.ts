import { orElse } from "../core/or-else.ts";

const KEEPS_MARK = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const DROPS_MARK = new TextDecoder("utf-8", { fatal: true });

/** Undefined: it is no UTF-8. `mark`: what becomes of a byte order mark at the beginning. */
export function decodeUtf8(bytes: Uint8Array, mark: "keep" | "drop"): string | undefined {
  return orElse(() => (mark === "keep" ? KEEPS_MARK : DROPS_MARK).decode(bytes), undefined);
}
