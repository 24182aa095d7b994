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
import type { LoginVault } from "../executors/mcp-servers/login/sealed-login.ts";
import type {
  HttpService,
  ListenOptions,
  NamedServer,
  OpenApplication,
  PageLogins,
  Ports,
  ServiceRecords,
} from "../operations/application/ports.ts";
import type { CompiledTexts } from "../operations/definitions/compiled-texts.ts";
import type { DefinitionLibrary } from "../operations/definitions/definition-library.ts";
import { loadOptionsOf } from "../operations/definitions/load-options.ts";
import { RunObservers } from "../operations/events/run-observers.ts";
import { shellWord } from "../operations/shell-word.ts";
import type { StandIns } from "../ports/stand-ins.ts";
import type { StepFunctions } from "../ports/step-functions.ts";
import { readDatabaseUrl } from "../storage/postgres/database-address.ts";
import { doAll } from "./do-all.ts";
import { composeAgents } from "./executors/agents.ts";
import { composeCodeAndModels } from "./executors/code-and-models.ts";
import { createFindExecutor } from "./executors/find-executor.ts";
import { TerminalParts } from "./executors/terminal-parts.ts";
import { composeTools, type Tools } from "./executors/tools.ts";
import { once } from "./once.ts";
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
  return compose(appDir, config, { ...options, clock });
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
function compose(appDir: string, config: Config, options: AppOptions): OpenApplication {
  const { data, storage, database, capacity: pace, server } = config.settings;
  const { environment, tell, onDefect, makesNothing, programs } = options;
  const dataDir = resolve(appDir, data.dir ?? ".pawl");
  const secrets = new KnownSecrets(config.secrets);
  const { mask } = secrets;
  const { url } = database;
  const clock = options.clock ?? new SystemClock(() => hosting.offsetMs);
  const observers = new RunObservers(onDefect);
  const place = () => (url === undefined ? dataDir : `the database ${readDatabaseUrl(url).shown}`);
  const steps = new StartSteps(server.start_timeout_ms, place);
  /** Undefined: runs and records are kept in the data directory. Rejects with `CONFIG_INVALID`. */
  const sharedAt = url === undefined ? undefined : openShared(url, config);
  const shared = () => sharedAt?.();
  const parts = new OpenedParts(dataDir, {
    durability: data.durability,
    storage,
    makesNothing,
    database: shared,
    finishOutbox: async (ids) => (await hosting.open()).finishOutbox(ids),
  });
  const places = { appDir, dataDir, config };
  const others = sharedAt === undefined ? {} : otherCallers(sharedAt, onDefect);
  const capacity = new CapacityPools({ clock, limits: pace.limits, patienceMs: pace.patience_ms, ...others });
  const work = composeCodeAndModels({ ...places, capacity });
  const vaultOf = (records: () => Promise<ServiceRecords | undefined>): LoginVault => ({
    logins: async () => (await records())?.logins,
    secrets: () => app.secrets(),
  });
  const tools = composeTools({
    ...places,
    work,
    files: () => parts.files(),
    vault: vaultOf(() => parts.serviceIfThere()),
    sends: {
      event: async (...sent) => (await openSends()).event(...sent),
      start: async (...sent) => (await openSends()).start(...sent),
    },
  });
  const openSends = once(async () => (await import("./executors/step-sends.ts")).createSends(app));
  const loginPartsOf = async (server: NamedServer) => {
    const [address, outbound] = await Promise.all([tools.addressOf(server), openOutbound(config)]);
    return { address, outbound, vault: vaultOf(() => parts.service()) };
  };
  const pageLogins = once(async (): Promise<PageLogins> => {
    const [{ createPageLogins }, { beginLogin }] = await Promise.all([
      import("./mcp/page-logins.ts"),
      import("../executors/mcp-servers/login/begin-login.ts"),
    ]);
    return createPageLogins(async (server, redirectUrl) => {
      const { address, ...through } = await loginPartsOf({ server });
      return beginLogin(address, { ...through, redirectUrl });
    }, clock);
  });
  const terminals = new TerminalParts({
    ...places,
    environment,
    secrets,
    confine: (program, writable) => work.confineTerminal(program, writable),
    files: () => parts.files(),
    serveView: async (web) => {
      const { serveTerminalView } = await import("./executors/serve-terminal-view.ts");
      return serveTerminalView({ app, web, tell, onDefect });
    },
    tell,
  });
  const agents = composeAgents({
    ...places,
    mask,
    work,
    tools,
    capacity,
    stores: () => parts.stores(),
    thread: () => parts.thread,
    database: shared,
  });
  const functions = programs ?? NO_FUNCTIONS;
  const executing = { config, mask, tools, work, terminals, agents, capacity, functions, standIns: options.standIns };

  const app: OpenApplication & Held = {
    ...{ ...places, clock, grant: EVERYTHING, mask, capacity },
    findExecutor: createFindExecutor(executing),
    library: programs,
    compiledTexts: undefined,
    host: () => hosting.open(),
    backgroundHost: (use) => hosting.openInBackground(use),
    findOwner: () => hosting.findOwner(),
    isDriven: () => hosting.isDriven(),
    waits: (runs) => hosting.waits(runs),
    storageTrouble: () => hosting.storageTrouble(),
    records: () => parts.records(),
    files: () => parts.files(),
    artifacts: () => parts.files(),
    service: () => parts.service(),
    budgets: async () => (await parts.serviceIfThere())?.budgets,
    async secrets() {
      const { FileSealer } = await import("../storage/files/file-sealer.ts");
      // Processes that share a database share a key too, so none may be made in a file.
      const key = config.settings.secrets.key ?? (url === undefined ? undefined : config.settings.webhook.secret);
      const sealer = new FileSealer({ path: join(dataDir, "secrets.key"), key });
      return {
        learn: (values) => secrets.learn(values),
        seal: (text) => sealer.seal(text),
        derive: (purpose) => sealer.derive(purpose),
        open: (sealed) => sealer.open(sealed),
      };
    },
    leftTerminals: () => terminals.left(),
    prompts: () => work.prompts(),
    prices: () => work.prices(),
    toolbox: () => tools.toolbox(),
    findToolProblem: (...asked) => tools.findToolProblem(...asked),
    findAgentToolProblem: (...asked) => tools.findAgentToolProblem(...asked),
    async hasPrice(name) {
      try {
        const model = await (await work.models()).resolve(name, { folder: appDir });
        return await model.hasPrice();
      } catch (error) {
        if (isPawlError(error)) return true;
        throw error;
      }
    },
    async checkAgentServer() {
      const address = config.settings.agent.sandstorm_url;
      if (address === undefined) return undefined;
      const { checkHealth } = await import("../executors/agent/sandstorm/check-health.ts");
      return checkHealth(address, await openOutbound(config));
    },
    async dataFolder() {
      const { createDataFolder } = await import("./data-folder.ts");
      const { blobs, bucket } = await parts.stores();
      const journal = () => parts.journal();
      return createDataFolder({ dataDir, blobs, bucket, database: await shared(), journal });
    },
    async copyData(from, files) {
      const { copyData } = await import("./copy-data.ts");
      const unseal = async (sealed: string) => (await app.secrets()).open(sealed);
      const into = { dataDir, settings: config.settings, stores: () => parts.stores(), unseal };
      return copyData(into, from, files);
    },
    async checkBucket() {
      const { bucket } = await parts.stores();
      return bucket === undefined ? undefined : { place: bucket.place, trouble: await bucket.findTrouble() };
    },
    async checkRedis() {
      const link = await (await shared())?.redis();
      if (link === undefined) return undefined;
      const trouble = await link.findTrouble();
      return { trouble: trouble === undefined ? undefined : mask(trouble) };
    },
    restate() {
      const { restate } = config.settings;
      if (restate.url === undefined) return undefined;
      const care = async () => (await import("./restate/restate-care.ts")).createRestateCare(restate);
      return {
        address: restate.url,
        register: async (endpoint) => (await care()).register(endpoint),
        isRegistered: async () => (await care()).isRegistered(),
        listTroubled: async (selection) => (await care()).listTroubled(selection),
        resume: async (stopped) => (await care()).resume(stopped),
      };
    },
    requestRates: async () => (await shared())?.requestRates(),
    database() {
      if (url === undefined) return undefined;
      const care = () => import("./seat/shared-database.ts");
      return {
        look: async () => (await care()).careForDatabase(url, (looked) => looked.look()),
        migrate: async () => (await care()).careForDatabase(url, (looked) => looked.migrate()),
      };
    },
    checkSandbox: () => work.checkSandbox(),
    async fetchDefinitionFile({ endpoint, appId, path, requestId, traceId }) {
      const asked = { endpoint, context: { appId, requestId, traceId }, filePath: path };
      const { signal } = new AbortController();
      return (await (await work.endpoint()).readDefinitionFile(asked, signal)).content;
    },
    pageLogins,
    async logIn(server, wanted) {
      const { logIn } = await import("./mcp/log-in.ts");
      return logIn(await loginPartsOf(server), wanted);
    },
    async logOut(server) {
      const { SealedLogin } = await import("../executors/mcp-servers/login/sealed-login.ts");
      const { way, ...address } = await tools.addressOf(server);
      const vault = vaultOf(() => parts.serviceIfThere());
      return "url" in way && (await new SealedLogin(vault, { ...address, url: way.url }).remove());
    },
    async serveTools(wanted) {
      const { serveTools } = await import("./mcp/serve-terminals.ts");
      await serveTools(app, await tools.coreTools(), wanted);
    },
    workflowLibrary: () => terminals.library(),
    libraryEditor: () => terminals.libraryEditor(),
    async serveTerminals(wanted) {
      const { serveTerminals } = await import("./mcp/serve-terminals.ts");
      await serveTerminals({ app, library: await terminals.library() }, wanted);
    },
    async serveRuns(wanted) {
      const { serveRuns } = await import("./mcp/serve-runs.ts");
      const isShared = url !== undefined;
      await serveRuns({ app, openHost: isShared ? undefined : () => hosting.openBeside() }, wanted);
      // What it has begun is for others to go on with.
      if (isShared) await app.park(AbortSignal.abort());
    },
    async leave(stop, force) {
      await hosting.finished(stop);
      await app.park(force);
      await app.close();
    },
    serve: (stop) => hosting.idle(stop),
    park: (force, hold) => hosting.park(force, hold),
    startClock: () => steps.clock(),
    async becomeReady(stop) {
      const { findTrouble } = await import("../operations/service/check-health.ts");
      while (!stop.aborted) {
        steps.trouble = await findTrouble(app);
        if (steps.trouble === undefined) return;
        await setTimeout(LOOK_AGAIN_MS, undefined, { signal: stop }).catch(() => undefined);
      }
    },
    listen: (wanted) => listen({ app, hosting, tools, observers, steps, programs, tell, onDefect }, wanted),
    close: () =>
      doAll(
        () => terminals.finishRecordings(),
        () => hosting.close(),
        () => capacity.close(),
        () => work.close(),
        () => terminals.close(),
        () => tools.close(),
        () => agents.close(),
        () => parts.close(),
      ),
  };
  const hosting: Hosting = new Hosting({
    ...{ app, parts, terminals, capacity, secrets, observers, steps, programs, tell, onDefect },
    program: options.program,
    database: shared,
    clock: options.clock,
    between: options.standIns?.between,
  });
  return app;
}

