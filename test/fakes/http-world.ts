import type { Hono } from "hono";
import { onTestFinished } from "vitest";
import { createPageLogins } from "../../src/app/mcp/page-logins.ts";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import { composeHttpParts } from "../../src/app/server/compose-http-parts.ts";
import { createMask } from "../../src/config/create-mask.ts";
import type { Config } from "../../src/config/load-config.ts";
import { DEFAULTS, type Settings } from "../../src/config/settings.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import { EVERYTHING } from "../../src/core/trust/grant.ts";
import { createPromptRenderer } from "../../src/executors/llm/prompt/prompt-renderer.ts";
import { createModelPrices } from "../../src/executors/models/create-model-prices.ts";
import type { RunHost } from "../../src/hosts/run-host.ts";
import type { AppHost, Ports, ServiceRecords, WantedFile } from "../../src/operations/application/ports.ts";
import type { RegisteredDefinition } from "../../src/operations/definitions/registry.ts";
import { EventFeed } from "../../src/operations/events/event-feed.ts";
import { RunObservers } from "../../src/operations/events/run-observers.ts";
import { RequestRunner } from "../../src/operations/start/request-runner.ts";
import { TriggerTables } from "../../src/operations/triggers/trigger-tables.ts";
import type { Metrics } from "../../src/ports/metrics.ts";
import type { TerminalViews } from "../../src/ports/terminals/terminal-views.ts";
import type { ToolServerState } from "../../src/ports/tools/agent-toolbox.ts";
import { NO_BUDGETS } from "../../src/ports/waits.ts";
import { FileSealer } from "../../src/storage/files/file-sealer.ts";
import { createHttpApp } from "../../src/surfaces/http/create-http-app.ts";
import { Gatekeeper } from "../../src/surfaces/http/gatekeeper.ts";
import type { HttpEnv, HttpParts, RequestEntry } from "../../src/surfaces/http/http-parts.ts";
import { LOOPBACK_HOSTS } from "../../src/surfaces/http/middleware.ts";
import { OpenStreams } from "../../src/surfaces/http/open-streams.ts";
import { loadEndpoints } from "../../src/surfaces/http/service/endpoints.ts";
import { World, type WorldOptions } from "../faults/world.ts";

const ENDPOINTS = await loadEndpoints();

export interface HttpWorldOptions extends WorldOptions {
  readonly server?: Partial<Settings["server"]>;
  readonly quotas?: Partial<Settings["quotas"]>;
  readonly uhlp?: Partial<Settings["uhlp"]>;
  readonly agent?: Partial<Settings["agent"]>;
  readonly webhook?: Partial<Settings["webhook"]>;
  readonly notify?: Settings["notify"];
  readonly metrics?: Metrics;
  readonly telemetry?: Partial<Settings["telemetry"]>;
  readonly metricsAccess?: Settings["metrics"]["access"];
  /** Variables of the environment, whose values count as secrets. */
  readonly env?: Readonly<Record<string, string>>;
  readonly models?: Partial<Settings["models"]>;
  readonly capacity?: Partial<Settings["capacity"]>;
  readonly keep?: Settings["data"]["keep"];
  /** What an endpoint answers for a path. */
  readonly remote?: (wanted: WantedFile) => Promise<string>;
  /** Records that others use too. Absent: its own, in memory. */
  readonly service?: ServiceRecords;
  /** What is known of MCP servers. */
  readonly toolServers?: readonly ToolServerState[];
  /** Begins the login of a page to an MCP server. */
  readonly beginLogin?: Parameters<typeof createPageLogins>[0];
  /** Absent: there are none. */
  readonly terminals?: TerminalViews;
  readonly terminal?: Settings["terminal"];
}

function openOwnRecords(): ServiceRecords {
  const records = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => records.close());
  return records;
}

/** The HTTP surface over a host in memory, with workflows that are graphs already. */
export class HttpWorld {
  readonly world: World;
  readonly http: Hono<HttpEnv>;
  readonly parts: HttpParts;
  readonly runner: RequestRunner;
  readonly logged: RequestEntry[] = [];
  readonly defects: unknown[] = [];
  readonly streams = new OpenStreams();
  readonly feed: EventFeed;
  readonly observers: RunObservers;

  constructor(graphs: readonly Graph[], options: HttpWorldOptions = {}) {
    this.observers = new RunObservers((error) => this.defects.push(error));
    if (options.metrics !== undefined) this.observers.add(options.metrics);
    const service = options.service ?? openOwnRecords();
    const openBudgets = async () => service.budgets;
    const publishedEvents = async () => service.events;
    const host = { observer: this.observers, openBudgets, publishedEvents, ...options.host };
    this.world = new World({ ...options, host });
    const definitions = graphs.map(toRegistered);
    const app = toApplication(this.world, definitions, { ...options, service });
    this.feed = new EventFeed({
      records: () => app.records(),
      secrets: () => app.secrets(),
      onDefect: (error) => this.defects.push(error),
    });
    this.observers.add(this.feed);
    this.runner = new RequestRunner(this.world.host, { maxInFlight: app.config.settings.server.max_in_flight });
    const tables = new TriggerTables(app);
    const { parts, mcp } = composeHttpParts({
      app,
      runner: this.runner,
      feed: this.feed,
      streams: this.streams,
      metrics: options.metrics,
      version: "0.0.0",
      gate: new Gatekeeper(app, { isLoopback: true }),
      isLoopback: true,
      hosts: LOOPBACK_HOSTS,
      triggers: (tenantId) => tables.find(tenantId),
      logRequest: (entry) => {
        this.logged.push(entry);
        options.metrics?.countRequest(entry);
      },
      log: (level, line) => {
        if (level === "error") this.defects.push(line);
      },
      onDefect: (error) => this.defects.push(error),
    });
    this.parts = parts;
    onTestFinished(() => mcp.close(AbortSignal.abort()));
    this.http = createHttpApp(this.parts, ENDPOINTS);
    onTestFinished(() => this.streams.stop());
    onTestFinished(() => this.runner.stop(0, AbortSignal.abort()));
  }

