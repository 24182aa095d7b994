import { join } from "node:path";
import { openRestate } from "../../src/app/restate/open-restate.ts";
import { SystemClock } from "../../src/app/system-clock.ts";
import { DEFAULTS } from "../../src/config/settings.ts";
import type { LocalHostOptions } from "../../src/hosts/local/local-host-options.ts";
import type { RestateHost } from "../../src/hosts/restate/restate-host.ts";
import type { Executor } from "../../src/ports/executor.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import type { RestateServer } from "../support/restate-server.ts";

export type ServerAddress = Pick<RestateServer, "ingressUrl" | "adminUrl">;

export interface HostPlace extends ServerAddress {
  readonly folder: string;
  readonly port: number;
  readonly maxEntries?: number | undefined;
}

export interface OpenedHost {
  readonly host: RestateHost;
  readonly journal: Journal;
  readonly service: string;
  readonly port: number;
  close(): Promise<void>;
}

/** A host on the journal of a folder, with its endpoint at a port. */
export async function openHost(
  { folder, port, ingressUrl, adminUrl, maxEntries = 1_000 }: HostPlace,
  executor: Executor,
  given: Partial<LocalHostOptions> = {},
): Promise<OpenedHost> {
  const journal = openSqliteJournal({ path: join(folder, "pawl.db"), durability: "power" });
  const clock = new SystemClock();
  const settings = {
    ...DEFAULTS.restate,
    url: ingressUrl,
    admin_url: adminUrl,
    service: `pawl-${port}`,
    endpoint_port: port,
    max_entries: maxEntries,
  };
  const { local, complete } = await openRestate({
    settings,
    seat: { journal, starts: undefined, clock, inbox: undefined },
    options: {
      journal,
      clock,
      blobs: new MemoryBlobs(),
      files: new MemoryFileStorage(),
      findExecutor: async () => executor,
      resolveCall: () => Promise.reject(new Error("No calls here.")),
      mask: (text) => text,
      env: () => undefined,
      onDefect: (error) => console.error(error),
      ...given,
    },
    isEndpoint: true,
    tell: () => undefined,
  });
  const host = complete(local);
  return {
    host,
    journal,
    service: settings.service,
    port,
    async close() {
      await host.park(AbortSignal.abort());
      await host.close();
      await journal.close();
      clock.stop();
    },
  };
}

/** Tells Restate of the endpoint of a host. */
export async function register(server: ServerAddress, port: number): Promise<void> {
  await ask(server, "POST", "deployments", { uri: `http://127.0.0.1:${port}`, force: true });
}

export async function ask({ adminUrl }: ServerAddress, method: string, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${adminUrl}/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
}
