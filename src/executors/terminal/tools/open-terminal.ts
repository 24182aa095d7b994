import { randomBytes } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { orElse } from "../../../core/or-else.ts";
import type { ToolInput, ToolOutput } from "../../../ports/terminals/terminal-tools.ts";
import { findProgram } from "../../sandbox/find-tools.ts";
import type { StandingProgram } from "../../sandbox/sandbox.ts";
import type { PtySpec } from "../session/pty.ts";
import { settle } from "../session/settle.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { ToolCall } from "./gate.ts";
import type { ToolHandler, ToolParts } from "./tool-parts.ts";

/** Programs take their time until they first show something; what then goes on for long is not waited for. */
const SETTLING = { graceMs: 1_500, maxMs: 2_000 };

export const openTerminal: ToolHandler<"open_terminal"> = async (parts, request, call) => {
  const shell = request.shell ?? parts.options.defaultShell;
  const isSandboxed = parts.options.sandbox === true || request.sandbox === true;
  const plan = toPlan(parts, { ...request, sandbox: isSandboxed }, shell);
  admit(parts, { plan, shell, call, isSandboxed });
  if ("error" in plan) return toFailure(shell, plan.error);
  const confined = isSandboxed ? await confineTerminal(parts, plan.spec, call) : undefined;
  if (confined !== undefined && "error" in confined) return toFailure(shell, confined.error);

  const id = `session_${randomBytes(4).toString("hex")}`;
  const { owner, stepPath, tenantId } = call;
  // The address opens every terminal of this machine, so that no tenant gets it.
  const webUrl = tenantId === undefined ? (parts.surroundings.toWebUrl?.(id) ?? null) : null;
  const facts = { id, command: shell, webUrl, owner, stepPath, tenantId, createdAt: new Date(), isSandboxed };
  let session: TerminalSession;
  try {
    session = await parts.table.open(facts, confined?.spec ?? plan.spec);
  } catch (error) {
    confined?.program.release();
    if (isPawlError(error) && error.code === "QUOTA_EXCEEDED") throw error;
    return toFailure(shell, `The terminal could not be opened: ${error instanceof Error ? error.message : error}`);
  }
  if (confined !== undefined) holdToSandbox(session, confined.program);
  parts.surroundings.opened?.(session);
  await settleOrDestroy(parts, session, call);
  return {
    success: true,
    session_id: id,
    shell,
    web_url: webUrl,
    screen_content: session.screen.readScreen(),
    timestamp: new Date().toISOString(),
    error: null,
  };
};

type Plan = ({ readonly spec: PtySpec } | { readonly error: string }) & {
  readonly program: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
};

function toPlan(parts: ToolParts, request: ToolInput<"open_terminal">, shell: string): Plan {
  const { options, surroundings } = parts;
  const { homeDir, currentDir } = surroundings;
  const wished = request.environment ?? {};
  const folder = toFolder(request.working_directory ?? currentDir, { homeDir, currentDir });
  const parsed = parseShellCommand(shell);
  const asked = { program: parsed?.program ?? "", folder, environment: wished };
  if (parsed === undefined) return { ...asked, error: "The shell has no name." };
  const problem = findProblem(folder, wished) ?? findTooLong(parsed.args, wished);
  if (problem !== undefined) return { ...asked, error: problem };
  // The sandbox has a home, a search path and a folder for temporary files of its own.
  const env =
    request.sandbox === true
      ? { LANG: "C.UTF-8", TERM: "xterm-256color", ...(parts.options.isolateHistory ? NO_HISTORY : {}), ...wished }
      : buildChildEnvironment(parts, wished);
  const command = locateCommand(parsed, { path: env["PATH"] ?? PATH_INSIDE, folder });
  if (command === undefined) return { ...asked, error: `Shell '${parsed.program}' is not installed.` };
  return { ...asked, spec: { command, cwd: folder, env, columns: options.columns, rows: options.rows } };
}

function toFolder(path: string, { homeDir, currentDir }: { homeDir: string; currentDir: string }): string {
  return path === "~" || path.startsWith("~/") ? join(homeDir, path.slice(1)) : resolve(currentDir, path);
}

function findProblem(folder: string, environment: Readonly<Record<string, string>>): string | undefined {
  if (!orElse(() => statSync(folder).isDirectory(), false)) return `The working directory ${folder} does not exist.`;
  const wrong = Object.entries(environment).find(([name, value]) => !isVariable(name, value));
  return wrong && `'${wrong[0]}' cannot be an environment variable.`;
}

function isVariable(name: string, value: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !value.includes("\0");
}

function admit(
  { gate, policy, table }: ToolParts,
  opening: { plan: Plan; shell: string; call: ToolCall; isSandboxed: boolean },
): void {
  const { plan, shell, call, isSandboxed } = opening;
  const { program, folder, environment } = plan;
  // Values may be secrets that were not declared.
  const facts = {
    tool: "open_terminal",
    shell,
    working_directory: folder,
    environment: Object.keys(environment),
    sandbox: isSandboxed,
  };
  gate.admit(call, facts, () => {
    policy.checkOpening({ shell, program, folder, environment, openSessions: table.running, isSandboxed });
  });
}

/** Closes the session if the call is broken off: its id would never be known to anyone. */
async function settleOrDestroy({ table }: ToolParts, session: TerminalSession, { signal }: ToolCall): Promise<void> {
  try {
    await settle(session, { ...SETTLING, expectsAnswer: true, signal });
  } catch (error) {
    await table.destroy(session.facts.id);
    throw error;
  }
}

