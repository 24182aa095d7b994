import { type Command, InvalidArgumentError } from "commander";
import { type CommonOptions, formatOf, isInteractive } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { withStopSignals } from "../stop-signals.ts";
import { withCommon } from "./common-options.ts";
import { toPort } from "./option-values.ts";
import type { Perform } from "./perform.ts";

interface ReachOptions extends CommonOptions {
  readonly http?: true;
  readonly host?: string;
  readonly port?: number;
  readonly token?: string;
}

/** `pawl mcp`: servers for other programs. Stdout belongs to the protocol. */
export function addMcp(program: Command, perform: Perform): void {
  const mcp = program.command("mcp").description("offer tools to other programs");
  const serve = mcp
    .command("serve", { isDefault: true })
    .description("runs, workflows, schedules and approvals as an MCP server over stdin and stdout (the default)");
  withReach(withCommon(serve))
    .option("--tools <sets>", "list the tools of these sets: runs, workflows, approvals, schedules, costs ... or all")
    .action((options: ReachOptions & { readonly tools?: string }) =>
      perform(options, (app) =>
        withStopSignals(async ({ stop }) => {
          await app.serveRuns({ ...toReach(options), tools: options.tools, log: tell, stop });
          return 0;
        }),
      ),
    );
  addMcpTerminal(mcp, perform);
  addLogins(mcp, perform);
  withCommon(mcp.command("core").description("the built-in tools `core.*` as an MCP server over stdin and stdout"))
    .option("--http", "over HTTP, on this machine only")
    .option("--port <n>", "with --http; 0, the default, picks a free one", toPort)
    .option("--plain-names", "name tools with `_` in place of `.`")
    .action(async (options: ReachOptions & { readonly plainNames?: true }) => {
      const { http } = toReach(options);
      await perform(options, (app) =>
        withStopSignals(async ({ stop }) => {
          await app.serveTools({ http, plainNames: options.plainNames === true, log: tell, stop });
          return 0;
        }),
      );
    });
}

interface LoginOptions extends CommonOptions {
  readonly browser?: boolean;
  readonly forUrl?: string;
  readonly tenant?: string;
}

/** They are about logins of this application, wherever its server runs. */
function addLogins(mcp: Command, perform: Perform): void {
  const withServer = (command: Command) =>
    withCommon(command.argument("<server>", "its name in `.mcp.json` or `mcp.servers`"))
      .option("--for-url <url>", "of a server that a definition names: its URL")
      .option("--tenant <id>", "with --for-url: the tenant whose definition it is");
  const toNamed = (server: string, { forUrl: url, tenant: tenantId }: LoginOptions) => ({ server, url, tenantId });
  withServer(mcp.command("login").description("log in to an MCP server (OAuth), in a browser"))
    .option("--no-browser", "only show the address")
    .action((server: string, options: LoginOptions) =>
      perform(options, (app) =>
        withStopSignals(async ({ stop }) => {
          const opensBrowser = options.browser !== false && isInteractive();
          const scope = await app.logIn(toNamed(server, options), { opensBrowser, tell, stop });
          if (formatOf(options) === "text") print(`You are logged in to ${server}${scope ? ` (${scope})` : ""}.`);
          else printEnvelope({ server, scope });
          return 0;
        }),
      ),
    );
  withServer(mcp.command("logout").description("forget the login to an MCP server")).action(
    (server: string, options: LoginOptions) =>
      perform(options, async (app) => {
        const wasIn = await app.logOut(toNamed(server, options));
        if (formatOf(options) === "text") print(wasIn ? `The login to ${server} is forgotten.` : "There was no login.");
        else printEnvelope({ server, was_logged_in: wasIn });
        return 0;
      }),
  );
}

function toReach({ http, host, port = 0, token }: ReachOptions) {
  return { ...(http === true ? { http: { port, host } } : {}), token };
}

function withReach(command: Command): Command {
  return command
    .option("--http", "over HTTP, on this machine only unless --host says more")
    .option("--host <address>", "with --http; beyond this machine only with a token")
    .option("--port <n>", "with --http; 0, the default, picks a free one", toPort)
    .option("--token <text>", "what HTTP requests must bear (default: server.api_key, else a new one, told once)");
}

function addMcpTerminal(mcp: Command, perform: Perform): void {
  const terminal = mcp
    .command("terminal")
    .description("terminals and `run_workflow` as an MCP server over stdin and stdout");
  withReach(withCommon(terminal))
    .option("--web", "let people watch the terminals in a browser (terminal.web_enabled)")
    .option("--tools <list>", "`runs`: also get_run, list_runs, cancel_run, respond_to_run", toToolsets)
    .action(async (options: ReachOptions & { readonly tools?: readonly string[] }) => {
      const withRuns = options.tools?.includes("runs") === true;
      await perform(options, (app) =>
        withStopSignals(async ({ stop, force }) => {
          await app.serveTerminals({ ...toReach(options), withRuns, log: tell, stop });
          await app.leave(stop, force);
          return 0;
        }),
      );
    });
}

function toToolsets(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => name === "terminal" || name === "runs")) return names;
  throw new InvalidArgumentError("The sets of tools are `terminal`, which is always there, and `runs`.");
}
