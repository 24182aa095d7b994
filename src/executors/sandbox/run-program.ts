import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { constants } from "node:os";
import { Readable, Writable } from "node:stream";
import { setImmediate as immediately, setTimeout as wait } from "node:timers/promises";
import type { Feed } from "./bwrap-arguments.ts";
import type { ControlGroup } from "./kernel/control-groups.ts";
import { findBranded, findDescendants, isAlive, killAll, sendSignal } from "./kernel/processes.ts";
import { type Launch, TASKS_OF_BWRAP } from "./launch.ts";
import type { Ending, OutputStream, SandboxResult, SandboxSpec } from "./sandbox.ts";
import { type Watch, watchProgram } from "./watch.ts";

export interface Run {
  readonly launch: Launch;
  readonly spec: SandboxSpec;
  readonly group: ControlGroup | undefined;
  /** Absent where programs cannot be branded. */
  readonly brand: string | undefined;
}

// Between being asked to end and being made to.
const GRACE_MS = 300;
// A pipe may be held open by what we cannot see; its reader waits no longer than this.
const CLOSE_WITHIN_MS = 2_000;
/** Standard input, output, errors and the result come before. */
const FIRST_FEED = 4;
const EMPTY: Collected = { bytes: () => Buffer.alloc(0), size: () => 0 };
const DONE = Symbol("done");

