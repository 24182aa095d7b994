import { onTestFinished } from "vitest";
import { ServerPool, type ServerPoolOptions } from "../../../src/executors/mcp-servers/server-pool.ts";
import { createOutbound } from "../../../src/executors/outbound/outbound.ts";

/** When what was opened is closed: with the test, unless a whole file shares it. */
export type CloseWith = (close: () => Promise<void>) => void;

/** Whatever it connects is gone when the test, or whoever `closeWith` names, has finished. */
export function openPool(more: Partial<ServerPoolOptions> = {}, closeWith: CloseWith = onTestFinished): ServerPool {
  const pool = new ServerPool({
    version: "1.0.0",
    connectTimeoutMs: 10_000,
    pingIntervalMs: 30_000,
    outbound: createOutbound({ allow: [] }),
    confine: () => Promise.reject(new Error("nothing is confined here")),
    ...more,
  });
  closeWith(() => pool.close());
  return pool;
}