function toFailure(shell: string, error: string): ToolOutput<"open_terminal"> {
  return {
    success: false,
    session_id: "",
    shell,
    web_url: null,
    screen_content: null,
    timestamp: new Date().toISOString(),
    error,
  };
}

/** Variables of this process that a terminal's program gets. None is a secret. */
const PASSED = ["USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"];

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const NO_HISTORY = { HISTFILE: "/dev/null", PYTHON_HISTORY: "/dev/null", LESSHISTFILE: "-" };

/** The user's variables win over all others. Keys of providers are in the environment of this process, and stay there. */
function buildChildEnvironment(
  { options, surroundings }: ToolParts,
  wished: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { environment: own, homeDir } = surroundings;
  const passed = PASSED.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    PATH: own["PATH"] || DEFAULT_PATH,
    HOME: homeDir,
    LANG: /utf-?8/i.test(own["LANG"] ?? "") ? (own["LANG"] ?? "") : "C.UTF-8",
    TERM: "xterm-256color",
    ...Object.fromEntries(passed),
    ...(options.isolateHistory ? NO_HISTORY : {}),
    ...wished,
  };
}

interface ShellCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/** Substitutes for programs that the system does not have under their names. */
const STAND_INS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  python: ["python3"],
  pdb: ["python3", "-m", "pdb"],
  vi: ["vim"],
};

const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** Words between spaces; quotes hold some together. No shell reads it, so nothing is expanded. `undefined`: no words. */
function parseShellCommand(text: string): ShellCommand | undefined {
  const words = [...text.matchAll(WORD)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
  const [program, ...args] = words;
  return program === undefined || program === "" ? undefined : { program, args };
}

/** With the program's place on the search path, or in the folder where it will run. `undefined`: it is not there. */
function locateCommand(
  { program, args }: ShellCommand,
  { path, folder }: { readonly path: string; readonly folder: string },
): [string, ...string[]] | undefined {
  const found = findProgram(program.includes("/") ? resolve(folder, program) : program, path);
  if (found !== undefined) return [found, ...args];
  const [standIn, ...first] = STAND_INS[program] ?? [];
  const other = standIn === undefined ? undefined : findProgram(standIn, path);
  return other === undefined ? undefined : [other, ...first, ...args];
}

/** Linux gives no program a longer argument or variable; one byte of it is the end mark. */
const MAX_BYTES = 128 * 1024 - 1;
/** And not more of both than this, where stacks have the usual size: with room for what every terminal gets. */
const MAX_BYTES_TOGETHER = 1024 * 1024;
/** An end mark, and where it begins. */
const BYTES_FOR_EACH = 9;

/** Finds arguments or variables that are too long: the system would not start the program. */
export function findTooLong(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): string | undefined {
  const variables = Object.entries(environment).map(([name, value]) => ({ name, bytes: sizeOf(`${name}=${value}`) }));
  const tooLong = variables.find(({ bytes }) => bytes > MAX_BYTES);
  if (tooLong) return `The environment variable '${tooLong.name}' is too long: ${limit(tooLong.bytes, MAX_BYTES)}`;
  const sizes = args.map(sizeOf);
  const longest = sizes.find((bytes) => bytes > MAX_BYTES);
  if (longest !== undefined) return `An argument of the shell is too long: ${limit(longest, MAX_BYTES)}`;
  const all = [...sizes, ...variables.map(({ bytes }) => bytes)];
  const total = all.reduce((sum, bytes) => sum + bytes + BYTES_FOR_EACH, 0);
  if (total <= MAX_BYTES_TOGETHER) return undefined;
  return `The environment and the shell's arguments are too long: ${limit(total, MAX_BYTES_TOGETHER)}`;
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}

function limit(bytes: number, most: number): string {
  return `${bytes} bytes, and ${most} are possible.`;
}

/** Where programs of a sandboxed terminal are looked for. */
const PATH_INSIDE = "/usr/local/bin:/usr/bin:/bin";

type ConfinedPty = { readonly spec: PtySpec; readonly program: StandingProgram } | { readonly error: string };

/** Puts the program of a terminal into the sandbox. It may work only in or below the application's folder. */
async function confineTerminal({ surroundings }: ToolParts, spec: PtySpec, { reach }: ToolCall): Promise<ConfinedPty> {
  const { confine, currentDir } = surroundings;
  if (confine === undefined) return { error: "There is no sandbox for terminals here." };
  const folder = realpathSync(currentDir);
  const cwd = realpathSync(spec.cwd);
  const below = relative(folder, cwd);
  if (below === ".." || below.startsWith(`..${sep}`) || below.startsWith("."))
    return { error: `A terminal in the sandbox opens in ${folder}, or in a folder below that is not hidden.` };
  const [command, ...args] = spec.command;
  try {
    const program = await confine({ command, args, env: spec.env, cwd, folder, reach });
    return { spec: { ...spec, command: program.command, env: program.env, cwd: program.cwd }, program };
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return { error: `${error.message} ${error.remedy}` };
  }
}

/** Holds the program to its limits as long as the session lives. */
function holdToSandbox(session: TerminalSession, program: StandingProgram): void {
  if (session.pid === undefined || !session.isRunning) return program.release();
  program.attach(session.pid);
  session.watch(() => session.isRunning || program.release());
}
