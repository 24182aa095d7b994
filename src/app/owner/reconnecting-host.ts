import { setTimeout } from "node:timers/promises";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import type { RunHost, RunNotice, RunRequest, RunStart, SettledRun } from "../../hosts/run-host.ts";
import type { AppHost } from "../../operations/application/ports.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";
import type { TerminalCall } from "../../ports/terminals/terminal-tools.ts";
import type { TerminalViews } from "../../ports/terminals/terminal-views.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Connection } from "./connect.ts";
import type { Ownership } from "./open-ownership.ts";

export interface ReconnectingHostParts {
  connect(): Promise<Connection>;
  /** For reading, whatever process owns the data directory. */
  journal(): Promise<Journal>;
  /** Calls a tool over the terminals of this process, if it is the owner. */
  callTerminal(call: TerminalCall, signal: AbortSignal): Promise<Json>;
  /** Shows people the terminals of this process, if it is the owner. */
  terminals(): Promise<TerminalViews>;
  tell(line: string): void;
}

const ASK_AGAIN_MS = 50;
const MAX_ROUNDS = 200;

/**
 * A host that outlives owners. When the owner dies, starts, resumes, waits and watches go on with the next owner, which
 * this process becomes if no other does. Answers, cancels and signals reject with `OWNER_GONE` instead: it is unknown
 * whether they were recorded, and twice would be wrong.
 */
export class ReconnectingHost implements AppHost {
  readonly #parts: ReconnectingHostParts;
  readonly #watches = new Set<ReconnectingWatch>();
  #connection: Connection;
  #reconnecting: Promise<void> | undefined;
  #isClosed = false;
  #url: string | undefined;
  readonly #owned = Promise.withResolvers<Ownership>();

  constructor(first: Connection, parts: ReconnectingHostParts) {
    this.#parts = parts;
    this.#connection = first;
    this.#use(first);
  }

  get connection(): Connection {
    return this.#connection;
  }

  get role(): "owner" | "guest" {
    return this.#connection.role;
  }

  get ownerPid(): number {
    return this.#connection.ownerPid;
  }

  get ownerSocket(): string {
    return this.#connection.ownerSocket;
  }

  get driving(): number {
    return this.#connection.host.driving;
  }

  recover(): Promise<{ readonly resumed: number }> {
    return this.#withOwner(({ host }) => host.recover());
  }

  startRun(start: RunStart): Promise<RunRecord> {
    let isAgain = false;
    return this.#withOwner(async ({ host }) => {
      const known =
        isAgain && start.runId !== undefined ? await (await this.#parts.journal()).findRun(start.runId) : undefined;
      isAgain = true;
      return known === undefined || known === "ambiguous" ? host.startRun(start) : known;
    });
  }

  request(runId: string, request: RunRequest): Promise<RunRecord> {
    // To go on with a run twice does no harm.
    if (request.type === "resume") return this.#withOwner(({ host }) => host.request(runId, request));
    return this.#connection.host.request(runId, request);
  }

  deleteRun(runId: string): Promise<void> {
    return this.#connection.host.deleteRun(runId);
  }

  /** With the next owner there are no sessions of the one before, so that doing it again does nothing twice. */
  callTerminal(call: TerminalCall, signal: AbortSignal): Promise<Json> {
    return this.#withOwner(async (connection) => {
      signal.throwIfAborted();
      if (connection.role === "owner") return this.#parts.callTerminal(call, signal);
      return connection.host.callTerminal(call, signal);
    });
  }

  /** Those of the owner as it is now: what one looks at dies with it. */
  async terminals(): Promise<TerminalViews> {
    const connection = this.#connection;
    return connection.role === "owner" ? this.#parts.terminals() : connection.host.terminals;
  }

  /** Calls `listen` with every event of the run from its first, whatever process drives it. */
  watch(runId: string, listen: (notice: RunNotice) => void): () => void {
    const watch = new ReconnectingWatch(runId, listen, () => this.#parts.journal());
    this.#watches.add(watch);
    watch.attach(this.#connection.host);
    return () => {
      watch.detach();
      this.#watches.delete(watch);
    };
  }

  async settled(runId: string): Promise<SettledRun> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const record = await this.#withOwner(({ host }) => this.#settledBy(host, runId));
      if (this.role === "owner" || this.#isClosed || !isUnderWay(record)) return record;
      // The owner is about to leave: either it takes the run up again, or the connection ends and the next one does.
      await setTimeout(ASK_AGAIN_MS);
      await this.request(runId, { type: "resume" });
    }
    throw new PawlError("OWNER_UNREACHABLE", {
      message: `Process ${this.ownerPid} does not go on with the run ${runId}.`,
    });
  }

  /** This process serves at the address, now or as soon as the owner has ended its own run. */
  announce(url: string): void {
    this.#url = url;
    announceTo(this.#connection, url);
  }

  get owned(): Promise<Ownership> {
    return this.#owned.promise;
  }

  async finishOutbox(ids: readonly number[]): Promise<void> {
    await this.#withOwner((connection) =>
      connection.role === "owner"
        ? connection.ownership.seat.journal.finishOutbox(ids)
        : connection.host.finishOutbox(ids),
    );
  }

  stopAsking(): void {
    const { host } = this.#connection;
    if ("stopAsking" in host) host.stopAsking?.();
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    this.close();
    const { connection } = this;
    if (connection.role === "owner") await connection.ownership.park(force, hold);
    else await connection.host.park();
  }

  /** Nothing is taken over any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** An owner may leave as soon as the run has ended, before it has told all callers. */
  async #settledBy(host: RunHost, runId: string): Promise<SettledRun> {
    try {
      return await host.settled(runId);
    } catch (error) {
      const record = isOwnerGone(error) ? await this.#endedRun(runId) : undefined;
      if (record === undefined) throw error;
      return record;
    }
  }

  async #endedRun(runId: string): Promise<RunRecord | undefined> {
    const record = await (await this.#parts.journal()).findRun(runId);
    return record === undefined || record === "ambiguous" || record.completedAt === undefined ? undefined : record;
  }

  #use(connection: Connection): void {
    if (this.#url !== undefined) announceTo(connection, this.#url);
    if (connection.role === "owner") return this.#owned.resolve(connection.ownership);
    // A caller that only watches a waiting run has no pending call that would notice the loss.
    connection.host.whenGone(() => {
      this.#replace(connection).catch(() => undefined);
    });
  }

  async #replace(lost: Connection): Promise<void> {
    for (const { runId } of this.#watches) {
      if ((await this.#endedRun(runId)) !== undefined) continue;
      if (lost === this.#connection && !this.#isClosed) await this.#reconnect();
      return;
    }
  }

  async #withOwner<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    for (;;) {
      const connection = this.#connection;
      try {
        return await work(connection);
      } catch (error) {
        if (connection.role === "owner" || this.#isClosed || !isOwnerGone(error)) throw error;
        if (connection === this.#connection) await this.#reconnect();
      }
    }
  }

  #reconnect(): Promise<void> {
    this.#reconnecting ??= this.#findNextOwner().finally(() => {
      this.#reconnecting = undefined;
    });
    return this.#reconnecting;
  }

  async #findNextOwner(): Promise<void> {
    const { ownerPid } = this.#connection;
    this.#connection = await this.#parts.connect();
    this.#use(this.#connection);
    const next = this.role === "owner" ? "This process goes on" : `Process ${this.ownerPid} goes on`;
    this.#parts.tell(`Process ${ownerPid}, which drove the runs, is gone. ${next}.`);
    for (const watch of this.#watches) watch.attach(this.#connection.host);
  }
}

