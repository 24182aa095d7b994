import { join, resolve } from "node:path";
import { KnownSecrets } from "../config/known-secrets.ts";
import { type Config, type ConfigSources, loadConfig } from "../config/load-config.ts";
import { isStorageFailure } from "../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import { EVERYTHING } from "../core/trust/grant.ts";
import { type CapacityOptions, CapacityPools } from "../executors/capacity/capacity-pools.ts";
import type { FindExecutor } from "../hosts/executors.ts";
import type { Drives } from "../hosts/local/local-host-options.ts";
import type {
  AppHost,
  CopyReport,
  DataFolder,
  HttpService,
  ListenOptions,
  OpenApplication,
  Owner,
  Records,
  ServeRunsOptions,
  ServeTerminalsOptions,
  ServeToolsOptions,
  ServiceRecords,
  WantedFile,
} from "../operations/application/ports.ts";
import type { CompiledTexts } from "../operations/definitions/compiled-texts.ts";
import type { DefinitionLibrary } from "../operations/definitions/definition-library.ts";
import { loadOptionsOf } from "../operations/definitions/load-options.ts";
import { TextFileCache } from "../operations/definitions/read-text-file.ts";
import { RunObservers } from "../operations/events/run-observers.ts";
import type { DatabaseCare } from "../ports/database-care.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import type { ModelPrices } from "../ports/model-prices.ts";
import type { PromptRenderer } from "../ports/prompt-renderer.ts";
import type { RequestRates } from "../ports/request-rates.ts";
import type { RestateCare } from "../ports/restate-care.ts";
import type { RunSecrets } from "../ports/run-secrets.ts";
import type { Budgets } from "../ports/service/budgets.ts";
import type { TerminalViews } from "../ports/terminals/terminal-views.ts";
import type { LibraryEditor, WorkflowLibrary } from "../ports/terminals/workflow-library.ts";
import type { AgentToolbox } from "../ports/tools/agent-toolbox.ts";
import { NO_BUDGETS, type Waits } from "../ports/waits.ts";
import type { Tracing } from "../telemetry/spans/open-tracing.ts";
import { doAll } from "./do-all.ts";
import { type Agents, composeAgents } from "./executors/agents.ts";
import { type CodeAndModels, composeCodeAndModels } from "./executors/code-and-models.ts";
import { createFindExecutor } from "./executors/find-executor.ts";
import { TerminalParts } from "./executors/terminal-parts.ts";
import { composeTools, type Tools } from "./executors/tools.ts";
import { openOutbound } from "./open-outbound.ts";
import { OpenedParts } from "./opened-parts.ts";
import type { Connection } from "./owner/connect.ts";
import type { Ownership } from "./owner/open-ownership.ts";
import type { ReconnectingHost } from "./owner/reconnecting-host.ts";
import type { Seat } from "./seat/seat.ts";
import type { SharedDatabase } from "./seat/shared-database.ts";
import { SystemClock } from "./system-clock.ts";

export interface AppOptions {
  readonly appDir: string;
  readonly flags: ConfigSources["flags"];
  readonly environment: ConfigSources["environment"];
  /** For a command that only looks: records that are not there are not made. */
  readonly makesNothing?: true | undefined;
  /** How this program was started, to start it again in the background. */
  readonly program: readonly string[];
  /** For a person beside the command's own result. */
  tell(line: string): void;
  onDefect(error: unknown): void;
}

/** Puts every part together; nothing is opened before it is needed. Throws `CONFIG_INVALID`. */
export async function createApp(options: AppOptions): Promise<OpenApplication> {
  const appDir = resolve(options.appDir);
  const config = await loadConfig({ appDir, flags: options.flags, environment: options.environment });
  return new App(appDir, config, options);
}

/** Other processes drive what is started. */
const DRIVES_NONE: Drives = { runs: "none", concurrency: 0 };

