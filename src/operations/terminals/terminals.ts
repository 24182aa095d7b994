import { homedir } from "node:os";
import { z } from "zod";
import { loadTerminalOptions } from "../../config/load-terminal-options.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Driving, Place, Principal } from "../application/ports.ts";
import { byItsSurfaces, defineOperation, type OperationContext } from "../operation.ts";
import { idField, listOf, timeSchema } from "../schemas.ts";
import { admitToTerminals, findTerminal, findTerminals } from "./find-terminals.ts";

const common = { scope: "admin", mcp: { no: "`pawl mcp terminal` is the server of terminals." } } as const;

const id = idField("A terminal, or the beginning of its id.", "terminals ls");

/** The most that one input may have. */
const MAX_TYPED = 10_000;

const terminalSchema = z
  .object({
    session_id: z.string(),
    command: z.string().describe("As it was asked for."),
    title: z.string().describe("Set by its program: text from outside. Empty if there is none."),
    state: z.enum(["initializing", "active", "waiting", "error", "terminated"]),
    columns: z.number().int(),
    rows: z.number().int(),
    tenant_id: z.string().nullable().describe("Whose run has opened it."),
    run_id: z.string().nullable().describe("The run that has opened it; null: a person, or another program."),
    step_path: z.string().nullable().describe("The step of that run."),
    created_at: timeSchema,
    last_activity: timeSchema,
    web_url: z.string().nullable().describe("Its page, with the token that opens it; null: the live view is off."),
    exit_code: z
      .number()
      .int()
      .nullable()
      .optional()
      .describe("Present when its program has ended; null if its exit code is unknown."),
    can_type: z.boolean().describe("Whether `POST /terminals/{id}/keys` is allowed."),
  })
  .meta({ id: "Terminal" });