/** What a server holds ready for requests. */
interface Held {
  library: Ports["library"];
  compiledTexts: CompiledTexts | undefined;
}

/** It is opened once, when it is first asked for. */
function openShared(url: string, config: Config): () => Promise<SharedDatabase> {
  let opened: Promise<SharedDatabase> | undefined;
  return () => {
    opened ??= import("./seat/shared-database.ts").then(({ SharedDatabase }) => new SharedDatabase(url, config));
    return opened;
  };
}

/** Processes that share a database share the places of the servers that they call. */
function otherCallers(
  shared: () => Promise<SharedDatabase>,
  onDefect: AppOptions["onDefect"],
): Pick<CapacityOptions, "others"> {
  const failed = (error: unknown) => {
    // What has failed is tried again, and runs say by themselves that nothing can be written.
    if (!isStorageFailure(error)) onDefect(error);
  };
  return { others: { shares: async () => (await shared()).poolShares(), failed } };
}

interface Listening extends Pick<AppOptions, "programs" | "tell" | "onDefect"> {
  readonly app: OpenApplication & Held;
  readonly hosting: Hosting;
  readonly tools: Tools;
  readonly observers: RunObservers;
  readonly steps: StartSteps;
}

async function listen(parts: Listening, options: ListenOptions): Promise<HttpService> {
  const { app, hosting, steps, observers, programs, tell, onDefect } = parts;
  const { appDir, dataDir, config } = app;
  const [{ DefinitionLibrary }, { CompiledTexts }, { openServer }, { whereToListen }, { createLog }] =
    await Promise.all([
      import("../operations/definitions/definition-library.ts"),
      import("../operations/definitions/compiled-texts.ts"),
      import("./server/open-server.ts"),
      import("./server/where-to-listen.ts"),
      import("../telemetry/logs/create-log.ts"),
    ]);
  // Before this process owns anything: where it may not listen, nothing of an earlier one goes on.
  const asked = options.listen === false ? Promise.resolve(undefined) : whereToListen(app, options);
  const where = await steps.step("the keys of the service", asked);
  const library = new DefinitionLibrary({ appDir, ...loadOptionsOf(config), programs });
  const firstLook = await steps.step(`the definitions of ${appDir}`, library.refresh());
  // Before runs of an earlier process go on: they may call workflows.
  app.library = library;
  app.compiledTexts = new CompiledTexts();
  const host = await hosting.openForServer();
  const { connection } = host;
  if (connection.role === "guest") {
    if (connection.url !== undefined)
      throw new PawlError("DATA_LOCKED", {
        message: `A server takes requests for ${dataDir} already, at ${connection.url}.`,
        remedy: "Use that server, end it first, or name another data folder with --data.",
        details: { url: connection.url },
      });
    tell(`Process ${connection.ownerPid} drives the runs of ${dataDir} until its own run rests. Then this one does.`);
  }
  parts.tools.holdEager().catch(onDefect);
  const announce = (url: string) => host.announce(url);
  const { level, format: wanted } = config.settings.log;
  const format = wanted !== "auto" ? wanted : options.isTerminal === true ? "pretty" : "json";
  const log = await createLog({ level, format, mask: app.mask, write: (line) => options.log(line) });
  void host.owned.then(({ seat: { loss, storage } }) => {
    if (loss !== undefined) log.write("error", `storage: DATA_LOST ${loss}`, { code: "DATA_LOST" });
    storage.start(log);
  });
  try {
    const opening = openServer({ app, host, library, firstLook, observers, log, announce, onDefect }, where);
    return await steps.step("the definitions and schedules that were saved", opening);
  } catch (error) {
    // Runs of an earlier process go on by now: the next owner is to find them parked, not cut off.
    await app.park(AbortSignal.timeout(config.settings.server.stop_grace_ms));
    throw error;
  }
}
