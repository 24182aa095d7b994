import { type FSWatcher, watch } from "node:fs";
import { join, resolve } from "node:path";
import type { HttpService, OpenApplication } from "../../../operations/application/ports.ts";
import type { CommonOptions } from "../cli-context.ts";
import { print, tell } from "../print.ts";
import { io } from "../process-io.ts";
import { reportError } from "../report-error.ts";
import type { LocalRestate } from "../restate/local-restate.ts";
import { listenForStop, type StopSignals } from "../stop-signals.ts";
import { Voice } from "../voice.ts";
import { describeService, type ServeOptions } from "./serve.ts";

export interface DevOptions extends ServeOptions {
  readonly restate?: true;
}

type Open = (voice: Voice, given?: Pick<CommonOptions, "drivenBy" | "endpoint">) => Promise<OpenApplication>;

/** Read when an application is opened; definitions are read again by the server itself. */
const SETTINGS = new Set(["pawl.yaml", ".env", ".mcp.json"]);
/** How soon a Restate server that has ended is noticed. */
const LOOK_MS = 1_000;
/** Editors write in several moves. */
const QUIET_MS = 150;
/** The same at each start: what Restate has begun to drive it goes on with there. */
const ENDPOINT_PORT = 9080;

/**
 * `pawl dev`: a server that begins anew when the settings change, and keeps its runs. Settings that are broken are shown, and
 * the server goes on with those before.
 */
export async function dev(openPlain: Open, options: DevOptions): Promise<number> {
  const signals = listenForStop();
  const restate = options.restate === true ? new RestateBeside(openPlain) : undefined;
  const open = restate?.open ?? openPlain;
  const voice = new Voice();
  const changes = new SettingsWatch(resolve(options.app));
  let port = options.port;
  try {
    for (let app: OpenApplication | undefined; !signals.stop.aborted; ) {
      app ??= await openOrWait(open, { voice, changes, signals, options });
      if (app === undefined) break;
      const service = await listen(app, { ...options, port }, voice);
      port = Number(new URL(service.url).port);
      describeService(service);
      print(`  ${service.url}/openapi.json describes the routes of the service`);
      tell(
        "Definitions and settings are read again when they change. Ctrl-C ends the server; its runs go on with the next one.",
      );
      const next = await nextSettings(open, { voice, changes, signals, options });
      tell(next === undefined ? "Stopping. (Ctrl-C again to quit now)" : "The settings have changed: restarting.");
      await service.stop(signals.force);
      await app.park(signals.force);
      await app.close();
      app = next;
    }
    return 0;
  } finally {
    changes.close();
    signals.close();
    await restate?.stop();
  }
}

/** Opens applications whose runs a Restate server of their data folder drives: the same one, however often the settings change. */
class RestateBeside {
  readonly #openPlain: Open;
  #server: LocalRestate | undefined;
  #watching: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;

  constructor(openPlain: Open) {
    this.#openPlain = openPlain;
  }

  readonly open: Open = async (voice) => {
    const plain = await this.#openPlain(voice);
    const { dataDir } = plain;
    const { endpoint_host: host, endpoint_port: port = ENDPOINT_PORT } = plain.config.settings.restate;
    await plain.close();
    const folder = join(dataDir, "restate");
    this.#server ??= await this.#start(folder);
    this.#watching ??= setInterval(() => this.#look(folder), LOOK_MS).unref();
    return this.#openPlain(voice, { drivenBy: this.#server, endpoint: { host, port } });
  };

  async #start(folder: string): Promise<LocalRestate> {
    const { LocalRestate: Server } = await import("../restate/local-restate.ts");
    const server = await Server.start(folder);
    tell(`Restate drives the runs. Its own pages: ${server.adminUrl}/ui/`);
    return server;
  }

  /** A server that has ended by itself is started again: nothing else drives the runs. */
  #look(folder: string): void {
    if (this.#starting !== undefined || this.#server?.isAlive !== false) return;
    tell("The Restate server has ended. It is started again.");
    this.#starting = this.#startAgain(folder).finally(() => {
      this.#starting = undefined;
    });
  }

  async #startAgain(folder: string): Promise<void> {
    try {
      this.#server = await this.#start(folder);
    } catch (error) {
      reportError(error, "text");
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#watching);
    await this.#starting;
    await this.#server?.stop();
  }
}

interface Surroundings {
  readonly voice: Voice;
  readonly changes: SettingsWatch;
  readonly signals: StopSignals;
  readonly options: CommonOptions;
}

async function listen(app: OpenApplication, { host, port }: ServeOptions, voice: Voice): Promise<HttpService> {
  try {
    return await app.listen({
      host,
      port,
      log: (line) => voice.say(app.mask(line)),
      isTerminal: io().stderr.isTTY === true,
    });
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Undefined: it is to stop. */
async function openOrWait(open: Open, surroundings: Surroundings): Promise<OpenApplication | undefined> {
  return (await tryToOpen(open, surroundings)) ?? nextSettings(open, surroundings);
}

/** The application with settings that have changed and can be used. Undefined: it is to stop. */
async function nextSettings(open: Open, surroundings: Surroundings): Promise<OpenApplication | undefined> {
  const { changes, signals } = surroundings;
  for (;;) {
    await changes.next(signals.stop);
    if (signals.stop.aborted) return undefined;
    const app = await tryToOpen(open, surroundings);
    if (app !== undefined) return app;
  }
}

async function tryToOpen(open: Open, { voice }: Surroundings): Promise<OpenApplication | undefined> {
  try {
    return await open(voice);
  } catch (error) {
    reportError(error, "text");
    tell("Fix it: it is read again at once.");
    return undefined;
  }
}

class SettingsWatch {
  readonly #watcher: FSWatcher;
  #heard: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isChanged = false;

  constructor(appDir: string) {
    this.#watcher = watch(appDir, (_, file) => {
      if (file !== null && !SETTINGS.has(file)) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#notice(), QUIET_MS);
    });
  }

  /** Resolves at once where there was a change since it has resolved. */
  next(stop: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = resolve;
      if (stop.aborted) resolve();
      if (this.#isChanged) this.#notice();
      stop.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #notice(): void {
    this.#isChanged = this.#heard === undefined;
    this.#heard?.();
    this.#heard = undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watcher.close();
  }
}