/** The only place that knows every part. Modules are loaded when they are needed: that is most of what a command costs. */
class App implements OpenApplication {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  /** That of the database, once it is known. */
  readonly clock = new SystemClock(() => this.#seat?.clock.offsetMs ?? 0);
  #seat: Seat | undefined;
  readonly grant = EVERYTHING;
  readonly findExecutor: FindExecutor;
  readonly capacity: CapacityPools;
  readonly mask: (text: string) => string;
  library: DefinitionLibrary | undefined;
  compiledTexts: CompiledTexts | undefined;
  readonly textFiles = new TextFileCache();
  readonly #options: AppOptions;
  readonly #secrets: KnownSecrets;
  readonly #parts: OpenedParts;
  readonly #tools: Tools;
  readonly #work: CodeAndModels;
  readonly #terminals: TerminalParts;
  readonly #agents: Agents;
  readonly #observers: RunObservers;
  #tracing: Tracing | undefined;
  #shared: Promise<SharedDatabase> | undefined;
  #host: Promise<ReconnectingHost> | undefined;
  #isServer = false;

  constructor(appDir: string, config: Config, options: AppOptions) {
    this.appDir = appDir;
    this.config = config;
    this.dataDir = resolve(appDir, config.settings.data.dir ?? ".pawl");
    this.#secrets = new KnownSecrets(config.secrets);
    this.mask = this.#secrets.mask;
    this.#options = options;
    this.#observers = new RunObservers(options.onDefect);
    const { data, storage } = config.settings;
    const { makesNothing } = options;
    const database = () => this.#database();
    this.#parts = new OpenedParts(this.dataDir, {
      durability: data.durability,
      storage,
      makesNothing,
      database,
      finishOutbox: async (ids) => (await this.#openedHost()).finishOutbox(ids),
    });
    const parts = { appDir, dataDir: this.dataDir, config };
    const { limits, patience_ms: patienceMs } = config.settings.capacity;
    this.capacity = new CapacityPools({ clock: this.clock, limits, patienceMs, ...this.#otherCallers() });
    this.#work = composeCodeAndModels({ ...parts, capacity: this.capacity });
    this.#tools = composeTools({ ...parts, work: this.#work, files: () => this.files() });
    const { environment, tell } = options;
    this.#terminals = new TerminalParts({
      ...parts,
      environment,
      secrets: this.#secrets,
      confine: (program, writable) => this.#work.confineTerminal(program, writable),
      files: () => this.files(),
      serveView: async (web) => {
        const { serveTerminalView } = await import("./executors/serve-terminal-view.ts");
        return serveTerminalView({ app: this, web, tell, onDefect: options.onDefect });
      },
      tell,
    });
    this.#agents = composeAgents({
      ...parts,
      mask: this.mask,
      work: this.#work,
      tools: this.#tools,
      capacity: this.capacity,
      stores: () => this.#parts.stores(),
      thread: () => this.#parts.thread,
      database,
    });
    this.findExecutor = createFindExecutor({
      config,
      mask: this.mask,
      tools: this.#tools,
      work: this.#work,
      terminals: this.#terminals,
      agents: this.#agents,
      capacity: this.capacity,
    });
  }

  records(): Promise<Records> {
    return this.#parts.records();
  }

  files(): Promise<FileStorage> {
    return this.#parts.files();
  }

  artifacts(): Promise<FileStorage> {
    return this.#parts.files();
  }

  service(): Promise<ServiceRecords> {
    return this.#parts.service();
  }

  async budgets(): Promise<Budgets | undefined> {
    return (await this.#parts.serviceIfThere())?.budgets;
  }

  host(): Promise<AppHost> {
    return this.#openedHost();
  }

  backgroundHost({ onlyStarts = false } = {}): Promise<AppHost> {
    const isShared = this.#database() !== undefined;
    this.#host ??= this.#openHost(async () => {
      if (!isShared) return this.#connectToBackground();
      // What a command begins waits for a process that stays. An answer is recorded by whoever can, also where there is none.
      return onlyStarts ? this.#connect(DRIVES_NONE) : this.#connect();
    });
    return this.#host;
  }

  async secrets(): Promise<RunSecrets> {
    const { FileSealer } = await import("../storage/files/file-sealer.ts");
    const { secrets, webhook } = this.config.settings;
    // Processes that share a database share a key too, so none may be made in a file.
    const key = secrets.key ?? (this.#database() === undefined ? undefined : webhook.secret);
    const sealer = new FileSealer({ path: join(this.dataDir, "secrets.key"), key });
    return {
      learn: (values) => this.#secrets.learn(values),
      seal: (text) => sealer.seal(text),
      derive: (purpose) => sealer.derive(purpose),
      open: (sealed) => sealer.open(sealed),
    };
  }

  async findOwner(): Promise<Owner> {
    const connection = (await this.#host)?.connection;
    if (connection?.role === "owner") return { state: "held", pid: process.pid, url: connection.ownership.url };
    if (this.#database() !== undefined) return { state: "free" };
    const { lookForOwner } = await import("./owner/connect.ts");
    return lookForOwner(this.dataDir);
  }

  async isDriven(): Promise<boolean> {
    const database = await this.#database();
    return database === undefined ? (await this.findOwner()).state === "held" : database.isDriven();
  }

  leftTerminals(): Promise<TerminalViews | undefined> {
    return this.#terminals.left();
  }

  prompts(): Promise<PromptRenderer> {
    return this.#work.prompts();
  }

  prices(): Promise<ModelPrices> {
    return this.#work.prices();
  }

  toolbox(): Promise<AgentToolbox> {
    return this.#tools.toolbox();
  }

  findToolProblem(...asked: Parameters<OpenApplication["findToolProblem"]>) {
    return this.#tools.findToolProblem(...asked);
  }

  async hasPrice(name: string) {
    try {
      const model = await (await this.#work.models()).resolve(name, { folder: this.appDir });
      return await model.hasPrice();
    } catch (error) {
      if (isPawlError(error)) return true;
      throw error;
    }
  }

  async checkAgentServer() {
    const url = this.config.settings.agent.sandstorm_url;
    if (url === undefined) return undefined;
    const { checkHealth } = await import("../executors/agent/sandstorm/check-health.ts");
    return checkHealth(url, await openOutbound(this.config));
  }

  async dataFolder(): Promise<DataFolder> {
    const { createDataFolder } = await import("./data-folder.ts");
    const { blobs, bucket } = await this.#parts.stores();
    return createDataFolder({
      dataDir: this.dataDir,
      blobs,
      bucket,
      database: await this.#database(),
      journal: () => this.#parts.journal(),
    });
  }

  async copyData(from: string, files: string | undefined): Promise<CopyReport> {
    const { copyData } = await import("./copy-data.ts");
    const { dataDir, config } = this;
    const unseal = async (sealed: string) => (await this.secrets()).open(sealed);
    const parts = { dataDir, settings: config.settings, stores: () => this.#parts.stores(), unseal };
    return copyData(parts, from, files);
  }

  async checkBucket() {
    const { bucket } = await this.#parts.stores();
    return bucket === undefined ? undefined : { place: bucket.place, trouble: await bucket.findTrouble() };
  }

  async checkRedis() {
    const link = await (await this.#database())?.redis();
    if (link === undefined) return undefined;
    const trouble = await link.findTrouble();
    return { trouble: trouble === undefined ? undefined : this.mask(trouble) };
  }

  restate(): RestateCare | undefined {
    const { restate } = this.config.settings;
    if (restate.url === undefined) return undefined;
    const care = async () => (await import("./restate/restate-care.ts")).createRestateCare(restate);
    return {
      address: restate.url,
      register: async (url) => (await care()).register(url),
      isRegistered: async () => (await care()).isRegistered(),
      listTroubled: async (selection) => (await care()).listTroubled(selection),
      resume: async (stopped) => (await care()).resume(stopped),
    };
  }

  async requestRates(): Promise<RequestRates | undefined> {
    return (await this.#database())?.requestRates();
  }

  database(): DatabaseCare | undefined {
    const { url } = this.config.settings.database;
    if (url === undefined) return undefined;
    const care = () => import("./seat/shared-database.ts");
    return {
      look: async () => (await care()).careForDatabase(url, (database) => database.look()),
      migrate: async () => (await care()).careForDatabase(url, (database) => database.migrate()),
    };
  }

  async storageTrouble() {
    const connection = await this.#connection();
    return connection?.role === "owner" ? connection.ownership.storage.trouble : undefined;
  }

  async waits(runs: readonly string[]): Promise<Waits> {
    const mine = await this.#connection();
    const nothing: Waits = { ...NO_BUDGETS, capacity: [] };
    if (mine?.role === "owner") {
      const capacity = runs.flatMap((run) => this.capacity.waitsOf(run));
      return { ...nothing, ...mine.host.budgetView?.(runs), capacity };
    }
    if (this.#database() !== undefined) return nothing;
    const { connectToPresent } = await import("./owner/connect.ts");
    const connection = mine ?? (await connectToPresent(this.dataDir));
    if (connection?.role !== "guest") return nothing;
    try {
      return await connection.host.waits(runs);
    } finally {
      if (mine === undefined) await connection.host.park();
    }
  }

  checkSandbox() {
    return this.#work.checkSandbox();
  }

  async fetchDefinitionFile({ endpoint, appId, path, requestId, traceId }: WantedFile): Promise<string> {
    const tools = await this.#work.endpoint();
    const context = { appId, requestId, traceId };
    const signal = new AbortController().signal;
    return (await tools.readDefinitionFile({ endpoint, context, filePath: path }, signal)).content;
  }

  async serveTools(options: ServeToolsOptions): Promise<void> {
    const { serveTools } = await import("./mcp/serve-terminals.ts");
    await serveTools(this, await this.#tools.coreTools(), options);
  }

  workflowLibrary(): Promise<WorkflowLibrary> {
    return this.#terminals.library();
  }

  libraryEditor(): Promise<LibraryEditor> {
    return this.#terminals.libraryEditor();
  }

  async serveTerminals(options: ServeTerminalsOptions): Promise<void> {
    const { serveTerminals } = await import("./mcp/serve-terminals.ts");
    await serveTerminals({ app: this, library: await this.#terminals.library() }, options);
  }

  async serveRuns(options: ServeRunsOptions): Promise<void> {
    const { serveRuns } = await import("./mcp/serve-runs.ts");
    const isShared = this.#database() !== undefined;
    await serveRuns({ app: this, openHost: isShared ? undefined : () => this.#openBackgroundHost() }, options);
    // What it has begun is for others to go on with.
    if (isShared) await this.park(AbortSignal.abort());
  }

  async leave(stop: AbortSignal, force: AbortSignal): Promise<void> {
    const connection = await this.#connection();
    if (connection?.role === "owner" && connection.host.driving > 0) {
      const { driving } = connection.host;
      const { successor } = connection.ownership;
      const runs = driving === 1 ? "1 other run is" : `${driving} other runs are`;
      const then =
        successor === undefined
          ? "which stays until then. Ctrl-C parks them."
          : `and ${driving === 1 ? "goes" : "go"} on in the server at ${successor}.`;
      this.#options.tell(`${runs} still under way in this process, ${then}`);
    } else if (connection?.role === "owner" && connection.ownership.hasGuestsOfTerminals) {
      this.#options.tell(
        "Terminals of this process are open for other processes, for which it stays. Ctrl-C ends them.",
      );
    }
    if (connection?.role === "owner") await connection.ownership.finished(stop);
    await this.park(force);
    await this.close();
  }

  async serve(stop: AbortSignal): Promise<void> {
    const connection = await this.#connection();
    if (connection?.role === "owner") await connection.ownership.idle(stop);
  }

  async listen(options: ListenOptions): Promise<HttpService> {
    const [{ DefinitionLibrary }, { CompiledTexts }, { openServer }, { whereToListen }, { createLog }] =
      await Promise.all([
        import("../operations/definitions/definition-library.ts"),
        import("../operations/definitions/compiled-texts.ts"),
        import("./server/open-server.ts"),
        import("./server/where-to-listen.ts"),
        import("../telemetry/logs/create-log.ts"),
      ]);
    // Before this process owns anything: where it may not listen, nothing of an earlier one goes on.
    const where = await whereToListen(this, options);
    const { server, database, restate } = this.config.settings;
    if (server.role !== "all" && database.url === undefined) throw withoutOthers(server.role);
    if (restate.url !== undefined && restate.endpoint_port === undefined && database.url === undefined)
      throw withoutEndpoint();
    const library = new DefinitionLibrary({ appDir: this.appDir, ...loadOptionsOf(this.config) });
    const firstLook = await library.refresh();
    // Before runs of an earlier process go on: they may call workflows.
    this.library = library;
    this.compiledTexts = new CompiledTexts();
    this.#isServer = true;
    const host = await this.#openedHost();
    const { connection } = host;
    if (connection.role === "guest") {
      if (connection.url !== undefined) throw servedByAnother(this.dataDir, connection.url);
      this.#options.tell(
        `Process ${connection.ownerPid} drives the runs of ${this.dataDir} until its own run rests. Then this one does.`,
      );
    }
    this.#tools.holdEager().catch((error: unknown) => this.#options.onDefect(error));
    const announce = (url: string) => host.announce(url);
    const onDefect = (error: unknown) => this.#options.onDefect(error);
    const { level, format: wanted } = this.config.settings.log;
    const format = wanted !== "auto" ? wanted : options.isTerminal === true ? "pretty" : "json";
    const log = await createLog({ level, format, mask: this.mask, write: (line) => options.log(line) });
    const observers = this.#observers;
    void host.owned.then(({ loss, storage }) => {
      if (loss !== undefined) log.write("error", `storage: DATA_LOST ${loss}`, { code: "DATA_LOST" });
      storage.start(log);
    });
    try {
      return await openServer({ app: this, host, library, firstLook, observers, log, announce, onDefect }, where);
    } catch (error) {
      // Runs of an earlier process go on by now: the next owner is to find them parked, not cut off.
      await this.park(AbortSignal.timeout(this.config.settings.server.stop_grace_ms));
      throw error;
    }
  }

  async park(force: AbortSignal, hold?: string): Promise<void> {
    await (await this.#host)?.park(force, hold);
  }

  async close(): Promise<void> {
    const connection = await this.#connection();
    (await this.#host?.catch(() => undefined))?.close();
    await doAll(
      () => this.#terminals.finishRecordings(),
      () => (connection?.role === "owner" ? connection.ownership.close() : connection?.host.park()),
      () => this.#tracing?.close(),
      () => this.capacity.close(),
      () => this.#work.close(),
      () => this.#terminals.close(),
      () => this.#tools.close(),
      () => this.#agents.close(),
      () => this.#parts.close(),
    );
  }

  /** Undefined: runs and records are kept in the data directory. Rejects with `CONFIG_INVALID`. */
  #database(): Promise<SharedDatabase> | undefined {
    const { url } = this.config.settings.database;
    return url === undefined ? undefined : this.#databaseAt(url);
  }

  #databaseAt(url: string): Promise<SharedDatabase> {
    this.#shared ??= import("./seat/shared-database.ts").then(
      ({ SharedDatabase }) => new SharedDatabase(url, this.config),
    );
    return this.#shared;
  }

  /** Processes that share a database share the places of the servers that they call. */
  #otherCallers(): Pick<CapacityOptions, "others"> {
    const { url } = this.config.settings.database;
    if (url === undefined) return {};
    const shares = async () => (await this.#databaseAt(url)).poolShares();
    const failed = (error: unknown) => {
      // What has failed is tried again, and runs say by themselves that nothing can be written.
      if (!isStorageFailure(error)) this.#options.onDefect(error);
    };
    return { others: { shares, failed } };
  }

  /** Undefined: this process has not needed one, or could not get one. */
  async #connection(): Promise<Connection | undefined> {
    return (await this.#host?.catch(() => undefined))?.connection;
  }

  #openedHost(): Promise<ReconnectingHost> {
    this.#host ??= this.#openHost(() => this.#connect());
    return this.#host;
  }

  async #openHost(connect: () => Promise<Connection>, next = () => this.#connect()): Promise<ReconnectingHost> {
    const [{ ReconnectingHost }, first] = await Promise.all([import("./owner/reconnecting-host.ts"), connect()]);
    return new ReconnectingHost(first, {
      connect: next,
      journal: () => this.#parts.journal(),
      callTerminal: (call, signal) => this.#terminals.call(call, signal),
      terminals: () => this.#terminals.views(),
      tell: (line) => this.#options.tell(line),
    });
  }

  /** One that never makes this process the owner. */
  #openBackgroundHost(): Promise<ReconnectingHost> {
    const connect = async () => {
      const { connectToPresent } = await import("./owner/connect.ts");
      return (await connectToPresent(this.dataDir)) ?? this.#connectToBackground();
    };
    return this.#openHost(connect, connect);
  }

  /** `drives`: in a database that others use too. */
  async #connect(drives = this.#drives()): Promise<Connection> {
    const database = await this.#database();
    if (database !== undefined) {
      const { connectToDatabase } = await import("./owner/connect.ts");
      const onDefect = (error: unknown) => this.#options.onDefect(error);
      return connectToDatabase(async (socket) =>
        this.#own(await database.takeSeat(socket, drives, onDefect), socket.path),
      );
    }
    const { connectToData } = await import("./owner/connect.ts");
    return connectToData({
      dataDir: this.dataDir,
      own: async (lock, socketPath) => {
        const { takeFileSeat } = await import("./seat/take-file-seat.ts");
        const { durability } = this.config.settings.data;
        const thread = this.#isServer ? await this.#parts.writeInThread() : undefined;
        return this.#own(
          await takeFileSeat(lock, { dataDir: this.dataDir, socketPath, durability, thread }),
          socketPath,
        );
      },
    });
  }

  /** A command drives what it was asked for, and a server what its role says. */
  #drives(): Drives {
    const { server, worker, restate } = this.config.settings;
    if (restate.url !== undefined) return { runs: this.#isEndpoint ? "all" : "none", concurrency: worker.concurrency };
    const isDriver = server.role === "all" || server.role === "worker";
    return { runs: !this.#isServer ? "own" : isDriver ? "all" : "none", concurrency: worker.concurrency };
  }

  /** Restate calls this process. Only a server can be called. */
  get #isEndpoint(): boolean {
    const { server, restate } = this.config.settings;
    const isAsked = restate.endpoint_port !== undefined || server.role === "worker";
    return this.#isServer && restate.url !== undefined && isAsked;
  }

  async #connectToBackground(): Promise<Connection> {
    const { startBackgroundOwner } = await import("./owner/start-background-owner.ts");
    const { program } = this.#options;
    return startBackgroundOwner({ program, appDir: this.appDir, dataDir: this.dataDir });
  }

  /** Before runs go on: nothing of them is missed. */
  async #openTracing(): Promise<void> {
    const {
      otlp_endpoint: endpoint,
      otlp_headers: headers = "",
      service_name: serviceName,
    } = this.config.settings.telemetry;
    if (endpoint === undefined || this.#tracing !== undefined) return;
    const [{ openTracing }, { readVersion }] = await Promise.all([
      import("../telemetry/spans/open-tracing.ts"),
      import("../config/read-version.ts"),
    ]);
    const { mask } = this;
    const tell = (line: string) => this.#options.tell(line);
    this.#tracing = openTracing({ endpoint, headers, serviceName, version: await readVersion(), mask, tell });
    this.#observers.add(this.#tracing.observer);
  }

  /** Before anything is paid for that could not be kept. A bucket that only fails is waited for when it is used. */
  async #refuseRefusedBucket(): Promise<void> {
    const trouble = (await this.checkBucket())?.trouble;
    if (trouble?.code === "STORAGE_REFUSED") throw trouble;
    if (trouble !== undefined) this.#options.tell(`${trouble.message} Runs wait for it.`);
  }

  async #own(seat: Seat, socketPath: string): Promise<Ownership> {
    const { openOwnership } = await import("./owner/open-ownership.ts");
    this.#seat = seat;
    await this.#refuseRefusedBucket();
    await this.#openTracing();
    const { ownership, resumed } = await openOwnership(socketPath, {
      seat,
      config: this.config,
      host: {
        blobs: await this.#parts.blobs(),
        files: await this.#parts.files(),
        findExecutor: this.findExecutor,
        mask: this.mask,
        maskPieces: this.#secrets.maskPieces,
        secrets: await this.secrets(),
        observer: this.#observers,
        isTracing: this.#tracing !== undefined,
        openBudgets: () => this.budgets(),
        resolveCall: async (call) => (await import("../operations/start/resolve-call.ts")).resolveCall(this, call),
        onDefect: (error) => this.#options.onDefect(error),
      },
      openService: async (successors) => {
        const { openOwnerService } = await import("./owner/open-owner-service.ts");
        const onDefect = (error: unknown) => this.#options.onDefect(error);
        return openOwnerService({ app: this, observers: this.#observers, successors, onDefect });
      },
      openTerminals: () => this.#terminals.running,
      isEndpoint: this.#isEndpoint,
      tell: (line) => this.#options.tell(line),
    });
    await this.#parts.own(ownership.journal);
    await this.#terminals.keepLeftRecordings();
    const runs = resumed === 1 ? "1 run" : `${resumed} runs`;
    if (resumed > 0) this.#options.tell(`Resuming ${runs} of an earlier process.`);
    return ownership;
  }
}

function withoutOthers(role: string): PawlError {
  return new PawlError("CONFIG_INVALID", {
    message: `The role \`${role}\` leaves work to other processes, and there are none without a database.`,
    remedy: "Set `database.url` (DATABASE_URL), or leave the role out: then this process does everything.",
  });
}

function withoutEndpoint(): PawlError {
  return new PawlError("CONFIG_INVALID", {
    message: "RESTATE_URL is set, and Restate can call no process: other processes cannot reach a data directory.",
    remedy:
      "Set DATABASE_URL and start `pawl worker --restate`, or have this process called too: RESTATE_ENDPOINT_PORT=9080.",
  });
}

function servedByAnother(dataDir: string, url: string): PawlError {
  return new PawlError("DATA_LOCKED", {
    message: `A server takes requests for ${dataDir} already, at ${url}.`,
    remedy: "Use that server, end it first, or name another data folder with --data.",
    details: { url },
  });
}
