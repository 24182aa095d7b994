import type { KeyDescription } from "../../../operations/keys/api-keys.ts";
import { formatTime } from "./format-time.ts";
import { formatUsd } from "./format-usd.ts";
import type { PageOptions } from "./render-runs.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The table of `pawl keys ls`. */
export function renderKeys(keys: readonly KeyDescription[], { paint, now, width }: PageOptions): string {
  if (keys.length === 0) return "There are no keys: whoever is on this machine may use the service.";
  const columns = ["ID", "NAME", "SCOPES", "TENANT", "A RUN", "CREATED", "STATE"].map((title) => ({ title }));
  const rows = keys.map((key): Segment[] => [
    { text: key.key_id },
    { text: sanitize(key.name) },
    { text: key.scopes.join(",") },
    { text: sanitize(key.tenant_id ?? "") },
    { text: key.max_cost_usd === null ? "" : formatUsd(key.max_cost_usd) },
    { text: formatTime(Date.parse(key.created_at), now) },
    { text: stateOf(key, now) },
  ]);
  return renderTable(columns, rows, { paint, width });
}

function stateOf({ revoked_at: revoked, expires_at: expires }: KeyDescription, now: number): string {
  if (revoked !== null) return `revoked ${formatTime(Date.parse(revoked), now)}`;
  if (expires === null) return "valid";
  const at = Date.parse(expires);
  return at <= now ? `expired ${formatTime(at, now)}` : `valid until ${expires.slice(0, 10)}`;
}
