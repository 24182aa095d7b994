import { resolve } from "node:path";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../operations/application/ports.ts";
import { type CommonOptions, formatOf, type OpenApp } from "./cli-context.ts";
import { tellDefect } from "./print.ts";
import { io } from "./process-io.ts";
import { reportError } from "./report-error.ts";
import { Voice } from "./voice.ts";

const CLOSE_MS = 2_000;

/** Runs one command with an application, closes that whatever happens, and returns the exit code. */
export async function withApp(
  openApp: OpenApp,
  options: CommonOptions,
  command: (app: OpenApplication, voice: Voice) => Promise<number>,
): Promise<number> {
  const voice = new Voice();
  let app: OpenApplication | undefined;
  let failure: unknown;
  let leaving: NodeJS.Timeout | undefined;
  try {
    app = await openApp(toOpenOptions(options, voice));
    return await command(app, voice);
  } catch (error) {
    failure = error;
    const exitCode = reportError(error, formatOf(options));
    // What does not answer cannot be closed either, and keeps no process whose command has failed.
    const { exit } = io();
    leaving = setTimeout(() => exit(exitCode), CLOSE_MS);
    if (isPawlError(error) && error.code === "START_TIMED_OUT") {
      await app?.park(AbortSignal.abort()).catch(() => undefined);
      exit(exitCode);
    }
    return exitCode;
  } finally {
    await app?.close().catch((error: unknown) => {
      // What could not be opened cannot be closed either: that has been told.
      if (!isPawlError(error) || !isPawlError(failure) || error.message !== failure.message) tellDefect(error);
    });
    leaving?.unref();
  }
}

/** How the options of a command ask for an application. */
export function toOpenOptions(options: CommonOptions, voice: Voice): Parameters<OpenApp>[0] {
  return {
    appDir: options.app,
    flags: toFlags(options),
    environment: io().env,
    tell: (line) => voice.say(line),
    onDefect: tellDefect,
  };
}

function toFlags(options: CommonOptions): Parameters<OpenApp>[0]["flags"] {
  const { data, web, lenient, role, concurrency, endpoint, drivenBy } = options;
  const flags: readonly (readonly [setting: string, flag: string, value: string | number | boolean | undefined])[] = [
    ["data.dir", "--data", data === undefined ? undefined : resolve(data)],
    ["definitions.lenient", "--lenient", lenient],
    ["server.role", "--role", role],
    ["worker.concurrency", "--concurrency", concurrency],
    ["restate.endpoint_host", "--host", endpoint?.host],
    ["restate.endpoint_port", "--port", endpoint?.port],
    ["restate.url", "--restate", drivenBy?.ingressUrl],
    ["restate.admin_url", "--restate", drivenBy?.adminUrl],
    ["restate.register", "--restate", drivenBy === undefined ? undefined : true],
    ["terminal.web_enabled", "--web", web],
  ];
  const given = flags.filter(([, , value]) => value !== undefined);
  return Object.fromEntries(given.map(([setting, flag, value]) => [setting, { value: String(value), flag }]));
}
