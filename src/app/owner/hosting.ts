import type { KnownSecrets } from "../../config/known-secrets.ts";
import type { CapacityPools } from "../../executors/capacity/capacity-pools.ts";
import type { Drives } from "../../hosts/local/local-host-options.ts";
import type { OpenApplication, Owner } from "../../operations/application/ports.ts";
import type { DefinitionLibrary } from "../../operations/definitions/definition-library.ts";
import type { RunObservers } from "../../operations/events/run-observers.ts";
import type { StandIns } from "../../ports/stand-ins.ts";
import { NO_BUDGETS, type Waits } from "../../ports/waits.ts";
import type { Tracing } from "../../telemetry/spans/open-tracing.ts";
import { doAll } from "../do-all.ts";
import type { TerminalParts } from "../executors/terminal-parts.ts";
import type { OpenedParts } from "../opened-parts.ts";
import type { Seat } from "../seat/seat.ts";
import type { SharedDatabase } from "../seat/shared-database.ts";
import type { StartSteps } from "../start-steps.ts";
import type { SystemClock } from "../system-clock.ts";
import type { Connection } from "./connect.ts";
import type { Ownership } from "./open-ownership.ts";
import type { ReconnectingHost } from "./reconnecting-host.ts";

export interface HostingParts {
  readonly app: OpenApplication;
  readonly parts: OpenedParts;
  readonly terminals: TerminalParts;
  readonly capacity: CapacityPools;
  readonly secrets: KnownSecrets;
  readonly observers: RunObservers;
  readonly steps: StartSteps;
  /** How this program was started, to start it again in the background. */
  readonly program: readonly string[];
  /** What the program that embeds this has. */
  readonly programs: Pick<DefinitionLibrary, "list"> | undefined;
  /** Of a test. Undefined: that of the seat. */
  readonly clock: SystemClock | undefined;
  readonly between: StandIns["between"];
  /** Undefined: runs are kept in the data directory. */
  database(): Promise<SharedDatabase> | undefined;
  tell(line: string): void;
  onDefect(error: unknown): void;
}

/** Other processes drive what is started. */
const DRIVES_NONE: Drives = { runs: "none", concurrency: 0 };

/** How this process takes part in driving runs: as the owner, as one of several that share a database, or as a guest of the owner. */
export class Hosting {
  readonly #parts: HostingParts;
  #seat: Seat | undefined;
  #host: Promise<ReconnectingHost> | undefined;
  #tracing: Tracing | undefined;
  #isServer = false;

  constructor(parts: HostingParts) {
    this.#parts = parts;
  }

  /** How far the clock of the database is ahead of this machine's, in milliseconds. */
  get offsetMs(): number {
    return this.#seat?.clock.offsetMs ?? 0;
  }

  open(): Promise<ReconnectingHost> {
    return this.#keep(() => this.#connect());
  }

  /** For a server: it drives what its role says, and writes on a thread. */
  openForServer(): Promise<ReconnectingHost> {
    this.#isServer = true;
    return this.open();
  }

