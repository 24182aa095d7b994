import { readVersion } from "../../config/read-version.ts";
import type { Settings } from "../../config/settings.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { createSmtpMailer } from "../../executors/outbound/smtp-mailer.ts";
import { EarlyServers } from "../../operations/agents/early-servers.ts";
import type { AppHost, HttpService, Ports } from "../../operations/application/ports.ts";
import { startRetention } from "../../operations/data/retention.ts";
import type { DefinitionLibrary, LibraryChange } from "../../operations/definitions/definition-library.ts";
import { DefinitionWatch } from "../../operations/definitions/watch-definitions.ts";
import { EventFeed } from "../../operations/events/event-feed.ts";
import type { RunObservers } from "../../operations/events/run-observers.ts";
import type { Quotas } from "../../operations/limits/quotas.ts";
import { RequestRunner } from "../../operations/start/request-runner.ts";
import { settleEvents } from "../../operations/triggers/publish-event.ts";
import type { TriggerTable } from "../../operations/triggers/trigger-table.ts";
import { TriggerTables } from "../../operations/triggers/trigger-tables.ts";
import { DeliveryDispatcher } from "../../operations/webhooks/delivery-dispatcher.ts";
import type { Log } from "../../ports/log.ts";
import type { Mailer } from "../../ports/mailer.ts";
import type { Metrics } from "../../ports/metrics.ts";
import { createHttpApp } from "../../surfaces/http/create-http-app.ts";
import { Gatekeeper } from "../../surfaces/http/gatekeeper.ts";
import type { HttpEnv } from "../../surfaces/http/http-parts.ts";
import { LOOPBACK_HOSTS } from "../../surfaces/http/middleware.ts";
import { OpenStreams } from "../../surfaces/http/open-streams.ts";
import { loadEndpoints } from "../../surfaces/http/service/endpoints.ts";
import { RunLog } from "../../telemetry/logs/run-log.ts";
import { Scheduler } from "../../triggers/schedules/scheduler.ts";
import { openOutbound } from "../open-outbound.ts";
import { composeHttpParts, openQuotas } from "./compose-http-parts.ts";
import { listenOn } from "./listen-on.ts";
import { listRoutes, listTriggers, tellMissing, tellProblems, tellUnready } from "./served-definitions.ts";
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

/** How long schedules that another process changes, and clocks that jump, go unnoticed. */
const TICK_MS = 1_000;
/** How long an event may wait whose process has died while it gave it. */
const SETTLE_EVERY_MS = 5_000;