  async request(path: string, init?: RequestInit): Promise<Response> {
    // What is sent is JSON unless a test says otherwise.
    const headers = new Headers(init?.headers);
    if (typeof init?.body === "string" && !headers.has("content-type")) headers.set("content-type", "application/json");
    return this.http.request(path, { ...init, headers });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.request(path, {
      method: "POST",
      body: text,
      headers: { "content-type": "application/json", ...headers },
    });
  }
}

/** The host of this process, as an application hands it out. */
function toAppHost(host: RunHost): AppHost {
  return new Proxy(host, {
    get: (target, name) => {
      if (name === "role") return "owner";
      if (name === "ownerPid") return process.pid;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as AppHost;
}

const APP_DIR = "/nowhere/app";

function toRegistered(graph: Graph): RegisteredDefinition {
  const file = `${APP_DIR}/workflows/${graph.name}.yaml`;
  return { name: graph.name, file, report: { definition: { text: "", graph }, problems: [] } };
}

function toApplication(
  world: World,
  definitions: readonly RegisteredDefinition[],
  {
    server,
    quotas,
    uhlp,
    agent,
    models,
    capacity,
    webhook,
    notify = {},
    metricsAccess = "read",
    telemetry,
    env = {},
    remote,
    beginLogin = () => Promise.reject(new Error("There are no MCP servers.")),
    toolServers = [],
    terminals,
    terminal,
    keep = {},
    callable = {},
    service,
  }: HttpWorldOptions & { readonly service: ServiceRecords },
): Ports {
  const settings: Settings = {
    ...DEFAULTS,
    data: { ...DEFAULTS.data, keep },
    server: { ...DEFAULTS.server, ...server },
    quotas: { ...DEFAULTS.quotas, ...quotas },
    uhlp: { ...DEFAULTS.uhlp, ...uhlp },
    agent: { ...DEFAULTS.agent, ...agent },
    webhook: { ...DEFAULTS.webhook, ...webhook },
    notify,
    telemetry: { ...DEFAULTS.telemetry, ...telemetry },
    metrics: { ...DEFAULTS.metrics, access: metricsAccess },
    models: { ...DEFAULTS.models, ...models },
    capacity: { ...DEFAULTS.capacity, ...capacity },
    terminal: { ...DEFAULTS.terminal, ...terminal },
  };
  const secrets = Object.values(env);
  const config: Config = { settings, origins: new Map(), secrets, env: (name) => env[name] };
  const refuse = () => Promise.reject(new Error("Nothing asks for this here."));
  // A test may name a workflow in both.
  const known = [...Object.values(callable).map(toRegistered), ...definitions];
  const logins = createPageLogins(beginLogin, world.clock);
  return {
    appDir: APP_DIR,
    dataDir: `${APP_DIR}/.pawl`,
    config,
    clock: world.clock,
    grant: EVERYTHING,
    findExecutor: refuse,
    mask: createMask(secrets),
    records: async () => ({ journal: world.journal, blobs: world.blobs }),
    files: async () => world.files,
    artifacts: async () => world.files,
    service: async () => service,
    budgets: async () => service.budgets,
    secrets: async () => {
      const sealer = new FileSealer({ path: `${APP_DIR}/.pawl/secrets.key`, key: "a key of the test world" });
      return {
        learn: () => () => undefined,
        seal: (text) => sealer.seal(text),
        open: (text) => sealer.open(text),
        derive: (purpose) => sealer.derive(purpose),
      };
    },
    host: async () => toAppHost(world.host),
    backgroundHost: refuse,
    findOwner: async () => ({ state: "free" }),
    isDriven: async () => false,
    leftTerminals: async () => terminals,
    workflowLibrary: async () => ({ list: async () => [], load: refuse, save: refuse, noteSuccess: refuse }),
    libraryEditor: refuse,
    library: { list: () => [...new Map(known.map((each) => [each.name, each])).values()] },
    fetchDefinitionFile: remote ?? refuse,
    pageLogins: async () => logins,
    toolbox: async () => ({
      offer: refuse,
      endRun: async () => undefined,
      hold: () => {},
      states: async () => toolServers,
    }),
    hasPrice: async () => true,
    checkAgentServer: async () => undefined,
    capacity: { pools: () => [], waitsOf: () => [] },
    waits: async () => ({ ...NO_BUDGETS, capacity: [] }),
    checkSandbox: async () => ({ ok: true, detail: "There is one." }),
    dataFolder: refuse,
    copyData: refuse,
    prompts: async () => createPromptRenderer(),
    findToolProblem: async () => undefined,
    findAgentToolProblem: async () => undefined,
    prices: async () =>
      createModelPrices({
        ...settings.models,
        keys: { anthropic: "none", openai: "none", google: "none" },
        folder: APP_DIR,
        readScript: refuse,
        env: () => undefined,
      }),
  };
}