  openInBackground({ onlyStarts = false } = {}): Promise<ReconnectingHost> {
    return this.#keep(async () => {
      if (this.#parts.database() === undefined) return this.#connectToBackground();
      // What a command begins waits for a process that stays. An answer is recorded here where there is none.
      return onlyStarts ? this.#connect(DRIVES_NONE) : this.#connect();
    });
  }

  /** A host that never makes this process the owner of the data directory. */
  openBeside(): Promise<ReconnectingHost> {
    const connect = async () => {
      const { connectToPresent } = await import("./connect.ts");
      return (await connectToPresent(this.#parts.app.dataDir)) ?? this.#connectToBackground();
    };
    return this.#openHost(connect, connect);
  }

  async findOwner(): Promise<Owner> {
    const connection = (await this.#host)?.connection;
    if (connection?.role === "owner") return { state: "held", pid: process.pid, url: connection.ownership.url };
    if (this.#parts.database() !== undefined) return { state: "free" };
    const { lookForOwner } = await import("./connect.ts");
    return lookForOwner(this.#parts.app.dataDir);
  }

  async isDriven(): Promise<boolean> {
    const database = await this.#parts.database();
    return database === undefined ? (await this.findOwner()).state === "held" : database.isDriven();
  }

  async storageTrouble() {
    return (await this.#ownership())?.seat.storage.trouble;
  }

  async waits(runs: readonly string[]): Promise<Waits> {
    const mine = await this.#connection();
    const nothing: Waits = { ...NO_BUDGETS, capacity: [] };
    if (mine?.role === "owner") {
      const capacity = runs.flatMap((run) => this.#parts.capacity.waitsOf(run));
      return { ...nothing, ...mine.host.budgetView?.(runs), capacity };
    }
    if (this.#parts.database() !== undefined) return nothing;
    const { connectToPresent } = await import("./connect.ts");
    const connection = mine ?? (await connectToPresent(this.#parts.app.dataDir));
    if (connection?.role !== "guest") return nothing;
    try {
      return await connection.host.waits(runs);
    } finally {
      if (mine === undefined) await connection.host.park();
    }
  }

  /** Resolves when no run is under way here, or `stop` aborts. */
  async finished(stop: AbortSignal): Promise<void> {
    const ownership = await this.#ownership();
    if (ownership === undefined) return;
    const { driving } = ownership.host;
    const { successor } = ownership;
    if (driving > 0) {
      const runs = driving === 1 ? "1 other run is" : `${driving} other runs are`;
      const then =
        successor === undefined
          ? "which stays until then. Ctrl-C parks them."
          : `and ${driving === 1 ? "goes" : "go"} on in the server at ${successor}.`;
      this.#parts.tell(`${runs} still under way in this process, ${then}`);
    } else if (ownership.hasGuestsOfTerminals)
      this.#parts.tell("Terminals of this process are open for other processes, for which it stays. Ctrl-C ends them.");
    await ownership.finished(stop);
  }

  /** Resolves when this process was not needed for some seconds, or `stop` aborts. */
  async idle(stop: AbortSignal): Promise<void> {
    await (await this.#ownership())?.idle(stop);
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    await (await this.#host)?.park(force, hold);
  }

  /** Nothing is taken over any more, and others may have the data. */
  async close(): Promise<void> {
    const host = await this.#host?.catch(() => undefined);
    host?.close();
    await doAll(
      () => (host?.connection.role === "owner" ? host.connection.ownership.close() : host?.connection.host.park()),
      () => this.#tracing?.close(),
    );
  }

  async #ownership(): Promise<Ownership | undefined> {
    const connection = await this.#connection();
    return connection?.role === "owner" ? connection.ownership : undefined;
  }

  /** Undefined: this process has not needed one, or could not get one. */
  async #connection(): Promise<Connection | undefined> {
    return (await this.#host?.catch(() => undefined))?.connection;
  }

  /** The one of this process. What has failed is tried again when it is asked for again. */
  #keep(connect: () => Promise<Connection>): Promise<ReconnectingHost> {
    this.#host ??= this.#openHost(connect).catch((error: unknown) => {
      this.#host = undefined;
      throw error;
    });
    return this.#host;
  }

  async #openHost(connect: () => Promise<Connection>, next = () => this.#connect()): Promise<ReconnectingHost> {
    const { parts, terminals, tell, steps } = this.#parts;
    const clock = steps.clock();
    const first = await clock.race(connect()).finally(clock.stop);
    const { ReconnectingHost } = await import("./reconnecting-host.ts");
    return new ReconnectingHost(first, {
      connect: next,
      journal: () => parts.journal(),
      callTerminal: (call, signal) => terminals.call(call, signal),
      terminals: () => terminals.views(),
      tell,
    });
  }

  /** `drives`: in a database that others use too. */
  async #connect(drives = this.#drives()): Promise<Connection> {
    const { app, parts, steps, onDefect } = this.#parts;
    const [database, { connectToData, connectToDatabase }] = await Promise.all([
      this.#parts.database(),
      import("./connect.ts"),
    ]);
    if (database !== undefined)
      return connectToDatabase(async (socket) => {
        const seat = database.takeSeat(socket, drives, onDefect);
        return this.#own(await steps.step("the database", seat), socket.path);
      });
    const { dataDir } = app;
    const connecting = connectToData({
      dataDir,
      own: async (lock, socketPath) => {
        const { takeFileSeat } = await import("../seat/take-file-seat.ts");
        const { durability } = app.config.settings.data;
        const { clock, between } = this.#parts;
        const thread = this.#isServer ? await parts.writeInThread() : undefined;
        return this.#own(
          await takeFileSeat(lock, { dataDir, socketPath, durability, thread, clock, between }),
          socketPath,
        );
      },
    });
    return steps.step("the process that owns the data", connecting);
  }

  async #connectToBackground(): Promise<Connection> {
    const { startBackgroundOwner } = await import("./start-background-owner.ts");
    const { app, program } = this.#parts;
    return startBackgroundOwner({ program, appDir: app.appDir, dataDir: app.dataDir });
  }

  /** A command drives what it was asked for, a program its workflows, and a server what its role says. */
  #drives(): Drives {
    const { server, worker, restate } = this.#parts.app.config.settings;
    const { concurrency } = worker;
    const { programs } = this.#parts;
    const named = programs === undefined ? {} : { programs: () => programs.list().map(({ name }) => name) };
    if (restate.url !== undefined) return { runs: this.#isEndpoint ? "all" : "none", concurrency, ...named };
    const isDriver = server.role === "all" || server.role === "worker";
    const alone = programs === undefined ? "own" : "programs";
    return { runs: !this.#isServer ? alone : isDriver ? "all" : "none", concurrency, ...named };
  }

  /** Restate calls this process: a server that is asked to take calls, or a program. */
  get #isEndpoint(): boolean {
    const { server, restate } = this.#parts.app.config.settings;
    const isAsked = restate.endpoint_port !== undefined || server.role === "worker";
    return (this.#isServer || this.#parts.programs !== undefined) && restate.url !== undefined && isAsked;
  }

  async #own(seat: Seat, socketPath: string): Promise<Ownership> {
    const { openOwnership } = await import("./open-ownership.ts");
    const { app, parts, terminals, secrets, observers, steps, tell, onDefect } = this.#parts;
    this.#seat = seat;
    await steps.step("the bucket", this.#refuseRefusedBucket());
    await this.#openTracing();
    const opening = openOwnership(socketPath, {
      seat,
      config: app.config,
      host: {
        blobs: await parts.blobs(),
        files: await parts.files(),
        findExecutor: app.findExecutor,
        mask: secrets.mask,
        maskPieces: secrets.maskPieces,
        secrets: await app.secrets(),
        observer: observers,
        isTracing: this.#tracing !== undefined,
        openBudgets: () => app.budgets(),
        publishedEvents: async () => (await app.service()).events,
        rates: async () => (await app.service()).rates,
        resolveCall: async (call) => (await import("../../operations/start/resolve-call.ts")).resolveCall(app, call),
        onDefect,
      },
      openService: async (successors) => {
        const { openOwnerService } = await import("./open-owner-service.ts");
        return openOwnerService({ app, observers, successors, onDefect });
      },
      openTerminals: () => terminals.running,
      isEndpoint: this.#isEndpoint,
      tell,
    });
    const { ownership, resumed } = await steps.step("the runs that an earlier process has left", opening);
    await parts.own(ownership.seat.journal);
    await terminals.keepLeftRecordings();
    const runs = resumed === 1 ? "1 run" : `${resumed} runs`;
    if (resumed > 0) tell(`Resuming ${runs} of an earlier process.`);
    return ownership;
  }

  /** Before anything is paid for that could not be kept. A bucket that only fails is waited for when it is used. */
  async #refuseRefusedBucket(): Promise<void> {
    const trouble = (await this.#parts.app.checkBucket?.())?.trouble;
    if (trouble?.code === "STORAGE_REFUSED") throw trouble;
    if (trouble !== undefined) this.#parts.tell(`${trouble.message} Runs wait for it.`);
  }

  /** Before runs go on: nothing of them is missed. */
  async #openTracing(): Promise<void> {
    const { app, observers, secrets, tell } = this.#parts;
    const {
      otlp_endpoint: endpoint,
      otlp_headers: headers = "",
      service_name: serviceName,
    } = app.config.settings.telemetry;
    if (endpoint === undefined || this.#tracing !== undefined) return;
    const [{ openTracing }, { readVersion }] = await Promise.all([
      import("../../telemetry/spans/open-tracing.ts"),
      import("../../config/read-version.ts"),
    ]);
    const { mask } = secrets;
    this.#tracing = openTracing({ endpoint, headers, serviceName, version: await readVersion(), mask, tell });
    observers.add(this.#tracing.observer);
  }
}
