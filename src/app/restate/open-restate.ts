import type { Settings } from "../../config/settings.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { LocalHost } from "../../hosts/local/local-host.ts";
import type { LocalHostOptions } from "../../hosts/local/local-host-options.ts";
import { createInvocationJournal } from "../../hosts/restate/invocation-journal.ts";
import type { RestateApi } from "../../hosts/restate/restate-api.ts";
import type { RestateEndpoint } from "../../hosts/restate/restate-endpoint.ts";
import { createRestateHost, type RestateHost, wakeInvocations } from "../../hosts/restate/restate-host.ts";
import { RestateLog } from "../../hosts/restate/restate-log.ts";
import { InvocationClaims, RunDriver } from "../../hosts/restate/run-driver.ts";
import type { RunHost } from "../../hosts/run-host.ts";
import type { Inbox } from "../../ports/inbox.ts";
import type { Seat } from "../seat/seat.ts";
import { createRestateApi, DEFAULT_ENDPOINT_PORT } from "./restate-care.ts";

export interface OpenedRestate {
  readonly local: LocalHost;
  /** Requests to runs that other processes drive. Undefined: there are no others. */
  readonly inbox: Inbox | undefined;
  /** `host` takes requests to all runs. */
  complete(host: RunHost): RestateHost;
}

interface RestateParts {
  readonly settings: Settings["restate"];
  readonly seat: Pick<Seat, "journal" | "starts" | "clock" | "inbox">;
  /** As for a host whose runs this process drives. */
  readonly options: LocalHostOptions;
  /** Restate calls this process. False: others. */
  readonly isEndpoint: boolean;
  tell(line: string): void;
}

/** The host of a process whose runs Restate drives. Throws `PACKAGE_MISSING`. */
export async function openRestate(parts: RestateParts): Promise<OpenedRestate> {
  const { settings, isEndpoint, tell } = parts;
  const api = createRestateApi(settings, tellSometimes(tell));
  return isEndpoint ? openDriver(parts, api) : openStarter(parts, api);
}

/** Restate calls other processes. */
function openStarter({ seat, options }: RestateParts, api: RestateApi): OpenedRestate {
  const { inbox, journal, clock } = seat;
  const { onDefect } = options;
  return {
    local: new LocalHost(options),
    inbox: inbox && wakeInvocations(inbox, journal, api),
    complete: (host) => createRestateHost({ host, starts: host, api, journal, clock, endpoint: undefined, onDefect }),
  };
}

/** Restate calls this process. */
async function openDriver({ seat, options, settings, tell }: RestateParts, api: RestateApi): Promise<OpenedRestate> {
  const { journal: records, clock } = seat;
  const { onDefect } = options;
  const claims = new InvocationClaims(seat.inbox === undefined);
  let log: RestateLog | undefined;
  const journal = createInvocationJournal(records, claims, {
    created: (no) => log?.create(no),
    unloaded: (no) => log?.unloaded(no),
  });
  const openLog: LocalHostOptions["openLog"] = (queue) => {
    log = new RestateLog(queue, (run) => driver.unattended(run));
    return log;
  };
  const local = new LocalHost({ ...options, journal, openLog });
  if (log === undefined) throw new Error("The host has opened no log.");
  let lookIntoInbox: () => void = () => undefined;
  const driver = new RunDriver({
    ...{ journal, host: local, log, api, clock, claims, onDefect },
    inbox: seat.inbox,
    lookIntoInbox: () => lookIntoInbox(),
  });
  const endpoint = await listen(driver, settings);
  const endpointUrl = settings.endpoint_url ?? endpoint.url;
  if (settings.register) api.keepRegistering(endpointUrl);
  tell(`Restate calls this process at ${endpointUrl}.`);
  const inbox = seat.inbox && wakeInvocations(seat.inbox, records, api);
  // What this process creates belongs to no process: Restate says which one drives it.
  const drives = { runs: "none", concurrency: 0 } as const;
  const starter = seat.starts && new LocalHost({ ...options, journal: seat.starts, drives });
  return {
    local,
    inbox: inbox && {
      ...inbox,
      watch(changed: () => void) {
        lookIntoInbox = changed;
        return inbox.watch(changed);
      },
    },
    complete: (host: RunHost) =>
      createRestateHost({ host, starts: starter ?? host, api, journal: records, clock, endpoint, onDefect }),
  };
}

async function listen(driver: RunDriver, settings: Settings["restate"]): Promise<RestateEndpoint> {
  const { RestateEndpoint: Endpoint } = await loadEndpoint();
  return Endpoint.listen(driver, {
    host: settings.endpoint_host,
    port: settings.endpoint_port ?? DEFAULT_ENDPOINT_PORT,
    service: settings.service,
    identityKeys: settings.identity_keys,
  });
}

async function loadEndpoint(): Promise<typeof import("../../hosts/restate/restate-endpoint.ts")> {
  try {
    return await import("../../hosts/restate/restate-endpoint.ts");
  } catch (cause) {
    throw new PawlError("PACKAGE_MISSING", {
      message: "Restate is to call this process, and the package @restatedev/restate-sdk is not installed.",
      remedy: "npm install @restatedev/restate-sdk@1.17.2",
      cause,
    });
  }
}

const QUIET_MS = 60_000;

/** A server that is away is tried again all the time, and told of once a minute. */
function tellSometimes(tell: (line: string) => void): (error: unknown) => void {
  let quietUntil = 0;
  return (error) => {
    if (!isPawlError(error) || performance.now() < quietUntil) return;
    quietUntil = performance.now() + QUIET_MS;
    tell(`${error.code} ${error.message} Runs wait for it.`);
  };
}
