import { StringDecoder } from "node:string_decoder";
import { writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { Executor, Failed, Outcome, Task } from "../../ports/executor.ts";
import { toFailed, toRefused } from "../output/failure.ts";
import type { Sandbox, SandboxLimits, SandboxSpec } from "../sandbox/sandbox.ts";
import { type CodeInput, chooseConvention, readCodeInput } from "./choose-convention.ts";
import { type FoundPython, findPython } from "./find-python.ts";
import { type LocatedScript, locateScript } from "./locate-script.ts";
import { END_OF_REPORT, readProgramOutput } from "./script-answer.ts";
import { type StagedScript, stageScript } from "./stage-script.ts";
import { type Command, toMounts, toNodeCommand, toPythonCommand, toPythonMounts } from "./to-command.ts";
import { toOutcome } from "./to-outcome.ts";

/** Limits of every script. `timeoutMs` is for steps without a time-out of their own. */
type ScriptLimits = Pick<SandboxLimits, "timeoutMs" | "memoryBytes" | "maxOutputBytes" | "maxProcesses">;

export interface CodeOptions extends ScriptLimits {
  readonly sandbox: Sandbox;
  /** An interpreter, or the folder of a venv. Default: `python3` on the PATH. */
  readonly python?: string;
  /** A `node_modules` folder that scripts may import from, beside those that Node finds from the script. */
  readonly nodeModules?: string;
  /** Absolute: the data directory and what else no script may see, should it lie inside an application. */
  readonly hidden?: readonly string[];
}

// Node starts as many threads before a script has done anything.
const THREADS_OF_NODE = 16;
// Python answers a refused allocation with a MemoryError, but threads and libraries reserve far more than they use.
const ADDRESS_SPACE_BEYOND_MEMORY_BYTES = 4 * 1024 ** 3;

/** Runs functions and programs in Python, JavaScript and TypeScript, each call in its own process in the sandbox. */
export function createCodeExecutor(options: CodeOptions): Executor<Outcome> {
  let python: Promise<FoundPython> | undefined;
  const askPython = () => {
    python ??= findPython(options.python);
    return python;
  };

  async function call(
    task: Task,
    { script, staged }: { readonly script: LocatedScript; readonly staged: StagedScript },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const input = readCodeInput(task.input);
    const convention = chooseConvention(input.language, script.text, input.function);
    const limits = toLimits(task, input, options);
    const called = { script: staged, convention, name: input.function };
    const found = input.language === "python" ? await askPython() : undefined;
    if (found?.ok === false) return toNoInterpreter(found.reason);
    const { nodeModules } = options;
    const command = found?.ok
      ? toPythonCommand(found.python, called)
      : toNodeCommand(called, { memoryBytes: limits.memoryBytes, nodeModules });
    const kept = [...(options.hidden ?? []), ...(script.folder === undefined ? [] : [script.folder])];
    const mounts = found?.ok
      ? toPythonMounts(found.python, kept)
      : toMounts([process.execPath, ...(nodeModules === undefined ? [] : [nodeModules])], kept);
    if (!mounts.ok) return toUnshown(input.language, mounts.reason);

    const log = createScriptLog((event) => task.emit({ type: "log", event }));
    const isProgram = convention.kind === "program";
    const result = await options.sandbox.runSandboxed(
      {
        ...command,
        ...toInput(task, { isProgram, env: command.env, value: input.input }),
        cwd: staged.cwd,
        visible: [...staged.visible, ...mounts.visible],
        network: input.network,
        reach: task.reach,
        limits,
        ...(isProgram ? {} : { hasResultChannel: true, endMark: END_OF_REPORT }),
        waitsForInput: !isProgram && staged.isLasting,
        onOutput(stream, chunk) {
          // The standard output of a program may be its result: only the end tells.
          if (!isProgram || stream === "stderr") log.write(stream, chunk);
        },
      },
      signal,
    );
    if (isProgram) logProgramOutput(log, result.stdout);
    if (result.warning !== undefined) log.warn(result.warning);
    log.close();
    const { toOriginal } = staged;
    return toOutcome(result, { script: script.name, convention, function: input.function, limits, toOriginal });
  }

  return {
    recordsInput: true,
    async run(task, signal) {
      const script = await locateScript(readCodeInput(task.input).script, task.settings);
      if ("status" in script) return script;
      if (signal.aborted) return toNotBegun(script);
      const staged = await stageScript(script, options.hidden ?? []);
      try {
        return await call(task, { script, staged }, signal);
      } finally {
        await staged.close();
      }
    },
  };
}

function toNotBegun({ name }: LocatedScript): Failed {
  const message = `${name} was stopped before it had begun.`;
  return toFailed("INTERRUPTED", { message, retryable: true, effect: "none" });
}

/** A step may ask for less than is configured, never for more. */
function toLimits(task: Task, { language, limits }: CodeInput, options: CodeOptions): SandboxLimits {
  const least = (name: keyof typeof limits) => Math.min(options[name], limits[name] ?? options[name]);
  const memoryBytes = least("memoryBytes");
  const isPython = language === "python";
  return {
    // The host aborts at the step's own time-out; this one only stands behind it.
    timeoutMs: task.timeoutMs === undefined ? options.timeoutMs : task.timeoutMs + 1_000,
    memoryBytes,
    maxOutputBytes: least("maxOutputBytes"),
    maxProcesses: least("maxProcesses") + (isPython ? 0 : THREADS_OF_NODE),
    ...(isPython ? { addressSpaceBytes: memoryBytes + ADDRESS_SPACE_BEYOND_MEMORY_BYTES } : {}),
  };
}

function toNoInterpreter(reason: string): Failed {
  const message = `Python cannot be asked where it lives (${reason}).`;
  return toRefused("INTERPRETER_MISSING", message);
}

function toUnshown(language: CodeInput["language"], reason: string): Failed {
  const setting = language === "python" ? "code.python" : "code.node_modules";
  const message = `The interpreter cannot be put into the sandbox: ${reason}. Set \`${setting}\` to a folder of its own.`;
  return toRefused("INTERPRETER_MISSING", message);
}

/** A program finds what is its own in its environment; a function is told with its input, so that its process may wait for that. */
function toInput(
  task: Task,
  { isProgram, env, value }: { readonly isProgram: boolean; readonly env: Command["env"]; readonly value: Json },
): Pick<SandboxSpec, "env" | "stdin"> {
  const own = { PAWL_IDEMPOTENCY_KEY: task.idempotencyKey, PAWL_RUN_ID: task.runId, PAWL_STEP: task.path };
  const stdin = writeExact(value);
  return isProgram ? { env: { ...env, ...own }, stdin } : { env, stdin: `${writeExact(own)}\n${stdin}` };
}

function logProgramOutput(log: ScriptLog, stdout: Buffer): void {
  const { log: printed } = readProgramOutput(stdout.toString("utf8"));
  if (printed !== "") log.write("stdout", Buffer.from(printed));
}

/** The output of a script as events, one for each line. Bounded: beyond that, one event says that there was more. */
interface ScriptLog {
  write(stream: "stdout" | "stderr", chunk: Buffer): void;
  warn(text: string): void;
  /** Lines that have no end yet. */
  close(): void;
}

const MAX_LINE_CHARS = 4_096;
const MAX_LINES = 2_000;

export function createScriptLog(emit: (event: Json) => void): ScriptLog {
  let lines = 0;
  const say = (type: "stdout" | "stderr", text: string) => {
    lines += 1;
    if (lines <= MAX_LINES) emit({ type, text });
    else if (lines === MAX_LINES + 1) emit({ type: "warning", text: `Only the first ${MAX_LINES} lines are kept.` });
  };
  const streams = {
    stdout: splitLines((line) => say("stdout", line)),
    stderr: splitLines((line) => say("stderr", line)),
  };
  return {
    write: (stream, chunk) => streams[stream].write(chunk),
    warn: (text) => emit({ type: "warning", text }),
    close() {
      streams.stdout.close();
      streams.stderr.close();
    },
  };
}

function splitLines(onLine: (line: string) => void): { write(chunk: Buffer): void; close(): void } {
  const decoder = new StringDecoder("utf8");
  let line = "";
  // A line may be as long as the whole output: of what is too long only the beginning is held.
  const hold = (text: string) => {
    if (line.length <= MAX_LINE_CHARS) line += text.slice(0, MAX_LINE_CHARS + 1);
  };
  const finish = () => {
    const text = line.replace(/\r$/, "");
    onLine(text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text);
    line = "";
  };
  return {
    write(chunk) {
      const [first = "", ...rest] = decoder.write(chunk).split("\n");
      hold(first);
      for (const part of rest) {
        finish();
        hold(part);
      }
    },
    close() {
      hold(decoder.end());
      if (line !== "") finish();
    },
  };
}