function announceTo(connection: Connection, url: string): void {
  if (connection.role === "owner") connection.ownership.announce(url);
  else connection.host.announce(url);
}

/** One in line, or that waits for its turn, rests. */
function isUnderWay({ status, parked }: RunRecord): boolean {
  return (status === "queued" && !parked) || status === "running";
}

function isOwnerGone(error: unknown): boolean {
  return isPawlError(error) && error.code === "OWNER_GONE";
}

const PAGE = 500;

/** Watches one run through several owners: what happened in between is read from the journal, and nothing is told twice. */
class ReconnectingWatch {
  readonly runId: string;
  readonly #listen: (notice: RunNotice) => void;
  readonly #journal: () => Promise<Journal>;
  #lastSeq = 0;
  #stop: (() => void) | undefined;
  /** Notices that arrive while the journal is read. Undefined: it has been read. */
  #held: RunNotice[] | undefined;

  constructor(runId: string, listen: (notice: RunNotice) => void, journal: () => Promise<Journal>) {
    this.runId = runId;
    this.#listen = listen;
    this.#journal = journal;
  }

  attach(host: RunHost): void {
    this.#stop?.();
    this.#held = [];
    this.#stop = host.watch(this.runId, (notice) => this.#receive(notice));
    // A fault of the journal is reported by the caller that waits for the run. The view only misses lines.
    void this.#catchUp().catch(() => undefined);
  }

  detach(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#held = undefined;
  }

  #receive(notice: RunNotice): void {
    if (this.#held === undefined) this.#pass(notice);
    else this.#held.push(notice);
  }

  #pass(notice: RunNotice): void {
    if (notice.type === "event") {
      if (notice.seq <= this.#lastSeq) return;
      this.#lastSeq = notice.seq;
    }
    this.#listen(notice);
  }

  async #catchUp(): Promise<void> {
    try {
      await this.#readMissed();
    } finally {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const notice of held) this.#pass(notice);
    }
  }

  async #readMissed(): Promise<void> {
    const journal = await this.#journal();
    const record = await journal.findRun(this.runId);
    if (record === undefined || record === "ambiguous") return;
    for (;;) {
      await passTurn();
      const rows = await journal.readEvents(record.no, { afterSeq: this.#lastSeq, limit: PAGE });
      for (const { seq, event } of rows) if (this.#stop !== undefined) this.#pass({ type: "event", seq, event });
      if (rows.length < PAGE || this.#stop === undefined) return;
    }
  }
}