export const listTerminals = defineOperation({
  ...common,
  id: "listTerminals",
  summary: "List open terminals",
  effect: "reads",
  input: z.strictObject({}),
  output: listOf(terminalSchema),
  errors: ["FORBIDDEN"],
  http: { method: "GET", path: "/terminals" },
  cli: {
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
  word: ({ session_id: text, command: meaning }) => ({ text, meaning }),
  async handle({ app }: OperationContext<Place & Principal & Driving>) {
    admitToTerminals(app);
    const [terminals, isAllowed] = await Promise.all([findTerminals(app), mayType(app)]);
    const items = ((await terminals?.list()) ?? []).map((terminal) => {
      return { ...terminal, can_type: isAllowed && terminal.exit_code === undefined };
    });
    return { items, next_cursor: null };
  },
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
  http: { no: "`GET /terminals/{id}/stream` and `POST /terminals/{id}/keys` do both." },
  cli: { byHand: ["terminals attach"] },
  handle: byItsSurfaces,
});

export const readScreen = defineOperation({
  ...common,
  id: "readTerminalScreen",
  summary: "Read what a terminal shows now",
  effect: "reads",
  input: z.strictObject({ id }),
  output: z.object({
    session_id: z.string(),
    columns: z.number().int(),
    rows: z.number().int(),
    lines: z
      .array(z.string())
      .describe("Each row with its colours as ANSI sequences, and nothing else that a terminal obeys."),
    cursor: z
      .object({ row: z.number().int(), column: z.number().int() })
      .nullable()
      .describe("Counted from 0; null: not to be seen."),
    ended: z.boolean().describe("Its program has ended."),
    exit_code: z.number().int().nullable().describe("null while it runs, and if it is unknown."),
  }),
  errors: ["TERMINAL_NOT_FOUND", "FORBIDDEN"],
  http: { method: "GET", path: "/terminals/{id}/screen" },
  cli: { no: "`terminals attach` shows it." },
  async handle({ app }: OperationContext<Principal & Driving>, given) {
    admitToTerminals(app);
    const { terminals, session } = await findTerminal(app, given.id);
    const { session_id, columns, rows } = session;
    const view = await terminals.watchScreen(session_id, { columns, rows });
    try {
      const { size, rows: shown, cursor, end } = await view.next();
      const lines = shown.map(({ text }) => text);
      return { session_id, ...size, lines, cursor, ended: end !== undefined, exit_code: end?.exitCode ?? null };
    } finally {
      view.close();
    }
  },
});

export const streamTerminal = defineOperation({
  ...common,
  id: "streamTerminal",
  summary: "Follow the output of a terminal as server-sent events",
  effect: "reads",
  input: z.strictObject({ id }),
  output: z.unknown(),
  errors: ["TERMINAL_NOT_FOUND", "FORBIDDEN", "NOT_SUPPORTED"],
  http: {
    method: "GET",
    path: "/terminals/{id}/stream",
    headers: { "Last-Event-ID": "`ended`: there is nothing more, and the answer is 204." },
    answers: "text/event-stream",
    otherStatuses: [204],
  },
  cli: { no: "`terminals attach` shows it." },
  handle: byItsSurfaces,
});

export const typeKeys = defineOperation({
  ...common,
  id: "typeIntoTerminal",
  summary: "Type into a terminal",
  effect: "writes",
  input: z.strictObject({
    id,
    text: z.string().min(1).max(MAX_TYPED).describe("As a terminal sends it: Enter is a carriage return."),
  }),
  output: z.object({ session_id: z.string() }),
  errors: ["TERMINAL_NOT_FOUND", "TERMINAL_REFUSED", "FORBIDDEN"],
  http: { method: "POST", path: "/terminals/{id}/keys" },
  cli: { no: "`terminals attach` types." },
  async handle({ app }: OperationContext<Place & Principal & Driving>, { id: wanted, text }) {
    await admitChange(app);
    const { terminals, session } = await findTerminal(app, wanted);
    await terminals.type(session.session_id, text);
    return { session_id: session.session_id };
  },
});

export const killTerminal = defineOperation({
  ...common,
  id: "killTerminal",
  summary: "End one terminal and everything that runs in it",
  effect: "destroys",
  input: z.strictObject({ id }),
  output: z.object({ session_id: z.string() }),
  errors: ["TERMINAL_NOT_FOUND", "FORBIDDEN"],
  http: { method: "DELETE", path: "/terminals/{id}" },
  cli: { no: "`terminals kill` ends one, or all." },
  async handle({ app }: OperationContext<Place & Principal & Driving>, given) {
    await admitChange(app);
    return { session_id: await killOne(app, given.id) };
  },
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
  http: { no: "`DELETE /terminals/{id}` ends one." },
  cli: {
    verb: "terminals kill",
    args: ["id"],
    optional: ["id"],
    show: ({ killed }) => ({
      told: [killed.length === 0 ? "No terminal is open." : `Ended ${killed.join(", ")}.`],
    }),
  },
  handle: async ({ app }: OperationContext<Driving>, given) => ({
    killed: given.id === undefined ? await killAll(app) : [await killOne(app, given.id)],
  }),
});

/** By the same setting as in the pages of the live view. */
async function mayType({ config, appDir }: Place): Promise<boolean> {
  const { settings } = config;
  return (await loadTerminalOptions({ settings, currentDir: appDir, homeDir: homedir() })).web.canType;
}

/** Throws `FORBIDDEN`. */
async function admitChange(app: Place & Principal): Promise<void> {
  admitToTerminals(app);
  if (await mayType(app)) return;
  throw new PawlError("FORBIDDEN", {
    message: "Only looking is allowed here: `terminal.web_input` is not set.",
    remedy: "Set `terminal.web_input: true` and start the server again, or use `pawl terminals attach` on its machine.",
  });
}

async function killOne(app: Driving, wanted: string): Promise<string> {
  const { terminals, session } = await findTerminal(app, wanted);
  await terminals.kill(session.session_id);
  return session.session_id;
}

async function killAll(app: Driving): Promise<readonly string[]> {
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
