import { isJsonObject, type Json } from "../../core/json.ts";
import { readJson } from "../../core/parse-json.ts";

/** A program's result, and what it printed beside it. `undefined`: none of it is JSON, or it is some with a flaw. */
export interface ProgramOutput {
  readonly result: Json | undefined;
  readonly log: string;
  /** The end of a sentence. */
  readonly flaw?: string;
}

/** The whole of standard output if that is JSON, else its last line that is not empty. */
export function readProgramOutput(stdout: string): ProgramOutput {
  const end = stdout.trimEnd().length;
  const lineStart = stdout.lastIndexOf("\n", end - 1) + 1;
  for (const start of [0, lineStart]) {
    const read = readJson(stdout.slice(start, start === 0 ? undefined : end));
    if (read.ok) return { result: read.value, log: stdout.slice(0, start) };
    if (read.isJson) return { result: undefined, log: stdout.slice(0, start), flaw: read.flaw };
  }
  return { result: undefined, log: stdout };
}

const MAX_SEARCHED_CHARS = 64 * 1024;
// The last line of a Python traceback, or the first of a stack trace of Node.
const PYTHON_EXCEPTION = /^Traceback \(most recent call last\):\n(?:(?: .*)?\n)*([\w.]+)(?::[ ]?(.*))?$/gm;
const NODE_EXCEPTION = /^(?:Uncaught )?(\w*(?:Error|Exception))(?: \[(\w+)\])?: (.*)\n\s+at /m;

/** The exception that ended a program, as far as its error output tells. */
export function findException(errors: string): Exception | undefined {
  const stderr = errors.slice(-MAX_SEARCHED_CHARS);
  const inPython = [...stderr.matchAll(PYTHON_EXCEPTION)].at(-1);
  if (inPython !== undefined) {
    const [traceback, type = "", message = ""] = inPython;
    return { type, message, traceback };
  }
  const inNode = NODE_EXCEPTION.exec(stderr);
  if (inNode === null) return undefined;
  const [, type = "", code, message = ""] = inNode;
  return { type, message, traceback: stderr.slice(inNode.index), code };
}

/** The report of a runner on its own channel. */
type Report =
  | { readonly kind: "returned"; readonly result: Json }
  /** The returned value is no JSON. */
  | { readonly kind: "invalid"; readonly message: string }
  | { readonly kind: "raised"; readonly exception: Exception }
  /** The script cannot be read; nothing of it has run. */
  | { readonly kind: "unreadable"; readonly exception: Exception }
  /** The process ended before the function did. */
  | { readonly kind: "silent"; readonly hasStarted: boolean };

export interface Exception {
  readonly type: string;
  readonly message: string;
  readonly traceback: string;
  readonly code?: string;
  /** What has led to it, as the language says it. */
  readonly cause?: Json;
}

const STARTED = "started\n";
/** A runner writes it when nothing of the script is left to do. */
export const END_OF_REPORT = "\0";

export function readReport(channel: Buffer): Report {
  const text = channel.toString("utf8");
  const hasStarted = text.startsWith(STARTED);
  const said = (hasStarted ? text.slice(STARTED.length) : text).replace(END_OF_REPORT, "");
  if (said === "") return { kind: "silent", hasStarted };
  const read = readJson(said);
  const report = read.ok ? read.value : undefined;
  if (!isJsonObject(report)) return { kind: "invalid", message: `the result ${read.ok ? "is cut off" : read.flaw}` };
  const { ok, result, message } = report;
  if (ok === true) return { kind: "returned", result: result ?? null };
  if (report["kind"] === "invalid") return { kind: "invalid", message: String(message) };
  return { kind: report["kind"] === "syntax" ? "unreadable" : "raised", exception: toException(report) };
}

function toException({ type, message, traceback, code, cause }: { readonly [key: string]: Json }): Exception {
  return {
    type: String(type),
    message: String(message),
    traceback: String(traceback),
    ...(typeof code === "string" ? { code } : {}),
    ...(cause === undefined ? {} : { cause }),
  };
}
