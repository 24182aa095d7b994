import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject } from "../../../core/json.ts";

export interface AuditLog {
  append(entry: JsonObject): void;
}

/**
 * One JSON line for each call, in the order of the calls. The file is only ever appended to, and opened anew each time,
 * so that it can be rotated. Secrets are masked. A line that cannot be written makes the call fail: there is no call
 * without a record.
 */
export function createAuditLog(path: string, mask: (text: string) => string): AuditLog {
  mkdirSync(dirname(path), { recursive: true });
  return {
    append(entry) {
      appendFileSync(path, `${mask(JSON.stringify(entry))}\n`, { mode: 0o600 });
    },
  };
}