/** A program that has begun and has no input yet. */
export interface StartedProgram {
  isAlive(): boolean;
  /** Gives it its input, holds it to its limits, and kills what is left of it in the end. */
  finish(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxResult>;
  keepAlive(keeps: boolean): void;
  kill(): void;
}

export async function startProgram(run: Run): Promise<StartedProgram | { readonly reason: string }> {
  const started = await start(run);
  if ("reason" in started) return started;
  const { child } = started;
  run.group?.admit(() => findMembers(run, child));
  const exit = waitForExit(child);
  exit.catch(() => undefined);
  run.launch.feeds.forEach((feed, index) => {
    write(child.stdio[FIRST_FEED + index], feed);
  });
  return {
    // The kernel knows it before we hear of it.
    isAlive: () => child.exitCode === null && child.signalCode === null && isAlive(child.pid ?? 0),
    finish: (spec, signal) => finishProgram({ ...run, spec }, { child, exit }, signal),
    keepAlive(keeps) {
      for (const handle of [child, ...child.stdio.slice(0, FIRST_FEED)]) {
        if (handle instanceof Socket || handle === child) handle[keeps ? "ref" : "unref"]();
      }
    },
    kill() {
      kill(run, child);
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}

async function finishProgram(
  run: Run,
  { child, exit }: { readonly child: ChildProcess; readonly exit: Promise<NaturalEnd> },
  signal: AbortSignal,
): Promise<SandboxResult> {
  const startedAt = performance.now();
  const control = holdToLimits(run, child, signal);
  write(child.stdio[0], run.spec.stdin ?? "");
  const natural = await Promise.race([exit, control.done]);
  if (natural === DONE) {
    await drain(control);
    control.release();
    kill(run, child);
    exit.then(() => waitForClose(child)).catch(() => undefined);
    return toResult(run, control.ending() ?? { type: "exited", code: 0 }, { startedAt, control });
  }
  control.release();
  await killRest(run, child, control.ending() !== undefined);
  await waitForClose(child);
  const judged = control.ending() ?? judge(natural, { run, control });
  return toResult(run, judged, { startedAt, control });
}

/** What was written before the end mark is there to be read, and is read in the next turns of the event loop. */
async function drain({ stdout, stderr }: Control): Promise<void> {
  const size = () => stdout.size() + stderr.size();
  for (let before = -1; before !== size(); await immediately()) before = size();
}

async function start({ launch, spec }: Run): Promise<{ readonly child: ChildProcess } | { readonly reason: string }> {
  const [program = "", ...args] = launch.command;
  const result = spec.hasResultChannel === true ? "pipe" : "ignore";
  const child = spawn(program, args, {
    cwd: launch.cwd,
    env: launch.env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe", result, ...launch.feeds.map(() => "pipe" as const)],
  });
  if (child.pid !== undefined) return { child };
  const [error] = (await once(child, "error")) as [Error];
  return { reason: error.message };
}

interface Control {
  readonly stdout: Collected;
  readonly stderr: Collected;
  readonly result: Collected;
  readonly watch: Watch;
  /** The end mark has come. */
  readonly done: Promise<typeof DONE>;
  /** Why we ended it; absent: it ended by itself. */
  ending(): Ending | undefined;
  release(): void;
}

function holdToLimits(run: Run, child: ChildProcess, signal: AbortSignal): Control {
  const { spec, launch, group } = run;
  let ending: Ending | undefined;
  let grace: NodeJS.Timeout | undefined;
  const end = (why: Ending, how: "ask" | "kill") => {
    if (ending !== undefined) return;
    ending = why;
    if (how === "kill") return kill(run, child);
    // bwrap ends its sandbox when it dies, so it is not asked; the first process inside takes no such signal.
    sendSignal(findTree(child).slice(run.launch.kind === "bwrap" ? 1 : 0), "SIGTERM");
    grace = setTimeout(() => kill(run, child), GRACE_MS);
  };
  let finish: (done: typeof DONE) => void = () => undefined;
  const done = new Promise<typeof DONE>((resolve) => {
    finish = resolve;
  });
  const { endMark } = spec;
  const onResult = (chunk: Buffer) => {
    if (endMark !== undefined && launch.kind === "bwrap" && chunk.toString("latin1").endsWith(endMark)) finish(DONE);
  };
  const cut = (why: Ending) => end(why, "kill");
  const collect = (stream: unknown, name: OutputStream): Collected => {
    if (!(stream instanceof Readable)) return EMPTY;
    return collectOutput(stream, {
      maxBytes: spec.limits.maxOutputBytes,
      exceeded: () => cut({ type: "outputTooLarge", stream: name }),
      onChunk: name === "result" ? onResult : (chunk) => spec.onOutput?.(name, chunk),
    });
  };
  const watch = watchProgram({
    wrappers: launch.kind === "bwrap" ? TASKS_OF_BWRAP : 0,
    group,
    limits: spec.limits,
    findTree: () => findTree(child),
    findMembers: () => findMembers(run, child),
    exceeded: cut,
  });
  const timer = setTimeout(() => end({ type: "timedOut" }, "ask"), spec.limits.timeoutMs);
  const abort = () => end({ type: "aborted" }, "ask");
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return {
    stdout: collect(child.stdout, "stdout"),
    stderr: collect(child.stderr, "stderr"),
    result: collect(child.stdio[3], "result"),
    watch,
    done,
    ending: () => ending,
    release() {
      clearTimeout(timer);
      clearTimeout(grace);
      watch.stop();
      signal.removeEventListener("abort", abort);
    },
  };
}

function findTree({ pid = 0 }: ChildProcess): number[] {
  return [pid, ...findDescendants(pid)];
}

/** Processes that have lost their parents are found by their brand; inside bwrap they get another parent. */
function findMembers({ launch, brand }: Run, child: ChildProcess): number[] {
  const branded = launch.kind === "bwrap" || brand === undefined ? [] : findBranded([brand]);
  return [...new Set([...findTree(child), ...branded])];
}

/** The whole tree follows: at once inside bwrap, else in `killRest`. */
function kill({ group }: Run, child: ChildProcess): void {
  child.kill("SIGKILL");
  if (group !== undefined) sendSignal(group.members(), "SIGKILL");
}

/** bwrap ends everything inside, unless it was killed before it was set up. A plain process may have left others behind. */
async function killRest({ launch, group, brand }: Run, child: ChildProcess, wasEnded: boolean): Promise<void> {
  // The kernel takes long to put namespaces away; no caller has to wait for that.
  if (launch.kind === "bwrap" && !wasEnded) return;
  if (brand !== undefined) await killAll(() => findBranded([brand]));
  else if (group !== undefined) await killAll(() => group.members());
  else sendSignal([-(child.pid ?? 0)], "SIGKILL");
}

interface NaturalEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

async function waitForExit(child: ChildProcess): Promise<NaturalEnd> {
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return { code, signal };
}

function write(input: unknown, what: Feed): void {
  if (!(input instanceof Writable)) return;
  // A program need not read its input to the end.
  input.on("error", () => undefined);
  input.end(what);
}

async function waitForClose(child: ChildProcess): Promise<void> {
  const outputs = child.stdio.slice(1, 4).flatMap((stream) => (stream instanceof Readable ? [stream] : []));
  const cancel = new AbortController();
  const closed = Promise.all(
    outputs.map((stream) => (stream.closed || stream.isPaused() ? undefined : once(stream, "close"))),
  );
  const tooLong = wait(CLOSE_WITHIN_MS, undefined, { signal: cancel.signal });
  await Promise.race([closed.catch(() => undefined), tooLong.catch(() => undefined)]);
  cancel.abort();
  for (const stream of child.stdio) stream?.destroy();
}

function judge(natural: NaturalEnd, { run, control }: { readonly run: Run; readonly control: Control }): Ending {
  const ended = toEnding(natural, run.launch.kind);
  if (ended.type === "exited" && ended.code === 0) return ended;
  if (run.group?.hasRunOutOfMemory() === true) return { type: "outOfMemory" };
  const isFull = control.watch.maxTasks() >= run.spec.limits.maxProcesses;
  if (run.group?.hasRefusedTasks() === true || isFull) return { type: "tooManyProcesses" };
  const reason = findRefusal(control);
  return ended.type === "exited" && reason !== undefined ? { type: "notStarted", reason } : ended;
}

/** bwrap tells a signal as shells do. */
function toEnding({ code, signal }: NaturalEnd, kind: Launch["kind"]): Ending {
  if (signal !== null) return { type: "killed", signal };
  const number = kind === "bwrap" && code !== null && code > 128 ? code - 128 : 0;
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return name === undefined ? { type: "exited", code: code ?? 1 } : { type: "killed", signal: name as NodeJS.Signals };
}

/** The refusal of one of the wrappers, if nothing else was printed. */
function findRefusal({ stdout, stderr, result }: Control): string | undefined {
  const text = stderr.bytes().toString("utf8").trim();
  if (stdout.bytes().length + result.bytes().length > 0 || text.includes("\n")) return undefined;
  return /^(bwrap|prlimit|setpriv|env|bridge|\/\S*\/env): /.test(text) ? text : undefined;
}

function toResult(
  { launch }: Run,
  ending: Ending,
  { startedAt, control }: { readonly startedAt: number; readonly control: Control },
): SandboxResult {
  return {
    kind: launch.kind,
    ending,
    stdout: control.stdout.bytes(),
    stderr: control.stderr.bytes(),
    result: control.result.bytes(),
    durationMs: performance.now() - startedAt,
    maxRssBytes: control.watch.maxRssBytes(),
  };
}

interface Collected {
  bytes(): Buffer;
  size(): number;
}

/** Keeps what a stream brings, up to `maxBytes`; then calls `exceeded` and reads no further. */
function collectOutput(
  stream: Readable,
  options: { readonly maxBytes: number; exceeded(): void; onChunk(chunk: Buffer): void },
): Collected {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => {
    if (size > options.maxBytes) return;
    const room = options.maxBytes - size;
    size += chunk.length;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    chunks.push(kept);
    options.onChunk(kept);
    if (size <= options.maxBytes) return;
    stream.pause();
    options.exceeded();
  });
  return { bytes: () => Buffer.concat(chunks), size: () => size };
}
