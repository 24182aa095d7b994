import { resolve } from "node:path";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../operations/application/ports.ts";
import { type CommonOptions, formatOf, type OpenApp } from "./cli-context.ts";
import { tellDefect } from "./print.ts";
import { io } from "./process-io.ts";
import { reportError } from "./report-error.ts";
import { Voice } from "./voice.ts";

/** Runs one command with an application, closes that whatever happens, and returns the exit code. */
export async function withApp(
  openApp: OpenApp,
  options: CommonOptions,
  command: (app: OpenApplication, voice: Voice) => Promise<number>,
): Promise<number> {
  const voice = new Voice();
  let app: OpenApplication | undefined;
  let failure: unknown;
  try {
    app = await openApp(toOpenOptions(options, voice));
    return await command(app, voice);
  } catch (error) {
    failure = error;
    return reportError(error, formatOf(options));
  } finally {
    await app?.close().catch((error: unknown) => {
      // What could not be opened cannot be closed either: that has been told.
      if (!isPawlError(error) || !isPawlError(failure) || error.message !== failure.message) tellDefect(error);
    });
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

function toFlags({
  data,
  web,
  lenient,
  role,
  concurrency,
  endpoint,
  drivenBy,
}: CommonOptions): Parameters<OpenApp>[0]["flags"] {
  return {
    ...(data === undefined ? {} : { "data.dir": { value: resolve(data), flag: "--data" } }),
    ...(lenient === undefined ? {} : { "definitions.lenient": { value: "true", flag: "--lenient" } }),
    ...(role === undefined ? {} : { "server.role": { value: role, flag: "--role" } }),
    ...(concurrency === undefined ? {} : { "worker.concurrency": { value: concurrency, flag: "--concurrency" } }),
    ...(endpoint?.host === undefined ? {} : { "restate.endpoint_host": { value: endpoint.host, flag: "--host" } }),
    ...(endpoint?.port === undefined ? {} : { "restate.endpoint_port": { value: `${endpoint.port}`, flag: "--port" } }),
    ...(drivenBy === undefined ? {} : toRestateFlags(drivenBy)),
    ...(web === undefined ? {} : { "terminal.web_enabled": { value: "true", flag: "--web" } }),
  };
}

function toRestateFlags({ ingressUrl, adminUrl }: NonNullable<CommonOptions["drivenBy"]>) {
  return {
    "restate.url": { value: ingressUrl, flag: "--restate" },
    "restate.admin_url": { value: adminUrl, flag: "--restate" },
    "restate.register": { value: "true", flag: "--restate" },
  };
}
