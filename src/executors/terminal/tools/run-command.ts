import { setTimeout as sleep } from "node:timers/promises";
import { REDACTED } from "../../../core/trust/secret-names.ts";
import type { ToolInput, ToolOutput } from "../../../ports/terminals/terminal-tools.ts";
import { isAlive } from "../../sandbox/kernel/processes.ts";
import { untilAborted } from "../../until-aborted.ts";
import { cutOutput } from "../command/cut-output.ts";
import { canCarryMarks, type FrontProgram, findFront, folderOf } from "../command/front-program.ts";
import type { ShellCommand } from "../command/session-commands.ts";
import { type ShellKind, toBootstrapLine, toCommandLines, toQuestionLine } from "../command/shell-lines.ts";
import { NOTHING_TYPED } from "../input/typed-line.ts";
import { settle } from "../session/settle.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { ToolCall } from "./gate.ts";
import { openTerminal } from "./open-terminal.ts";
import { SESSION_NOT_FOUND, type ToolHandler, type ToolParts, toTyping } from "./tool-parts.ts";

const DEFAULT_TIMEOUT_SECONDS = 25;
const MAX_TIMEOUT_SECONDS = 3_600;
const DEFAULT_TOKENS = 2_000;
const MAX_TOKENS = 25_000;
/** The rest of an answer. */
const OF_FACTS = 300;
const ASKS_HIDDEN = "The program asks for something that it does not show: answer with send_input.";

type Request = ToolInput<"run_command">;
type Result = ToolOutput<"run_command">;

interface Running {
  readonly session: TerminalSession;
  readonly request: Request;
  readonly call: ToolCall;
  readonly startedAt: number;
  readonly deadline: number;
}

export const runCommand: ToolHandler<"run_command"> = async (parts, request, call) => {
  const startedAt = performance.now();
  const { timeout = DEFAULT_TIMEOUT_SECONDS, command } = request;
  const found = request.session_id == null ? undefined : parts.table.find(request.session_id);
  // A line editor that waits hides nothing: it need not be asked.
  const isHidden = found?.screen.wantsBracketedPaste === false && (await found.asksHidden());
  const isSandboxed = found?.facts.isSandboxed ?? parts.options.sandbox === true;
  admit(parts, { request, call, found, isSandboxed, isHidden });
  const problem = findProblem(request, found) ?? (isHidden && command != null ? ASKS_HIDDEN : undefined);
  if (problem !== undefined) return toFailure(request.session_id ?? "", problem);

  const opened = found ?? (await openSession(parts, request, call));
  if (typeof opened === "string") return toFailure("", opened);
  const running = { session: opened, request, call, startedAt, deadline: startedAt + timeout * 1_000 };
  if (command == null) return goOn(running);
  const typed = await typeCommand(running, command);
  if (typeof typed === "string") return toFailure(opened.facts.id, typed);
  if (typed !== undefined) return answer(running, typed);
  const tooLong = await opened.findLongLine(command);
  return tooLong === undefined ? askProgram(running, command) : toFailure(opened.facts.id, tooLong);
};

function admit(
  { gate, policy }: ToolParts,
  {
    request,
    call,
    found,
    isSandboxed,
    isHidden,
  }: { request: Request; call: ToolCall; found: TerminalSession | undefined; isSandboxed: boolean; isHidden: boolean },
): void {
  const { command = null, session_id = null, cwd = null, env, timeout = null } = request;
  // Values may be secrets that were not declared.
  const names = Object.keys(env ?? {});
  const recorded = isHidden && command !== null ? REDACTED : command;
  gate.admit(call, { tool: "run_command", session_id, command: recorded, cwd, env: names, timeout }, () => {
    const text = command ?? "";
    const typed = { input: text, isText: true, length: text.length, isHidden };
    const isForShell = found === undefined ? () => true : toTyping(found, typed).isForShell;
    policy.checkTyping({ ...typed, begun: NOTHING_TYPED, shown: "", isForShell, isSandboxed });
    if (!isSandboxed) policy.checkVariables(env ?? {});
  });
}

function findProblem(request: Request, session: TerminalSession | undefined): string | undefined {
  const { session_id, command, timeout = 1, max_output_tokens: most = DEFAULT_TOKENS, env } = request;
  if (!(timeout >= 0 && timeout <= MAX_TIMEOUT_SECONDS))
    return `The timeout must be from 0 to ${MAX_TIMEOUT_SECONDS} seconds.`;
  if (!(most >= 1 && most <= MAX_TOKENS)) return `max_output_tokens must be from 1 to ${MAX_TOKENS}.`;
  const wrong = Object.keys(env ?? {}).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (wrong !== undefined) return `'${wrong}' cannot be an environment variable.`;
  if ([command, request.cwd, ...Object.values(env ?? {})].some((text) => text?.includes("\0")))
    return "No command, folder or variable can hold a null character.";
  if (session_id == null)
    return command == null ? "There is nothing to do: give a command, or the session_id of one that runs." : undefined;
  if (session === undefined) return `${SESSION_NOT_FOUND}: there is no session '${session_id}'.`;
  return session.isRunning || command == null ? undefined : "The program of the session has ended.";
}

