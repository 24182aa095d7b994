import type { PathPattern } from "./path-pattern.ts";

/** Paths of the service, those included that later parts of it bring. */
const PATHS = new Set([
  "/execute",
  "/health",
  "/healthz",
  "/ready",
  "/status",
  "/doctor",
  "/settings",
  "/mcp-servers",
  "/metrics",
  "/violations",
  "/events",
  "/openapi.json",
  "/app/openapi.json",
  "/workflows/run",
  "/workflows/run/sync",
]);

/** Everything below these belongs to the service. */
const FOLDERS = new Set([
  "queues",
  "triggers",
  "runs",
  "schedules",
  "agents",
  "approvals",
  "artifacts",
  "costs",
  "custom_workflows",
  "dead-letter",
  "execution",
  "keys",
  "policies",
  "recordings",
  "storage",
  "templates",
  "terminals",
  "tenant-routes",
  "ui",
  "webhooks",
]);

/**
 * Whether a path is one of the service's own. Those under `/api` are, too; a pattern that merely covers one of them is not:
 * the service's go first.
 */
export function isReserved({ segments }: PathPattern): boolean {
  const names = segments.map((segment) => ("literal" in segment ? segment.literal : undefined));
  return isOwn(names) || (names[0] === "api" && names.length > 1 && isOwn(names.slice(1)));
}

function isOwn(names: readonly (string | undefined)[]): boolean {
  const [first, , third] = names;
  if (first !== undefined && FOLDERS.has(first)) return true;
  if (first === "workflows" && names.length === 3 && third === "execute") return true;
  return !names.includes(undefined) && PATHS.has(`/${names.join("/")}`);
}
