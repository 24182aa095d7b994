import type { Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { Exception } from "./read-report.ts";

/** A program's result, and what it printed beside it. `undefined`: none of it is JSON. */
export interface ProgramOutput {
  readonly result: Json | undefined;
  readonly log: string;
}

/** The whole of standard output if that is JSON, else its last line that is not empty. */
export function readProgramOutput(stdout: string): ProgramOutput {
  const whole = parseJson(stdout);
  if (whole !== undefined) return { result: whole, log: "" };
  const end = stdout.trimEnd().length;
  const lineStart = stdout.lastIndexOf("\n", end - 1) + 1;
  const result = parseJson(stdout.slice(lineStart, end));
  return result === undefined ? { result, log: stdout } : { result, log: stdout.slice(0, lineStart) };
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
