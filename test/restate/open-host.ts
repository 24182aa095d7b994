import { join } from "node:path";
import { openRestate } from "../../src/app/restate/open-restate.ts";
import { createRestateCare } from "../../src/app/restate/restate-care.ts";
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
  /** Absent: one of this port. */
  readonly service?: string | undefined;
  readonly maxEntries?: number | undefined;
  /** Absent: one in the folder, written in this thread. */
  readonly journal?: Journal;
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
  { folder, port, service = `pawl-${port}`, ingressUrl, adminUrl, maxEntries = 1_000, journal: records }: HostPlace,
  executor: Executor,
  given: Partial<LocalHostOptions> = {},
): Promise<OpenedHost> {
  const journal = records ?? openSqliteJournal({ path: join(folder, "pawl.db"), durability: "power" });
  const clock = new SystemClock();
  const settings = {
    ...DEFAULTS.restate,
    url: ingressUrl,
    admin_url: adminUrl,
    service,
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
    service,
    port,
    async close() {
      await host.park(AbortSignal.abort());
      await host.close();
      await journal.close();
      clock.stop();
    },
  };
}

/** Tells Restate of the endpoint of a host, as `pawl restate register` does. */
export async function register(
  { ingressUrl, adminUrl }: ServerAddress,
  port: number,
  service = `pawl-${port}`,
): Promise<void> {
  const care = createRestateCare({ ...DEFAULTS.restate, url: ingressUrl, admin_url: adminUrl, service });
  await care.register(`http://127.0.0.1:${port}`);
}

export async function ask({ adminUrl }: ServerAddress, method: string, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${adminUrl}/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
}
