import { readVersion } from "../../config/read-version.ts";
import { grantOfText } from "../../core/trust/parse-grant.ts";
import type { AppHost, Ports, ServeRunsOptions } from "../../operations/application/ports.ts";
import { soleCaller } from "../../operations/application/service-caller.ts";
import { withMethods } from "../../operations/application/with-methods.ts";
import { DefinitionLibrary } from "../../operations/definitions/definition-library.ts";
import { loadOptionsOf } from "../../operations/definitions/load-options.ts";
import { runnerForOne } from "../../operations/start/request-runner.ts";
import { Submissions } from "../../operations/start/submit-run.ts";
import type { LentParts } from "../../surfaces/mcp/service/service-tool.ts";
import type { ReconnectingHost } from "../owner/reconnecting-host.ts";
import { serveMcp, toMcpHttp } from "./serve-mcp.ts";

interface Served {
  readonly app: Ports;
  /**
   * For one call: goes through the owner of the data directory, and starts one in the background where there is none. Undefined: over a
   * database this process drives what it begins, by one host for all calls.
   */
  readonly openHost: (() => Promise<ReconnectingHost>) | undefined;
}

/** Offers runs, workflows and schedules. This process never owns the data directory: a `pawl serve` may come at any time. */
export async function serveRuns({ app: whole, openHost }: Served, options: ServeRunsOptions): Promise<void> {
  const { log, stop } = options;
  // What a model sends is a text like any other that comes without a key.
  const app = withMethods(whole, { grant: grantOfText(whole.config.settings.server.grant) });
  const http = toMcpHttp(app, options);
  const [{ createServiceServer, loadServiceTools, marksFor, readToolsets }, { CallsUnderWay }] = await Promise.all([
    import("../../surfaces/mcp/create-service-server.ts"),
    import("../../surfaces/mcp/calls-under-way.ts"),
  ]);
  const calls = new CallsUnderWay();
  const caller = soleCaller(app);
  const library = new DefinitionLibrary({ appDir: app.appDir, ...loadOptionsOf(app.config) });
  const tools = await loadServiceTools(async () => {
    await library.refresh();
    return library.list();
  });
  // Whoever looks again and again compiles only what has changed.
  const looking = soleCaller(withMethods(app, { library }));
  const lend = lendFrom({ app, openHost });
  const toolsets = options.tools === undefined ? undefined : readToolsets(options.tools, tools);
  const parts = { tools, toolsets, caller, lend, stopping: stop, version: await readVersion(), calls, log };
  const marks = marksFor({ ...parts, caller: looking });
  try {
    await serveMcp({
      createServer: ({ cancelled, toolsets: asked, watched }) =>
        createServiceServer({ ...parts, toolsets: asked?.split(",") ?? toolsets, cancelled, watched }),
      marks: {
        ...marks,
        async resource(uri) {
          await library.refresh();
          return marks.resource(uri);
        },
      },
      ...http,
      log,
      stop,
    });
  } finally {
    await calls.ended();
  }
}

/** A host that lasted longer than its call would keep a process in the background, and that one the data directory. */
function lendFrom({ app, openHost }: Served) {
  return async <T>(use: (lent: LentParts) => Promise<T>): Promise<T> => {
    if (openHost === undefined) return use({ app, submissions: new Submissions(runnerForOne(() => app.host())) });
    let opened: Promise<ReconnectingHost> | undefined;
    const host = (): Promise<AppHost> => {
      opened ??= openHost();
      return opened;
    };
    const own = withMethods(app, { host, backgroundHost: host });
    try {
      return await use({ app: own, submissions: new Submissions(runnerForOne(host)) });
    } finally {
      await opened?.then(
        (each) => each.park(AbortSignal.abort()),
        () => undefined,
      );
    }
  };
}