async function openSession(parts: ToolParts, { cwd, env }: Request, call: ToolCall): Promise<TerminalSession | string> {
  const opened = await openTerminal(parts, { working_directory: cwd, environment: env }, call);
  return parts.table.find(opened.session_id) ?? opened.error ?? SESSION_NOT_FOUND;
}

/** Types a command into the shell in front. Undefined: there is none; a text: it could not be typed. */
async function typeCommand(running: Running, text: string): Promise<ShellCommand | string | undefined> {
  const { session, request, call } = running;
  const { commands } = session;
  // What a terminal begins with may still be about to become the program that was asked for.
  if (commands.taught.size === 0) await awaitPrompt(running);
  const front = await findReader(running);
  const first = commands.running.at(-1);
  // One that ends just now is not in the way.
  if (first !== undefined && first.shell.id === front?.id)
    await awaitEnd({ ...running, deadline: Math.min(running.deadline, performance.now() + ENDING_MS) }, first);
  const busy = findBusy(session, front);
  if (busy !== undefined) return busy;
  const { text: begun } = session.typedLine;
  if (begun !== "" && session.screen.readCursorLine().endsWith(begun))
    return "A line has been begun and not sent: end it with Enter, or delete it with C-u (send_input).";
  if (front?.shell === undefined) return undefined;
  const isNew = request.session_id == null;
  const { cwd, env } = isNew ? {} : request;
  const { next: number, latest } = commands;
  // The question has taken the place of the status that this command may ask for.
  const status = front.far?.isTaught === true && latest?.shell.id === front.id ? latest.end?.exitCode : undefined;
  const typed = { number, text, cwd: cwd ?? undefined, env: env ?? {}, status: status ?? 0 };
  const lines = toCommandLines(front.shell, typed);
  if (lines === undefined) return "cwd and env are too long for one line: set them with a command of their own.";
  const command = commands.add(text, front);
  try {
    await session.type((await teach(running, front, front.shell)) + lines);
  } catch (error) {
    commands.lost(command, null);
    throw error;
  }
  call.signal?.throwIfAborted();
  return command;
}

const ANSWER_MS = 5_000;
const ENDING_MS = 250;

/** The program in front; where that only leads to another machine or terminal, the shell that answers there. */
async function findReader(running: Running): Promise<FrontProgram | undefined> {
  const { session, deadline } = running;
  const { commands } = session;
  const front = session.pid === undefined ? undefined : findFront(session.pid);
  // A program that runs there would take the question for its input.
  if (front === undefined || !canCarryMarks(front) || commands.running.at(-1)?.shell.id === front.id) return front;
  await awaitPrompt(running);
  const timeoutMs = Math.min(ANSWER_MS, Math.max(0, deadline - performance.now()));
  const found = await commands.identify(() => session.type(toQuestionLine(commands.nonce)), timeoutMs);
  return found === undefined ? front : { ...front, shell: found.kind, far: found };
}

/** The line that teaches a shell, when it is ready: what runs before its first prompt may read what is typed. */
async function teach(running: Running, front: FrontProgram, kind: ShellKind): Promise<string> {
  const { commands } = running.session;
  if (front.far !== undefined) return front.far.isTaught ? "" : toBootstrapLine(kind, commands.nonce);
  if (commands.taught.has(front.id)) return "";
  commands.taught.add(front.id);
  await awaitPrompt(running);
  return toBootstrapLine(kind, commands.nonce);
}

const PROMPT_REST_MS = 150;
/** Other programs need not have a prompt. */
const PROGRAM_REST_MS = 1_000;
const MAX_PROMPT_MS = 15_000;
const LOOK_EVERY_MS = 20;

/** Line editors say that they read; of other shells a prompt stands there, and nothing more comes. */
async function awaitPrompt({ session, deadline, call }: Running): Promise<void> {
  const until = Math.min(performance.now() + MAX_PROMPT_MS, deadline);
  let end = session.stream.end;
  let restsSince = performance.now();
  while (performance.now() < until && session.isRunning && !session.screen.wantsBracketedPaste) {
    await sleep(LOOK_EVERY_MS, undefined, { signal: call.signal });
    if (session.stream.end !== end) restsSince = performance.now();
    end = session.stream.end;
    const restsMs = performance.now() - restsSince;
    if (restsMs >= PROMPT_REST_MS && session.screen.readCursorLine().trim() !== "") return;
    if (restsMs >= PROGRAM_REST_MS && session.pid !== undefined && findFront(session.pid)?.shell === undefined) return;
  }
}

function findBusy({ commands, screen }: TerminalSession, front: FrontProgram | undefined): string | undefined {
  for (const command of commands.running) if (!isAlive(command.shell.pid)) commands.lost(command, null);
  const first = commands.running.at(-1);
  if (first === undefined) return undefined;
  const isInFront = front?.id === first.shell.id;
  // A shell within the one that runs the command takes commands of its own.
  if (front?.shell !== undefined && !isInFront) return undefined;
  // The prompt is back, and what would have told the end was taken away.
  if (isInFront && first.begin !== undefined && screen.wantsBracketedPaste) {
    commands.lost(first, null, false);
    return undefined;
  }
  const seconds = Math.round((performance.now() - first.startedAt) / 1_000);
  return (
    `The shell is busy: \`${toExcerpt(first.text)}\` (command ${first.number}) has run for ${seconds} s. ` +
    "Call run_command with this session_id and no command to wait for it, type with send_input (keys C-c ends it), or use another session."
  );
}

