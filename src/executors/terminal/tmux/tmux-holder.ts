import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import { orElse } from "../../../core/or-else.ts";
import { findProgram } from "../../sandbox/find-tools.ts";
import { createBrander } from "../pty-host/program.ts";
import type { LeftSession, Pty, PtyEvents, PtyHolder, PtySpec, SessionFacts } from "../session/pty.ts";
import type { TmuxServer } from "./control-client.ts";
import { Reminder, TmuxPty } from "./tmux-pty.ts";

export interface TmuxHolderOptions {
  /** The tmux program, 3.3 or later. */
  readonly program: string;
  /** A folder of its own: each session has a socket there. Its path is short enough for one. */
  readonly dir: string;
  /** The rows above a screen that are read again. */
  readonly scrollbackRows: number;
  /** Whether this version has to be told of programs that have ended. */
  readonly missesEnds: boolean;
}

/** More than is read again, so that the row of the last input is there for long. */
const HISTORY_ROWS = 20_000;
/** Variables that tmux sets and a plain terminal does not. */
const OWN_VARIABLES = ["TMUX", "TMUX_PANE", "SHELL", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];
/** The program begins when a client listens, so that none of its output is missed. */
const WAIT_FOR_START = '"$1" -S "$2" wait-for start; shift 2; exec "$@"';

const run = promisify(execFile);

/** Terminals in tmux servers, one per session, with no user configuration. They outlive this process and are found again by their sockets. */
export class TmuxHolder implements PtyHolder {
  readonly #options: TmuxHolderOptions;
  readonly #toBranded = createBrander();
  readonly #ptys = new Set<TmuxPty>();
  readonly #reminder: Reminder | undefined;

  constructor(options: TmuxHolderOptions) {
    this.#options = options;
    this.#reminder = options.missesEnds ? new Reminder() : undefined;
  }

  async open(spec: PtySpec, events: PtyEvents, facts: SessionFacts): Promise<Pty> {
    const { program, dir } = this.#options;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const server = { program, socket: join(dir, facts.id) };
    const { command, brand } = this.#toBranded(spec.command);
    await run(program, toArguments(server, { ...spec, command }, toNoted(facts, brand)), {
      env: { ...spec.env },
      cwd: spec.cwd,
    });
    return this.#hold(server, brand, events).start();
  }

