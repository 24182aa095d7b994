import { setTimeout } from "node:timers/promises";
import type { Config } from "../../config/load-config.ts";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import type { JsonObject } from "../../core/json.ts";
import { LocalHost } from "../../hosts/local/local-host.ts";
import type { LocalHostOptions } from "../../hosts/local/local-host-options.ts";
import type { RunHost } from "../../hosts/run-host.ts";
import type { RunSecrets } from "../../ports/run-secrets.ts";
import { doAll } from "../do-all.ts";
import { Regexes } from "../regexes.ts";
import type { OpenedRestate } from "../restate/open-restate.ts";
import type { Seat } from "../seat/seat.ts";
import { OwnerServer, type OwnerServerOptions } from "./owner-server.ts";

export interface OwnershipParts {
  readonly seat: Seat;
  readonly config: Config;
  /** What the host is given beside what is opened here, and what the configuration says. */
  readonly host: Omit<
    LocalHostOptions,
    | "journal"
    | "clock"
    | "previousSeenAt"
    | "drives"
    | "env"
    | "configuration"
    | "matches"
    | "findAll"
    | "maxOutputBytes"
    | "maxRunBytes"
    | "maxRowsPerCommit"
  > & { readonly secrets: RunSecrets };
  /** Opens the server that other processes reach. */
  openService(successors: Successors): ReturnType<OwnerServerOptions["open"]>;
  /** Restate calls this process, which drives runs then. False: it may only start and ask. */
  readonly isEndpoint: boolean;
  tell(line: string): void;
  /** Terminal sessions of this process whose program runs. */
  openTerminals(): number;
}

/** Takes up what an earlier process has left, and lets other processes in. */
export async function openOwnership(
  socketPath: string,
  parts: OwnershipParts,
): Promise<{ readonly ownership: Ownership; readonly resumed: number }> {
  const { seat, config } = parts;
  const { limits } = config.settings;
  const { journal, clock, loss } = seat;
  if (loss !== undefined) parts.tell(loss);
  const regexes = new Regexes();
  const options: LocalHostOptions = {
    ...parts.host,
    journal,
    clock,
    previousSeenAt: seat.previousSeenAt,
    drives: seat.drives,
    ...(seat.workers === undefined ? {} : { workers: seat.workers }),
    env: config.env,
    // It was read from YAML or the environment, so it is JSON.
    configuration: config.settings.server.context.configuration as JsonObject | undefined,
    matches: (...asked) => regexes.matches(...asked),
    findAll: (text, pattern) => regexes.findAll(text, pattern),
    maxOutputBytes: limits.max_output_bytes,
    maxRunBytes: limits.max_run_bytes,
    maxRowsPerCommit: limits.max_rows_per_commit,
  };
  const restate = await openRestateIfChosen(options, parts);
  const local = restate?.local ?? new LocalHost(options);
  seat.whenLost(() => local.lose());
  const { resumed } = await local.recover();
  const shared = await shareHost(local, { ...seat, ...(restate === undefined ? {} : { inbox: restate.inbox }) }, parts);
  const driven = restate?.complete(shared);
  void driven?.startUnfinished().catch(parts.host.onDefect);
  const stopLooking = lookForRuns(local, seat, parts);
  const { onDefect } = parts.host;
  const successors = new Successors();
  const open = () => parts.openService(successors);
  const server = await OwnerServer.listen({ path: socketPath, open, onDefect });
  const openTerminals = () => parts.openTerminals();
  const host = driven ?? shared;
  const close = async () => driven?.close();
  return { ownership: new Ownership({ seat, host, server, successors, openTerminals, stopLooking, close }), resumed };
}

/** A command that works on a data directory drives its runs itself: Restate cannot call it. */
async function openRestateIfChosen(
  options: LocalHostOptions,
  { seat, config, isEndpoint, tell }: OwnershipParts,
): Promise<OpenedRestate | undefined> {
  const { restate: settings } = config.settings;
  if (settings.url === undefined || (!isEndpoint && seat.inbox === undefined)) return undefined;
  const { openRestate } = await import("../restate/open-restate.ts");
  return openRestate({ settings, seat, options, isEndpoint, tell });
}

/** Where there are other processes, each takes requests to the runs of all. */
async function shareHost(local: LocalHost, seat: Seat, { host }: OwnershipParts): Promise<RunHost> {
  const { inbox, journal, relay } = seat;
  if (inbox === undefined) return local;
  const { SharedHost } = await import("../../hosts/shared/shared-host.ts");
  const { secrets, onDefect } = host;
  return new SharedHost({ local, journal, inbox, relay, drives: seat.drives?.runs !== "none", secrets, onDefect });
}

