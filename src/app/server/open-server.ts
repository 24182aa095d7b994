import { readVersion } from "../../config/read-version.ts";
import type { Settings } from "../../config/settings.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { createSmtpMailer } from "../../executors/outbound/smtp-mailer.ts";
import { EarlyServers } from "../../operations/agents/early-servers.ts";
import type { AppHost, HttpService, Ports, ServedRoute } from "../../operations/application/ports.ts";
import { startRetention } from "../../operations/data/retention.ts";
import type { DefinitionLibrary, LibraryChange } from "../../operations/definitions/definition-library.ts";
import { DefinitionWatch } from "../../operations/definitions/watch-definitions.ts";
import { EventFeed } from "../../operations/events/event-feed.ts";
import type { RunObservers } from "../../operations/events/run-observers.ts";
import type { Quotas } from "../../operations/limits/quotas.ts";
import { RequestRunner } from "../../operations/start/request-runner.ts";
import type { TriggerTable } from "../../operations/triggers/trigger-table.ts";
import { TriggerTables } from "../../operations/triggers/trigger-tables.ts";
import { DeliveryDispatcher } from "../../operations/webhooks/delivery-dispatcher.ts";
import type { Log } from "../../ports/log.ts";
import type { Mailer } from "../../ports/mailer.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Outbound } from "../../ports/outbound.ts";
import { createHttpApp } from "../../surfaces/http/create-http-app.ts";
import { Gatekeeper } from "../../surfaces/http/gatekeeper.ts";
import type { HttpEnv, HttpParts, RequestEntry } from "../../surfaces/http/http-parts.ts";
import { LOOPBACK_HOSTS } from "../../surfaces/http/middleware.ts";
import { OpenStreams } from "../../surfaces/http/open-streams.ts";
import { loadEndpoints } from "../../surfaces/http/service/endpoints.ts";
import { RunLog } from "../../telemetry/logs/run-log.ts";
import { Scheduler } from "../../triggers/schedules/scheduler.ts";
import { openOutbound } from "../open-outbound.ts";
import { composeHttpParts, openQuotas } from "./compose-http-parts.ts";
import { type HttpListener, listenOn } from "./listen-on.ts";
import { listRoutes, listTriggers, tellMissing, tellProblems, tellUnready } from "./served-definitions.ts";
import type { ServiceMcp } from "./service-mcp.ts";
import { hasKeys, type ListenAddress } from "./where-to-listen.ts";

export interface ServerParts {
  readonly app: Ports;
  readonly host: AppHost;
  readonly library: DefinitionLibrary;
  /** The problems that were found when the library was filled. */
  readonly firstLook: LibraryChange;
  /** All who see what happens in runs. */
  readonly observers: RunObservers;
  readonly log: Log;
  /** Tells other processes where the owner listens. */
  announce(url: string): void;
  onDefect(error: unknown): void;
}

type Answer = (request: Request) => Response | Promise<Response>;

/** How long schedules that another process changes, and clocks that jump, go unnoticed. */
const TICK_MS = 1_000;

/** Loads the definitions, arms what triggers them and listens. `where` undefined: it is asked by `fetch` alone. */
export async function openServer(parts: ServerParts, where: ListenAddress | undefined): Promise<HttpService> {
  const { app, host } = parts;
  const { max_in_flight: maxInFlight } = app.config.settings.server;
  const quotas = openQuotas(app);
  const runner = new RequestRunner(host, { maxInFlight, admit: (tenant) => quotas.admitRun(tenant) });
  const server = new Server({ ...parts, quotas }, runner, await openOutbound(app.config));
  await server.openMetrics();
  tellProblems(parts.log, app.appDir, parts.firstLook);
  tellMissing(parts.log, app);
  await tellUnready(parts.log, app, parts.library);
  const { isLoopback = false } = where ?? {};
  const http = createHttpApp(server.httpParts({ version: await readVersion(), isLoopback }), await loadEndpoints());
  const listener =
    where &&
    (await listenOn((request, env) => http.fetch(request, env as HttpEnv["Bindings"]), {
      address: where.address,
      port: where.port,
      requestTimeoutMs: app.config.settings.server.request_timeout_ms,
    }));
  if (listener !== undefined) parts.announce(listener.url);
  try {
    await server.begin(listener, (request) => http.fetch(request));
  } catch (error) {
    // A port that is listened to, and slots that are looked for, would keep the process.
    await server.stop(AbortSignal.abort());
    throw error;
  }
  return server;
}

