import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { KnownSecrets } from "../config/known-secrets.ts";
import { type Config, type ConfigSources, loadConfig } from "../config/load-config.ts";
import { isStorageFailure } from "../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../core/errors/pawl-error.ts";
import { EVERYTHING } from "../core/trust/grant.ts";
import { didYouMean } from "../dialects/did-you-mean.ts";
import { type CapacityOptions, CapacityPools } from "../executors/capacity/capacity-pools.ts";
import type { FindExecutor } from "../hosts/executors.ts";
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
  StartClock,
  WantedFile,
} from "../operations/application/ports.ts";
import type { CompiledTexts } from "../operations/definitions/compiled-texts.ts";
import type { DefinitionLibrary } from "../operations/definitions/definition-library.ts";
import { loadOptionsOf } from "../operations/definitions/load-options.ts";
import { TextFileCache } from "../operations/definitions/read-text-file.ts";
import { RunObservers } from "../operations/events/run-observers.ts";
import { shellWord } from "../operations/shell-word.ts";
import type { DatabaseCare } from "../ports/database-care.ts";
import type { FileStorage } from "../ports/file-storage.ts";
import type { ModelPrices } from "../ports/model-prices.ts";
import type { PromptRenderer } from "../ports/prompt-renderer.ts";
import type { RequestRates } from "../ports/request-rates.ts";
import type { RestateCare } from "../ports/restate-care.ts";
import type { RunSecrets } from "../ports/run-secrets.ts";
import type { Budgets } from "../ports/service/budgets.ts";
import type { StandIns } from "../ports/stand-ins.ts";
import type { StepFunctions } from "../ports/step-functions.ts";
import type { TerminalViews } from "../ports/terminals/terminal-views.ts";
import type { LibraryEditor, WorkflowLibrary } from "../ports/terminals/workflow-library.ts";
import type { AgentToolbox } from "../ports/tools/agent-toolbox.ts";
import type { Waits } from "../ports/waits.ts";
import { readDatabaseUrl } from "../storage/postgres/database-address.ts";
import { doAll } from "./do-all.ts";
import { type Agents, composeAgents } from "./executors/agents.ts";
import { type CodeAndModels, composeCodeAndModels } from "./executors/code-and-models.ts";
import { createFindExecutor } from "./executors/find-executor.ts";
import { TerminalParts } from "./executors/terminal-parts.ts";
import { composeTools, type Tools } from "./executors/tools.ts";
import { openOutbound } from "./open-outbound.ts";
import { OpenedParts } from "./opened-parts.ts";
import { Hosting } from "./owner/hosting.ts";
import type { SharedDatabase } from "./seat/shared-database.ts";
import { StartSteps } from "./start-steps.ts";
import { SystemClock } from "./system-clock.ts";

export interface AppOptions {
  readonly appDir: string;
  readonly flags: ConfigSources["flags"];
  readonly environment: ConfigSources["environment"];
  /** For a command that only looks: records that are not there are not made. */
  readonly makesNothing?: true | undefined;
  /** How this program was started, to start it again in the background. */
  readonly program: readonly string[];
  /** Of a test of a workflow. */
  readonly standIns?: StandIns | undefined;
  /** Of a test, which moves it. Default: that of this machine, or of the database. */
  readonly clock?: SystemClock | undefined;
  /** What the program that embeds this has: workflows by name, and functions of their steps. */
  readonly programs?: StepFunctions & Pick<DefinitionLibrary, "list">;
  /** For a person beside the command's own result. */
  tell(line: string): void;
  onDefect(error: unknown): void;
}

/** The steps of other programs' functions wait for these programs. */
const NO_FUNCTIONS: StepFunctions = {
  find: () => undefined,
  versionOf: () => undefined,
  changed: () => new Promise(() => undefined),
};

/** How soon a server that is not ready looks again. */
const LOOK_AGAIN_MS = 500;

/** Puts every part together; nothing is opened before it is needed. Throws `CONFIG_INVALID`, `FILE_NOT_FOUND` where there is no such folder. */
export async function createApp(options: AppOptions): Promise<OpenApplication> {
  const appDir = resolve(options.appDir);
  if (!isFolder(appDir)) throw noApplication(appDir);
  const loaded = await loadConfig({ appDir, flags: options.flags, environment: options.environment });
  const clock = options.clock ?? (options.standIns && new SystemClock());
  const config = clock === undefined ? loaded : withoutOthers(loaded, options);
  const dataDir = resolve(appDir, config.settings.data.dir ?? ".pawl");
  refuseFile(dataDir, config);
  return new App(appDir, config, { ...options, clock });
}

/** The world of a test is its own: what other processes share it has only where its program names it. */
function withoutOthers(config: Config, { flags }: Pick<AppOptions, "flags">): Config {
  const { database, redis, restate, storage } = config.settings;
  const settings = {
    ...config.settings,
    database: { ...database, url: Object.hasOwn(flags, "database.url") ? database.url : undefined },
    redis: { ...redis, url: undefined },
    restate: { ...restate, url: undefined, admin_url: undefined },
    storage: { ...storage, backend: "local" as const },
  };
  return { ...config, settings };
}

/** A file that stands in the way of the data folder is no trouble of the disk. */
function refuseFile(dataDir: string, { origins }: Config): void {
  let path = dataDir;
  while (statSync(path, { throwIfNoEntry: false }) === undefined && path !== dirname(path)) path = dirname(path);
  if (isFolder(path)) return;
  throw new PawlError("CONFIG_INVALID", {
    message: `data.dir (${origins.get("data.dir") ?? "default"}): ${path} is a file, and runs are kept in a folder.`,
    remedy: "Name a folder: --data DIR.",
  });
}

