import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LocalHostOptions } from "../../src/hosts/local/local-host-options.ts";
import type { Executor } from "../../src/ports/executor.ts";
import { findFreePort } from "../support/free-port.ts";
import type { RestateServer } from "../support/restate-server.ts";
import { ask, type OpenedHost, openHost, register } from "./open-host.ts";

interface WorldOptions {
  readonly maxEntries?: number;
  /** `0s`: an attempt ends whenever it waits for anything, and the next one replays all entries. */
  readonly inactivityTimeout?: string;
}

/** A host on a journal of its own, with an endpoint of which the server knows. They end with the test. */
export async function openRestateWorld(
  server: RestateServer,
  executor: Executor,
  { maxEntries, inactivityTimeout, ...given }: WorldOptions & Partial<LocalHostOptions> = {},
): Promise<OpenedHost> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-restate-host-"));
  const port = await findFreePort();
  const { ingressUrl, adminUrl } = server;
  const opened = await openHost({ folder, port, ingressUrl, adminUrl, maxEntries }, executor, given);
  onTestFinished(async () => {
    await opened.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await register(server, port);
  if (inactivityTimeout !== undefined)
    await ask(server, "PATCH", `services/${opened.service}`, { inactivity_timeout: inactivityTimeout });
  return opened;
}