class Server implements HttpService {
  readonly #parts: ServerParts;
  readonly #runner: RequestRunner;
  readonly #log: Log;
  readonly #scheduler: Scheduler;
  readonly #watch: DefinitionWatch;
  readonly #earlyServers: EarlyServers;
  readonly #dispatcher: DeliveryDispatcher;
  readonly #streams = new OpenStreams();
  readonly #quotas: Quotas;
  readonly #feed: EventFeed;
  readonly #observing: (() => void)[];
  #metrics: Metrics | undefined;
  #mcp: ServiceMcp | undefined;
  #stopTicking: (() => void) | undefined;
  #stopRetention: (() => Promise<void>) | undefined;
  readonly #tables: TriggerTables;
  #table: TriggerTable | undefined;
  #listener: HttpListener | undefined;
  #answer: Answer | undefined;

  constructor(parts: ServerParts & { readonly quotas: Quotas }, runner: RequestRunner, outbound: Outbound) {
    const { log } = parts;
    this.#parts = parts;
    this.#runner = runner;
    this.#quotas = parts.quotas;
    this.#log = log;
    const { app, host, library, onDefect } = parts;
    this.#scheduler = new Scheduler({
      app,
      host,
      runner,
      failed: (workflow, error) => log.write("warn", `schedule: "${workflow}" was not started: ${messageOf(error)}`),
      onDefect,
    });
    this.#tables = new TriggerTables(app);
    this.#earlyServers = new EarlyServers(app);
    this.#feed = new EventFeed({ records: () => app.records(), secrets: () => app.secrets(), onDefect });
    this.#observing = [this.#feed, new RunLog(log), this.#quotas].map((observer) => parts.observers.add(observer));
    this.#dispatcher = new DeliveryDispatcher({
      app,
      outbound,
      mailer: toMailer(app.config.settings.notify),
      random: Math.random,
      log: (line) => log.write("warn", line),
      onDefect: parts.onDefect,
      isOnly: app.config.settings.database.url === undefined,
    });
    this.#watch = new DefinitionWatch({
      appDir: app.appDir,
      library,
      changed: (change) => void this.#reload(change),
      failed: parts.onDefect,
    });
  }

  get url(): string {
    return this.#listener?.url ?? "";
  }

  async fetch(request: Request): Promise<Response> {
    const { app } = this.#parts;
    if (await hasKeys(app)) return (this.#answer ?? refuseAll)(request);
    throw new PawlError("HOST_REFUSED", {
      message: "Requests that the program hands on may come from other machines, and there is no key.",
    });
  }

  get routes(): readonly ServedRoute[] {
    return listRoutes(this.#table);
  }

  get triggers(): readonly string[] {
    return listTriggers(this.#parts.library, this.#table);
  }

  async openMetrics(): Promise<void> {
    const { app, observers } = this.#parts;
    const { enabled, tenant_label: tenantLabel } = app.config.settings.metrics;
    if (!enabled) return;
    const { createServiceMetrics } = await import("../../telemetry/metrics/service-metrics.ts");
    const { describeGauges } = await import("./describe-gauges.ts");
    const gauges = describeGauges(app, {
      runner: this.#runner,
      streams: this.#streams,
      quotas: this.#quotas,
      tenantLabel,
    });
    this.#metrics = await createServiceMetrics({ tenantLabel, gauges });
    this.#observing.push(observers.add(this.#metrics));
  }

  /** Elsewhere than on loopback a key protects, and a server has names that are not ours to know. */
  httpParts({ version, isLoopback }: { readonly version: string; readonly isLoopback: boolean }): HttpParts {
    const { app, onDefect } = this.#parts;
    const { parts, mcp } = composeHttpParts({
      app,
      runner: this.#runner,
      feed: this.#feed,
      streams: this.#streams,
      quotas: this.#quotas,
      metrics: this.#metrics,
      version,
      gate: new Gatekeeper(app, { isLoopback }),
      isLoopback,
      hosts: isLoopback ? LOOPBACK_HOSTS : undefined,
      triggers: (tenantId) => this.#armed(tenantId),
      logRequest: (entry) => this.#logRequest(entry),
      log: (level, line) => this.#log.write(level, line),
      onDefect,
    });
    this.#mcp = mcp;
    return parts;
  }

  /** From now on slots are fired, edits are seen, and webhooks are delivered. */
  async begin(listener: HttpListener | undefined, answer: Answer): Promise<void> {
    this.#listener = listener;
    this.#answer = answer;
    await this.#earlyServers.update(this.#parts.library.list());
    if (this.#firesTriggers) await this.#scheduler.start(this.#parts.library.list());
    // Definitions that an older version has saved are armed first.
    await this.#armed();
    await this.#watch.start();
    if (!this.#firesTriggers) return;
    const ticking = setInterval(() => void this.#scheduler.tick().catch(this.#parts.onDefect), TICK_MS);
    ticking.unref();
    this.#stopTicking = () => clearInterval(ticking);
    this.#dispatcher.start();
    this.#stopRetention = startRetention(this.#parts.app, this.#log);
  }

  async stop(force: AbortSignal): Promise<void> {
    this.#answer = undefined;
    this.#watch.close();
    this.#stopTicking?.();
    const deleted = this.#stopRetention?.();
    const fired = this.#scheduler.stop();
    this.#streams.stop();
    const closed = this.#listener?.close();
    const { stop_grace_ms: graceMs } = this.#parts.app.config.settings.server;
    const patience = AbortSignal.any([force, AbortSignal.timeout(graceMs)]);
    const sent = this.#dispatcher.stop(patience);
    await this.#runner.stop(graceMs, force, this.#listener?.quiet());
    await this.#mcp?.close(patience);
    // The scheduler's last starts have been refused by now, since nothing is taken any more.
    await fired;
    // An answer may be another process's, which a third one takes over first.
    await this.#listener?.answered(patience);
    this.#parts.host.stopAsking?.();
    this.#listener?.hurry(force);
    await Promise.all([closed, sent, deleted]);
    for (const stop of this.#observing) stop();
  }

  /** Any number of processes may: each slot is fired once, and each delivery is one process's at a time. */
  get #firesTriggers(): boolean {
    const { role } = this.#parts.app.config.settings.server;
    return role === "all" || role === "scheduler";
  }

  async #armed(tenantId?: string): Promise<TriggerTable> {
    const table = await this.#tables.find(tenantId);
    if (tenantId !== undefined || table === this.#table) return table;
    const known = new Set(this.#table?.problems.map(({ message }) => message));
    this.#table = table;
    for (const { code, message, remedy } of table.problems) {
      if (!known.has(message)) this.#log.write("warn", `${code} ${message} ${remedy}`);
    }
    return table;
  }

  async #reload(change: LibraryChange): Promise<void> {
    tellProblems(this.#log, this.#parts.app.appDir, change);
    if (!change.hasChanged) return;
    try {
      await this.#earlyServers.update(this.#parts.library.list());
      await this.#armed();
      await tellUnready(this.#log, this.#parts.app, this.#parts.library);
      if (this.#firesTriggers) await this.#scheduler.update(this.#parts.library.list());
      this.#log.write("info", "The definitions have been read again. Runs that are under way keep theirs.");
    } catch (error) {
      this.#parts.onDefect(error);
    }
  }

  #logRequest({ method, route, status, durationMs, requestId, runId }: RequestEntry): void {
    const fields = { method, route, status, ms: durationMs, request_id: requestId, run_id: runId };
    this.#log.write("info", `${method} ${route}`, fields);
    this.#metrics?.countRequest({ method, route, status, durationMs });
  }
}

function refuseAll(): never {
  throw new PawlError("SERVER_STOPPING", { message: "This process stops. Nothing was done." });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Undefined: no server for mail is configured. */
function toMailer({ smtp_url: url, email_from: from }: Settings["notify"]): Mailer | undefined {
  if (url === undefined) return undefined;
  return createSmtpMailer({ url, from: from ?? `pawl@${URL.parse(url)?.hostname ?? "localhost"}` });
}
