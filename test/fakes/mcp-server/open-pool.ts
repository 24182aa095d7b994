import { onTestFinished } from "vitest";
import { ServerPool, type ServerPoolOptions } from "../../../src/executors/mcp-servers/server-pool.ts";

/** Whatever it connects is gone when the test has finished. */
export function openPool(more: Partial<ServerPoolOptions> = {}): ServerPool {
  const pool = new ServerPool({ version: "1.0.0", connectTimeoutMs: 10_000, pingIntervalMs: 30_000, ...more });
  onTestFinished(() => pool.close());
  return pool;
}