function toExcerpt(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > 60 || line !== text.trim() ? `${line.slice(0, 60)}...` : line;
}

/** A program that is no shell has no exit codes: what it shows until it rests is all there is. */
async function askProgram({ session, request, call, startedAt, deadline }: Running, text: string): Promise<Result> {
  const from = session.stream.end;
  await session.type(`${text}\n`);
  const maxMs = Math.max(0, deadline - performance.now());
  await settle(session, { graceMs: Math.min(2_000, maxMs), maxMs, expectsAnswer: true, signal: call.signal });
  const bytes = Buffer.from(session.readOutput().text);
  const cut = cutOutput({ offset: from, head: bytes, tail: bytes, length: bytes.length }, tokensOf(request));
  return {
    ...toFacts(session, startedAt),
    success: true,
    exit_code: null,
    exact: false,
    output: cut.text,
    still_running: false,
    cwd: null,
    error: null,
  };
}

async function goOn(running: Running): Promise<Result> {
  const { awaited } = running.session.commands;
  if (awaited === undefined) return toFailure(running.session.facts.id, "No command has run in this session.");
  return answer(running, awaited);
}

async function answer(running: Running, command: ShellCommand): Promise<Result> {
  await awaitEnd(running, command);
  const { session, request } = running;
  const { end, shell } = command;
  const from = command.told;
  const to = end?.offset ?? session.stream.end;
  command.told = to;
  const output =
    command.begin === undefined ? { text: "" } : cutOutput(rawOutput(session, command, from, to), tokensOf(request));
  const isFinal = end !== undefined;
  command.isEndTold = isFinal;
  return {
    ...toFacts(session, command.startedAt, end?.at),
    success: end?.exitCode === 0,
    exit_code: end?.exitCode ?? null,
    exact: true,
    output: output.text.replace(/\n$/, ""),
    ...(output.leftOut === undefined ? {} : { left_out: output.leftOut }),
    cwd: (shell.far === undefined ? folderOf(shell.pid) : undefined) ?? end?.cwd ?? null,
    still_running: !isFinal,
    ...(end?.isShellEnd === true ? { shell_ended: true } : {}),
    command_id: command.number,
    error: null,
  };
}

function tokensOf({ max_output_tokens: most = DEFAULT_TOKENS }: Request): number {
  return Math.min(most, MAX_TOKENS - OF_FACTS);
}

function toFacts({ facts }: TerminalSession, startedAt: number, endedAt = performance.now()) {
  return { session_id: facts.id, elapsed_time: Math.round(endedAt - startedAt) / 1_000 };
}

function rawOutput({ stream }: TerminalSession, command: ShellCommand, from: number, to: number) {
  const tail = withoutPromptMark(stream.read(from, to));
  const isWhole = stream.start <= from || from !== command.begin || command.head === undefined;
  const length = isWhole ? tail.length : to - from;
  return { offset: from, head: isWhole ? tail : (command.head ?? tail), tail, length };
}

/** Behind a line without an end zsh prints a mark, and blanks over it, before it says that a command was broken off. */
function withoutPromptMark(output: Buffer): Buffer {
  const end = output.subarray(-MAX_PROMPT_MARK).toString("latin1");
  const mark = PROMPT_MARK.exec(end)?.[0] ?? "";
  return output.subarray(0, output.length - mark.length);
}

const MAX_PROMPT_MARK = 1_024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const PROMPT_MARK = /(?:\u001b\[[0-9;]*m)+[%#](?:\u001b\[[0-9;]*m)+ +\r \r$/;

const ALIVE_EVERY_MS = 250;

/** Until the command or its shell has ended, or the time is over. */
async function awaitEnd({ session, deadline, call }: Running, command: ShellCommand): Promise<void> {
  const { commands } = session;
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (!session.isRunning && command.end === undefined) commands.lost(command, session.exitCode ?? null);
    else if (!isAlive(command.shell.pid) && command.shell.pid !== session.pid) commands.lost(command, null);
    if (command.end !== undefined) resolve();
  };
  const stops = [commands.watch(look), session.watch(look)];
  const alive = setInterval(look, ALIVE_EVERY_MS);
  const timer = setTimeout(resolve, Math.max(0, deadline - performance.now()));
  look();
  try {
    await untilAborted(promise, call.signal);
  } finally {
    for (const stop of stops) stop();
    clearInterval(alive);
    clearTimeout(timer);
  }
}

function toFailure(sessionId: string, error: string): Result {
  return {
    success: false,
    session_id: sessionId,
    exit_code: null,
    exact: false,
    output: "",
    elapsed_time: 0,
    cwd: null,
    still_running: false,
    error,
  };
}