/** Runs that other processes have left or handed over are taken up here. */
function lookForRuns(host: LocalHost, { lookEveryMs }: Seat, { host: { onDefect } }: OwnershipParts): () => void {
  if (lookEveryMs === undefined) return () => undefined;
  const look = () => host.recover().catch((error: unknown) => (isStorageFailure(error) ? undefined : onDefect(error)));
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return () => clearInterval(timer);
}

interface Owned {
  readonly seat: Seat;
  readonly host: RunHost;
  readonly server: OwnerServer;
  readonly successors: Successors;
  openTerminals(): number;
  stopLooking(): void;
  /** Before the journal is closed. */
  close(): Promise<void>;
}

const LOOK_AGAIN_MS = 50;
const IDLE_GRACE_MS = 5_000;
/** How long runs of other processes may take to end before a server goes on with them. */
const HAND_OVER_GRACE_MS = 5_000;

/** Servers that use this owner and are the owner after it. */
export class Successors {
  readonly #urls = new Set<string>();
  #changed: () => void = () => undefined;

  get url(): string | undefined {
    return [...this.#urls].at(-1);
  }

  /** Returns what takes it back. */
  add(url: string): () => void {
    this.#urls.add(url);
    this.#changed();
    return () => {
      this.#urls.delete(url);
      this.#changed();
    };
  }

  whenChanged(changed: () => void): void {
    this.#changed = changed;
  }
}

/** The data directory, or a part in a database, as long as this process drives runs. */
export class Ownership {
  readonly #owned: Owned;
  #url: string | undefined;
  #isParked = false;
  #isClosed = false;

  constructor(owned: Owned) {
    this.#owned = owned;
    owned.successors.whenChanged(() => this.#tellUrl());
  }

  get host(): RunHost {
    return this.#owned.host;
  }

  get seat(): Seat {
    return this.#owned.seat;
  }

  /** The address at which requests are taken: by this process, or by the server that waits for the data. */
  get url(): string | undefined {
    return this.#url ?? this.successor;
  }

  /** The address of a server that goes on with the runs when this process ends. */
  get successor(): string | undefined {
    return this.#owned.successors.url;
  }

  /** Tells other processes where this one takes requests. */
  announce(url: string): void {
    this.#url = url;
    this.#tellUrl();
  }

  /** Whether other processes may be using the terminals of this one. */
  get hasGuestsOfTerminals(): boolean {
    return this.#owned.server.callers > 0 && this.#owned.openTerminals() > 0;
  }

  /** Resolves when no run is under way here and no process uses terminals of this one. If a server waits for the data, runs get a moment only. */
  async finished(stop: AbortSignal): Promise<void> {
    const handsOverAt = Date.now() + HAND_OVER_GRACE_MS;
    const mayLeaveRuns = () => this.successor !== undefined && Date.now() >= handsOverAt;
    const isNeeded = () => (this.#owned.host.driving > 0 && !mayLeaveRuns()) || this.hasGuestsOfTerminals;
    while (isNeeded() && !stop.aborted) await setTimeout(LOOK_AGAIN_MS);
  }

  /** Resolves when this process was not needed for some seconds. If a server waits for the data, it resolves as soon as no run is under way. */
  async idle(stop: AbortSignal): Promise<void> {
    const { host, server, seat } = this.#owned;
    const isNeeded = async () => server.callers > 0 || (await seat.journal.nextWakeAt()) !== undefined;
    let idleSince = Date.now();
    while (!stop.aborted && Date.now() - idleSince < IDLE_GRACE_MS) {
      const isBusy = host.driving > 0 || this.hasGuestsOfTerminals;
      if (!isBusy && this.successor !== undefined) return;
      if (isBusy || (await isNeeded())) idleSince = Date.now();
      await setTimeout(LOOK_AGAIN_MS);
    }
  }

  #tellUrl(): void {
    this.#owned.seat.announce(this.url);
  }

  /** Lays every run down, durably. */
  async park(force: AbortSignal, hold?: string): Promise<void> {
    if (this.#isParked) return;
    this.#isParked = true;
    this.#owned.stopLooking();
    await this.#owned.host.park(force, hold);
  }

  /** Gives the data directory back. Callers go on with the next owner. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isParked = true;
    const { seat, server, stopLooking, close } = this.#owned;
    stopLooking();
    seat.clock.stop();
    seat.storage.stop();
    await doAll(
      () => server.close(),
      () => close(),
      () => seat.journal.close(),
      () => seat.release(),
    );
  }
}
