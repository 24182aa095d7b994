import { PawlError } from "../../core/errors/pawl-error.ts";
import { filesOfTenant } from "../../hosts/tenant-files.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";
import type { TerminalViews } from "../../ports/terminals/terminal-views.ts";
import { findRun } from "./find-run.ts";
import type { AppHost, Driving, Principal, Records, Stores } from "./ports.ts";
import { withMethods } from "./with-methods.ts";

type TenantPorts = Principal & Stores & Driving;

/**
 * The ports as one tenant may see it: runs and files of others do not exist. Operations find what they work on through
 * it, so that none of them has to ask whose a run is.
 */
export function forTenant<Own extends TenantPorts>(app: Own, tenantId: string): Own {
  const records = async (): Promise<Records> => {
    const { journal, blobs } = await app.records();
    return { journal: ownRuns(journal, tenantId), blobs };
  };
  const host = async (open: Promise<AppHost>) => ownHost(await open, { tenantId, records });
  return withMethods<Own, TenantPorts>(app, {
    tenantId,
    records,
    files: async () => filesOfTenant(await app.files(), tenantId),
    host: () => host(app.host()),
    backgroundHost: () => host(app.backgroundHost()),
    waits: async (runs) => {
      const all = await app.waits(runs);
      const { journal } = await records();
      const ofOwn = async (ids: readonly string[] = []) => {
        const found = await Promise.all(ids.map((id) => journal.findRun(id)));
        return ids.filter((_, index) => found[index] !== undefined);
      };
      return {
        ...all,
        waits: await Promise.all(all.waits.map(async (w) => ({ ...w, holders: await ofOwn(w.holders) }))),
      };
    },
    leftTerminals: async () => {
      const left = await app.leftTerminals();
      return left === undefined ? undefined : ownTerminals(left, tenantId);
    },
  });
}

/** Events and values are read by the number of a run, which only a record tells. */
function ownRuns(journal: Journal, tenantId: string): Journal {
  const own = (record: RunRecord | undefined) => (record?.tenantId === tenantId ? record : undefined);
  return withMethods(journal, {
    async findRun(idOrPrefix) {
      const found = await journal.findRun(idOrPrefix);
      // Between whose runs a prefix cannot decide is nobody's business.
      return found === "ambiguous" ? undefined : own(found);
    },
    readRun: async (run) => own(await journal.readRun(run)),
    listRuns: (filter) => journal.listRuns({ ...filter, tenantId }),
    countRunsByStatus: (selection) => journal.countRunsByStatus({ ...selection, tenantId }),
    countRuns: (selection) => journal.countRuns({ ...selection, tenantId }),
  });
}

function ownTerminals(terminals: TerminalViews, tenantId: string): TerminalViews {
  const list = async () => (await terminals.list()).filter(({ tenant_id }) => tenant_id === tenantId);
  const mine = async (id: string) => {
    if ((await list()).some(({ session_id }) => session_id === id)) return id;
    throw new PawlError("TERMINAL_NOT_FOUND", { message: `There is no terminal "${id}".` });
  };
  return {
    list,
    watchScreen: async (id, window) => terminals.watchScreen(await mine(id), window),
    type: async (id, data) => terminals.type(await mine(id), data),
    kill: async (id) => terminals.kill(await mine(id)),
  };
}

interface Tenancy extends Pick<Stores, "records"> {
  readonly tenantId: string;
}

function ownHost(host: AppHost, { tenantId, records }: Tenancy): AppHost {
  const mine = async (runId: string) => (await findRun({ records }, runId)).id;
  return withMethods(host, {
    startRun: (start) => host.startRun({ ...start, tenantId }),
    request: async (runId, request) => host.request(await mine(runId), request),
    deleteRun: async (runId) => host.deleteRun(await mine(runId)),
    settled: async (runId) => host.settled(await mine(runId)),
    terminals: async () => ownTerminals(await host.terminals(), tenantId),
    callTerminal: (call, signal) => host.callTerminal({ ...call, tenantId }, signal),
  });
}
