import { z } from "zod";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { TerminalSummary } from "../../ports/terminals/terminal-views.ts";
import type { Application } from "../application/application.ts";
import { byItsSurfaces, defineOperation } from "../operation.ts";
import { idField, listOf, typed } from "../schemas.ts";
import { findTerminal, findTerminals } from "./find-terminals.ts";

const common = {
  scope: "admin",
  http: { no: "They show the terminals of all tenants; whoever was granted `terminals` has its own at `/mcp`." },
  mcp: { no: "`pawl mcp terminal` is the server of terminals." },
} as const;

const id = idField("A terminal, or the beginning of its id.");

export const listTerminals = defineOperation({
  ...common,
  id: "listTerminals",
  summary: "List open terminals",
  effect: "reads",
  input: z.strictObject({}),
  output: listOf(typed<TerminalSummary>()),
  cli: [
    {
      verb: "terminals ls",
      table: {
        empty: "No terminal is open.",
        right: ["OPEN FOR", "QUIET FOR"],
        columns: ({ session_id: sessionId, state, exit_code: exitCode, command, title, ...terminal }, now) => ({
          ID: sessionId,
          STATE: typeof exitCode === "number" ? `${state} (${exitCode})` : state,
          SIZE: `${terminal.columns}x${terminal.rows}`,
          "OPEN FOR": { ms: now - Date.parse(terminal.created_at) },
          "QUIET FOR": { ms: now - Date.parse(terminal.last_activity) },
          PROGRAM: title === "" ? command : `${command} (${title})`,
        }),
      },
      show({ items }) {
        const url = items.map(({ web_url: each }) => each).find((each) => each !== null);
        return url === undefined ? {} : { data: `\nIn a browser: ${toListUrl(url)}` };
      },
    },
  ],
  handle: async ({ app }) => ({ items: (await (await findTerminals(app))?.list()) ?? [], next_cursor: null }),
});

/** The page of all sessions stands above that of one; both take the token. */
function toListUrl(url: string): string {
  const list = new URL(url);
  list.pathname = list.pathname.slice(0, list.pathname.lastIndexOf("/"));
  return list.href;
}

export const attachTerminal = defineOperation({
  ...common,
  id: "attachTerminal",
  summary: "Look at a terminal and type into it",
  effect: "writes",
  input: z.strictObject({ id }),
  output: z.unknown(),
  cli: { byHand: ["terminals attach"] },
  handle: byItsSurfaces,
});

export const killTerminals = defineOperation({
  ...common,
  id: "killTerminals",
  summary: "End a terminal and everything that runs in it",
  effect: "destroys",
  input: z
    .strictObject({ id: id.optional(), all: z.boolean().default(false).describe("All of them.") })
    .refine((given) => (given.id === undefined) === given.all, { message: "name one terminal, or say --all" }),
  output: z.object({ killed: z.array(z.string()) }),
  errors: ["TERMINAL_NOT_FOUND"],
  cli: [
    {
      verb: "terminals kill",
      args: ["id"],
      optional: ["id"],
      show: ({ killed }) => ({
        told: [killed.length === 0 ? "No terminal is open." : `Ended ${killed.join(", ")}.`],
      }),
    },
  ],
  handle: async ({ app }, given) => ({
    killed: given.id === undefined ? await killAll(app) : [await killOne(app, given.id)],
  }),
});

async function killOne(app: Application, wanted: string): Promise<string> {
  const { terminals, session } = await findTerminal(app, wanted);
  await terminals.kill(session.session_id);
  return session.session_id;
}

async function killAll(app: Application): Promise<readonly string[]> {
  const terminals = await findTerminals(app);
  const ids = ((await terminals?.list()) ?? []).map(({ session_id }) => session_id);
  const outcomes = await Promise.allSettled(ids.map((each) => terminals?.kill(each)));
  // One that has ended by itself meanwhile is ended as well.
  const failure = outcomes.find((outcome) => outcome.status === "rejected" && !isGone(outcome.reason));
  if (failure?.status === "rejected") throw failure.reason;
  return ids;
}

function isGone(error: unknown): boolean {
  return isPawlError(error) && error.code === "TERMINAL_NOT_FOUND";
}