/** A folder that is made for a name that was mistyped hides the runs of the right one. */
function noApplication(appDir: string): PawlError {
  const around = dirname(appDir);
  const folders = isFolder(around) ? readdirSync(around).filter((name) => isFolder(join(around, name))) : [];
  const meant = didYouMean(basename(appDir), folders);
  const likely = meant === undefined ? "" : `Did you mean --app ${shellWord(join(around, meant))}? `;
  return new PawlError("FILE_NOT_FOUND", {
    message: `There is no application folder ${appDir}.`,
    remedy: `${likely}Make one with \`pawl init\`.`,
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The only place that knows every part. Modules are loaded when they are needed: that is most of what a command costs. */
class App implements OpenApplication {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  /** That of the database, once it is known. */
  readonly clock: SystemClock;
  readonly grant = EVERYTHING;
  readonly findExecutor: FindExecutor;
  readonly capacity: CapacityPools;
  readonly mask: (text: string) => string;
  library: Pick<DefinitionLibrary, "list"> | undefined;
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
  readonly #hosting: Hosting;
  readonly #steps: StartSteps;
  #shared: Promise<SharedDatabase> | undefined;

  constructor(appDir: string, config: Config, options: AppOptions) {
    this.appDir = appDir;
    this.config = config;
    this.dataDir = resolve(appDir, config.settings.data.dir ?? ".pawl");
    this.#secrets = new KnownSecrets(config.secrets);
    this.mask = this.#secrets.mask;
    this.#options = options;
    this.clock = options.clock ?? new SystemClock(() => this.#hosting.offsetMs);
    this.#observers = new RunObservers(options.onDefect);
    const { url } = config.settings.database;
    const place = () => (url === undefined ? this.dataDir : `the database ${readDatabaseUrl(url).shown}`);
    this.#steps = new StartSteps(config.settings.server.start_timeout_ms, place);
    this.library = options.programs;
    const { data, storage } = config.settings;
    const { makesNothing } = options;
    const database = () => this.#database();
    this.#parts = new OpenedParts(this.dataDir, {
      durability: data.durability,
      storage,
      makesNothing,
      database,
      finishOutbox: async (ids) => (await this.#hosting.open()).finishOutbox(ids),
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
      functions: options.programs ?? NO_FUNCTIONS,
      standIns: options.standIns,
    });
    this.#hosting = new Hosting({
      app: this,
      parts: this.#parts,
      terminals: this.#terminals,
      capacity: this.capacity,
      secrets: this.#secrets,
      observers: this.#observers,
      steps: this.#steps,
      program: options.program,
      database,
      programs: options.programs,
      clock: options.clock,
      tell,
      onDefect: options.onDefect,
    });
  }

  host(): Promise<AppHost> {
    return this.#hosting.open();
  }

  backgroundHost(use?: { readonly onlyStarts?: boolean }): Promise<AppHost> {
    return this.#hosting.openInBackground(use);
  }

  findOwner(): Promise<Owner> {
    return this.#hosting.findOwner();
  }

  isDriven(): Promise<boolean> {
    return this.#hosting.isDriven();
  }

  waits(runs: readonly string[]): Promise<Waits> {
    return this.#hosting.waits(runs);
  }

  storageTrouble() {
    return this.#hosting.storageTrouble();
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

  findAgentToolProblem(...asked: Parameters<OpenApplication["findAgentToolProblem"]>) {
    return this.#tools.findAgentToolProblem(...asked);
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
    await serveRuns({ app: this, openHost: isShared ? undefined : () => this.#hosting.openBeside() }, options);
    // What it has begun is for others to go on with.
    if (isShared) await this.park(AbortSignal.abort());
  }

  async leave(stop: AbortSignal, force: AbortSignal): Promise<void> {
    await this.#hosting.finished(stop);
    await this.park(force);
    await this.close();
  }

  serve(stop: AbortSignal): Promise<void> {
    return this.#hosting.idle(stop);
  }

  park(force: AbortSignal, hold?: string): Promise<void> {
    return this.#hosting.park(force, hold);
  }

  startClock(): StartClock {
    return this.#steps.clock();
  }

  async becomeReady(stop: AbortSignal): Promise<void> {
    const { findTrouble } = await import("../operations/service/check-health.ts");
    while (!stop.aborted) {
      this.#steps.trouble = await findTrouble(this);
      if (this.#steps.trouble === undefined) return;
      await setTimeout(LOOK_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
    }
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
    const asked = options.listen === false ? Promise.resolve(undefined) : whereToListen(this, options);
    const where = await this.#steps.step("the keys of the service", asked);
    const { programs } = this.#options;
    const library = new DefinitionLibrary({ appDir: this.appDir, ...loadOptionsOf(this.config), programs });
    const firstLook = await this.#steps.step(`the definitions of ${this.appDir}`, library.refresh());
    // Before runs of an earlier process go on: they may call workflows.
    this.library = library;
    this.compiledTexts = new CompiledTexts();
    const host = await this.#hosting.openForServer();
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
      const parts = { app: this, host, library, firstLook, observers, log, announce, onDefect };
      return await this.#steps.step("the definitions and schedules that were saved", openServer(parts, where));
    } catch (error) {
      // Runs of an earlier process go on by now: the next owner is to find them parked, not cut off.
      await this.park(AbortSignal.timeout(this.config.settings.server.stop_grace_ms));
      throw error;
    }
  }

  async close(): Promise<void> {
    await doAll(
      () => this.#terminals.finishRecordings(),
      () => this.#hosting.close(),
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
}

function servedByAnother(dataDir: string, url: string): PawlError {
  return new PawlError("DATA_LOCKED", {
    message: `A server takes requests for ${dataDir} already, at ${url}.`,
    remedy: "Use that server, end it first, or name another data folder with --data.",
    details: { url },
  });
}