  async findLeft(): Promise<readonly LeftSession[]> {
    const found = await Promise.all(namesIn(this.#options.dir).map((name) => this.#find(name)));
    return found.flatMap((left) => left ?? []);
  }

  async close(): Promise<void> {
    for (const pty of this.#ptys) pty.leave();
    this.#ptys.clear();
  }

  #hold(server: TmuxServer, brand: string | undefined, events: PtyEvents): TmuxPty {
    const { scrollbackRows: historyRows } = this.#options;
    const ended = () => this.#ptys.delete(pty);
    const pty: TmuxPty = new TmuxPty(server, { brand, events, historyRows, reminder: this.#reminder, ended });
    this.#ptys.add(pty);
    return pty;
  }

  async #find(name: string): Promise<LeftSession | undefined> {
    const { program, dir } = this.#options;
    const server = { program, socket: join(dir, name) };
    const noted = await askOnce(server, "#{window_width} #{window_height} #{@pawl_facts}");
    if (noted === undefined) {
      rmSync(server.socket, { force: true });
      return undefined;
    }
    const [columns = "", rows = "", about] = noted.split(" ");
    // The server of another program.
    if (about === undefined || about === "") return undefined;
    const { facts, brand } = fromNoted(about);
    return {
      facts,
      columns: Number(columns),
      rows: Number(rows),
      attach: (events, restore) => this.#hold(server, brand, events).takeUp(restore),
    };
  }
}

function toArguments(
  { program, socket }: TmuxServer,
  { columns, rows, env, command }: Omit<PtySpec, "command"> & { readonly command: readonly string[] },
  noted: string,
): string[] {
  const given = OWN_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [`${name}=${env[name]}`]));
  const unset = OWN_VARIABLES.flatMap((name) => ["-u", name]);
  const started = ["/bin/sh", "-c", WAIT_FOR_START, "pawl-terminal", program, socket];
  const commands: string[][] = [
    ["start-server"],
    ["set-option", "-g", "status", "off"],
    ["set-option", "-g", "prefix", "None"],
    ["set-option", "-g", "history-limit", String(HISTORY_ROWS)],
    ["set-option", "-g", "default-terminal", "xterm-256color"],
    ["set-option", "-s", "escape-time", "0"],
    ["set-option", "-gw", "automatic-rename", "off"],
    ["set-option", "-gw", "allow-rename", "off"],
    // How a program has ended can be asked then.
    ["set-option", "-gw", "remain-on-exit", "on"],
    ["set-option", "-gw", "remain-on-exit-format", ""],
    ["set-hook", "-gw", "pane-died", "wait-for -S dead"],
    ["new-session", "-d", "-s", "main", "-x", String(columns), "-y", String(rows), "--"].concat(
      started,
      ["/usr/bin/env", ...unset, ...given],
      command,
    ),
    // Not before there is a window: some versions crash.
    ["set-option", "-w", "window-size", "manual"],
    ["set-option", "@pawl_facts", noted],
  ];
  const chained = commands.flatMap((each) => [...each.map(toArgument), ";"]);
  return ["-u", "-S", socket, "-f", "/dev/null", ...chained.slice(0, -1)];
}

/** A semicolon at the end of an argument would end the command. */
function toArgument(text: string): string {
  return text.endsWith(";") ? `${text.slice(0, -1)}\\;` : text;
}

function toNoted(
  { id, command, owner, stepPath, tenantId, createdAt }: SessionFacts,
  brand: string | undefined,
): string {
  return Buffer.from(writeExact({ id, command, owner, stepPath, tenantId, createdAt, brand })).toString("base64");
}

function fromNoted(noted: string) {
  const { id, command, owner, stepPath, tenantId, createdAt, brand } = parseExact(
    Buffer.from(noted, "base64").toString(),
  ) as {
    readonly id: string;
    readonly command: string;
    readonly owner?: string;
    readonly stepPath?: string;
    readonly tenantId?: string;
    readonly createdAt: string;
    readonly brand?: string;
  };
  return { facts: { id, command, owner, stepPath, tenantId, createdAt: new Date(createdAt) }, brand };
}

/** `undefined`: no process listens there any more. */
async function askOnce({ program, socket }: TmuxServer, format: string): Promise<string | undefined> {
  try {
    return (await run(program, ["-S", socket, "display-message", "-p", format], { timeout: 5_000 })).stdout.trimEnd();
  } catch (error) {
    if (error instanceof Error && /no server running|error connecting|no sessions/.test(error.message))
      return undefined;
    throw error;
  }
}

function namesIn(dir: string): string[] {
  return orElse(() => readdirSync(dir).filter((name) => /^session_[0-9a-f]{8}$/.test(name)), []);
}

/** Throws `TERMINAL_BACKEND_MISSING` where there is no tmux, or only an old one. */
export async function openTmux(
  searchPath: string,
  options: Pick<TmuxHolderOptions, "dir" | "scrollbackRows">,
): Promise<TmuxHolder> {
  const program = findProgram("tmux", searchPath);
  if (program === undefined) throw missing("`tmux` is not on the search path.");
  const { stdout } = await run(program, ["-V"]);
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const version = Number(major ?? 0) * 100 + Number(minor ?? 0);
  if (version < 303) throw missing(`${program} is ${stdout.trim()}.`);
  return new TmuxHolder({ ...options, program, missesEnds: version < 305 });
}

function missing(reason: string): PawlError {
  return new PawlError("TERMINAL_BACKEND_MISSING", { message: `Terminals are to be held by tmux: ${reason}` });
}
