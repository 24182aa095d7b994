import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { HttpService } from "../../../operations/application/ports.ts";
import { type CommandParts, type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";
import { withStopSignals } from "../stop-signals.ts";

export interface ServeOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
}

/** What a server that could not start may take to lay down the runs that it has taken up. */
const LAY_DOWN_MS = 1_500;

/** `pawl serve`: takes requests and starts what triggers say, until it is told to stop. */
export async function serve({ app, voice }: CommandParts, options: ServeOptions): Promise<number> {
  return withStopSignals(async ({ stop, force }) => {
    const { host, port, endpoint } = options;
    if (endpoint !== undefined && app.config.settings.restate.url === undefined)
      throw new PawlError("CONFIG_INVALID", {
        message: "--restate waits for the calls of a Restate server, and none is named.",
        remedy: "Set RESTATE_URL to its ingress, such as http://localhost:8080.",
      });
    const clock = app.startClock();
    let service: HttpService | undefined;
    try {
      const log = (line: string) => voice.say(line);
      service = await clock.race(app.listen({ host, port, log, isTerminal: io().stderr.isTTY === true }));
      if (formatOf(options) === "text") describeService(service);
      else printEnvelope({ url: service.url, pid: process.pid, routes: service.routes, triggers: service.triggers });
      await clock.race(app.becomeReady(stop));
    } catch (error) {
      const now = AbortSignal.abort();
      // Runs that it has taken up are to be found parked, not cut off.
      const laidDown = Promise.allSettled([service?.stop(now), service && app.park(now)]);
      await Promise.race([laidDown, setTimeout(LAY_DOWN_MS, undefined, { ref: false })]);
      throw error;
    } finally {
      clock.stop();
    }
    if (!stop.aborted) await once(stop, "abort");
    tell("Stopping: runs under way are parked and go on with the next start. (Ctrl-C again to quit now)");
    await service.stop(force);
    await app.park(force);
    return 0;
  });
}

/** Where it listens, and what starts workflows there. */
export function describeService({ url, routes, triggers }: HttpService): void {
  print(`Pawl listens on ${url}`);
  tell(`In a browser: ${url}/ui/`);
  const width = Math.max(0, ...routes.map(({ method }) => method.length));
  for (const { method, path, workflow } of routes) print(`  ${method.padEnd(width)} ${path} -> ${workflow}`);
  for (const trigger of triggers) print(`  ${trigger}`);
}