/** Loads the definitions, arms what triggers them and listens. `where` undefined: it is asked by `fetch` alone. */
export async function openServer(parts: ServerParts, where: ListenAddress | undefined): Promise<HttpService> {
  const { app, host, library, observers, log, onDefect } = parts;
  const { settings } = app.config;
  const { max_in_flight: maxInFlight, role, stop_grace_ms: graceMs } = settings.server;
  /** Any number of processes may: each slot is fired once, and each delivery is one process's at a time. */
  const firesTriggers = role === "all" || role === "scheduler";
  const quotas = openQuotas(app);
  const runner = new RequestRunner(host, { maxInFlight, admit: (tenant) => quotas.admitRun(tenant) });
  const outbound = await openOutbound(app.config);
  const scheduler = new Scheduler({
    ...{ app, host, runner, onDefect },
    failed: (workflow, error) => log.write("warn", `schedule: "${workflow}" was not started: ${messageOf(error)}`),
  });
  const tables = new TriggerTables(app);
  const earlyServers = new EarlyServers(app);
  const streams = new OpenStreams();
  const feed = new EventFeed({ records: () => app.records(), secrets: () => app.secrets(), onDefect });
  const observing = [feed, new RunLog(log), quotas].map((observer) => observers.add(observer));
  const dispatcher = new DeliveryDispatcher({
    ...{ app, outbound, onDefect },
    mailer: toMailer(settings.notify),
    random: Math.random,
    log: (line) => log.write("warn", line),
    isOnly: settings.database.url === undefined,
  });
  const metrics = await openMetrics(app, { runner, streams, quotas });
  if (metrics !== undefined) observing.push(observers.add(metrics));

  let table: TriggerTable | undefined;
  const armed = async (tenantId?: string): Promise<TriggerTable> => {
    const found = await tables.find(tenantId);
    if (tenantId !== undefined || found === table) return found;
    const known = new Set(table?.problems.map(({ message }) => message));
    table = found;
    for (const { code, message, remedy } of found.problems)
      if (!known.has(message)) log.write("warn", `${code} ${message} ${remedy}`);
    return found;
  };
  const reload = async (change: LibraryChange): Promise<void> => {
    tellProblems(log, app.appDir, change);
    if (!change.hasChanged) return;
    try {
      await earlyServers.update(library.list());
      await armed();
      await tellUnready(log, app, library);
      if (firesTriggers) await scheduler.update(library.list());
      log.write("info", "The definitions have been read again. Runs that are under way keep theirs.");
    } catch (error) {
      onDefect(error);
    }
  };
  const { appDir } = app;
  const changed = (change: LibraryChange) => void reload(change);
  const watch = new DefinitionWatch({ appDir, library, changed, failed: onDefect });

  tellProblems(log, appDir, parts.firstLook);
  tellMissing(log, app);
  await tellUnready(log, app, library);
  // Elsewhere than on loopback a key protects, and a server has names that are not ours to know.
  const { isLoopback = false } = where ?? {};
  const composed = composeHttpParts({
    ...{ app, runner, feed, streams, quotas, metrics, isLoopback, onDefect },
    version: await readVersion(),
    gate: new Gatekeeper(app, { isLoopback }),
    hosts: isLoopback ? LOOPBACK_HOSTS : undefined,
    triggers: armed,
    logRequest({ method, route, status, durationMs, requestId, runId }) {
      const fields = { method, route, status, ms: durationMs, request_id: requestId, run_id: runId };
      log.write("info", `${method} ${route}`, fields);
      metrics?.countRequest({ method, route, status, durationMs });
    },
    log: (level, line) => log.write(level, line),
  });
  const http = createHttpApp(composed.parts, await loadEndpoints());
  const listener =
    where &&
    (await listenOn((request, env) => http.fetch(request, env as HttpEnv["Bindings"]), {
      address: where.address,
      port: where.port,
      requestTimeoutMs: settings.server.request_timeout_ms,
    }));
  if (listener !== undefined) parts.announce(listener.url);

  let isStopping = false;
  let ticking: NodeJS.Timeout | undefined;
  let settling: NodeJS.Timeout | undefined;
  /** The storage, or the process that drives a run, may be away for the moment. */
  const settle = () =>
    settleEvents(app).catch((error: unknown) =>
      isPawlError(error) ? log.write("warn", `events: ${error.code} ${error.message}`) : onDefect(error),
    );
  let stopRetention: (() => Promise<void>) | undefined;
  /** From now on slots are fired, edits are seen, and webhooks are delivered. */
  const begin = async (): Promise<void> => {
    await earlyServers.update(library.list());
    if (firesTriggers) await scheduler.start(library.list());
    // Definitions that an older version has saved are armed first.
    await armed();
    await watch.start();
    if (!firesTriggers) return;
    ticking = setInterval(() => void scheduler.tick().catch(onDefect), TICK_MS).unref();
    settling = setInterval(() => void settle(), SETTLE_EVERY_MS).unref();
    void settle();
    dispatcher.start();
    stopRetention = startRetention(app, log);
  };
  const stop = async (force: AbortSignal): Promise<void> => {
    isStopping = true;
    watch.close();
    clearInterval(ticking);
    clearInterval(settling);
    const deleted = stopRetention?.();
    const fired = scheduler.stop();
    streams.stop();
    const closed = listener?.close();
    const patience = AbortSignal.any([force, AbortSignal.timeout(graceMs)]);
    const sent = dispatcher.stop(patience);
    await runner.stop(graceMs, force, listener?.quiet());
    await composed.mcp?.close(patience);
    // The scheduler's last starts have been refused by now, since nothing is taken any more.
    await fired;
    // An answer may be another process's, which a third one takes over first.
    await listener?.answered(patience);
    host.stopAsking?.();
    listener?.hurry(force);
    await Promise.all([closed, sent, deleted]);
    for (const end of observing) end();
  };
  try {
    await begin();
  } catch (error) {
    // A port that is listened to, and slots that are looked for, would keep the process.
    await stop(AbortSignal.abort());
    throw error;
  }
  return {
    url: listener?.url ?? "",
    get routes() {
      return listRoutes(table);
    },
    get triggers() {
      return listTriggers(library, table);
    },
    async fetch(request) {
      if (!(await hasKeys(app))) throw new PawlError("HOST_REFUSED", { message: NO_KEY });
      if (isStopping) throw new PawlError("SERVER_STOPPING", { message: "This process stops. Nothing was done." });
      return http.fetch(request);
    },
    stop,
  };
}

const NO_KEY = "Requests that the program hands on may come from other machines, and there is no key.";

/** Undefined: nobody wants any. */
async function openMetrics(
  app: Ports,
  counted: { readonly runner: RequestRunner; readonly streams: OpenStreams; readonly quotas: Quotas },
): Promise<Metrics | undefined> {
  const { enabled, tenant_label: tenantLabel } = app.config.settings.metrics;
  if (!enabled) return undefined;
  const { createServiceMetrics } = await import("../../telemetry/metrics/service-metrics.ts");
  const { describeGauges } = await import("./describe-gauges.ts");
  return createServiceMetrics({ tenantLabel, gauges: describeGauges(app, { ...counted, tenantLabel }) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Undefined: no server for mail is configured. */
function toMailer({ smtp_url: url, email_from: from }: Settings["notify"]): Mailer | undefined {
  if (url === undefined) return undefined;
  return createSmtpMailer({ url, from: from ?? `pawl@${URL.parse(url)?.hostname ?? "localhost"}` });
}
