import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import type { Ending, ForcedEnding, SandboxLimits, SandboxResult } from "../sandbox/sandbox.ts";
import type { Convention } from "./choose-convention.ts";
import { findException, readProgramOutput } from "./read-program-output.ts";
import { type Exception, readReport } from "./read-report.ts";

export interface Call {
  readonly script: string;
  readonly convention: Convention;
  /** As the step names it. */
  readonly function: string | undefined;
  readonly limits: SandboxLimits;
  /** Puts the application's folder in the place of a copy. */
  toOriginal(text: string): string;
}

const TAIL_CHARS = 8_000;

/** Turns the end of a process into the outcome of a step. Code costs nothing that is counted in money. */
export function toOutcome(result: SandboxResult, call: Call): Outcome {
  const { ending } = result;
  const usage = toUsage(result);
  if (ending.type !== "exited" && ending.type !== "killed") return { ...toStopped(ending, result, call), usage };
  const judged = call.convention.kind === "function" ? judgeFunction(result, call) : judgeProgram(result, call);
  return { ...judged, usage };
}

function toUsage({ durationMs, maxRssBytes, kind }: SandboxResult): JsonObject {
  return {
    duration_ms: Math.round(durationMs),
    ...(maxRssBytes === undefined ? {} : { max_rss_bytes: maxRssBytes }),
    sandbox: kind,
  };
}

function toStopped(ending: ForcedEnding, result: SandboxResult, call: Call): Failed {
  const { limits, script } = call;
  const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
  switch (ending.type) {
    case "timedOut":
      return stopped("TIMEOUT", `${script} took longer than ${limits.timeoutMs / 1000} s.`, { result, call });
    case "aborted":
      return stopped("INTERRUPTED", `${script} was stopped before it had ended.`, { result, call });
    case "outOfMemory":
      return toOutOfMemory(`more than ${mebibytes(limits.memoryBytes)}`, { result, call });
    case "tooManyProcesses":
      return toTooMany(`more than ${limits.maxProcesses} processes and threads`, { result, call });
    case "outputTooLarge": {
      const what = ending.stream === "result" ? "returned" : `wrote to ${ending.stream}`;
      const message = `${script} ${what} more than ${mebibytes(limits.maxOutputBytes)}.`;
      return stopped("CODE_OUTPUT_TOO_LARGE", message, { result, call, retryable: false });
    }
    case "notStarted":
      return toFailed("CODE_FAILED", {
        message: `${script} could not be started: ${ending.reason}`,
        retryable: true,
        effect: "none",
      });
    case "refused":
      return toFailed("SANDBOX_MISSING", {
        message: `There is no sandbox to run ${script} in (${ending.reason}).`,
        retryable: false,
        effect: "none",
      });
  }
}

interface Circumstances {
  readonly result: SandboxResult;
  readonly call: Call;
  readonly exception?: Exception | undefined;
  readonly retryable?: boolean;
  readonly more?: JsonObject;
}

/** The effects of a script that has begun are unknown. */
function stopped(code: ErrorCode, message: string, circumstances: Circumstances): Failed {
  const { result, call, retryable = true } = circumstances;
  const report = call.convention.kind === "function" ? readReport(result.result) : undefined;
  const isUntouched = report?.kind === "unreadable" || (report?.kind === "silent" && !report.hasStarted);
  return toFailed(code, {
    message: call.toOriginal(message),
    retryable,
    effect: isUntouched ? "none" : "unknown",
    costMicro: 0,
    details: toDetails(circumstances),
  });
}

function toDetails({ result, call, exception, more }: Circumstances): JsonObject {
  const { ending, stderr } = result;
  const errors = tail(call.toOriginal(stderr.toString("utf8")));
  return {
    ...(ending.type === "exited" ? { exit_code: ending.code } : {}),
    ...(ending.type === "killed" ? { signal: ending.signal } : {}),
    ...(exception === undefined ? {} : { exception: exception.type }),
    ...(exception === undefined ? {} : { traceback: tail(call.toOriginal(exception.traceback)) }),
    ...(errors === "" ? {} : { stderr: errors }),
    ...more,
  };
}

function tail(text: string): string {
  return text.length > TAIL_CHARS ? `…${text.slice(-TAIL_CHARS)}` : text;
}

function judgeFunction(result: SandboxResult, call: Call): Outcome {
  const report = readReport(result.result);
  switch (report.kind) {
    case "returned":
      return { status: "succeeded", output: report.result, costMicro: 0 };
    case "invalid":
      return toInvalid(`${nameOf(call)} returned no JSON: ${report.message}.`, { result, call });
    case "raised":
    case "unreadable":
      return toRaised(report.exception, { result, call });
    case "silent":
      return hasExitedWell(result)
        ? toInvalid(`${nameOf(call)} never returned: the process ended first.`, { result, call })
        : toBroken({ result, call });
  }
}

function judgeProgram(result: SandboxResult, call: Call): Outcome {
  const output = readProgramOutput(result.stdout.toString("utf8")).result;
  if (!hasExitedWell(result)) {
    return toBroken({ result, call, ...(output === undefined ? {} : { more: { output } }) });
  }
  if (output !== undefined) return { status: "succeeded", output, costMicro: 0 };
  const written = result.stdout.length === 0 ? "nothing" : "no JSON";
  const message = `${call.script} wrote ${written} to standard output.${explainConvention(call)}`;
  return toInvalid(message, { result, call });
}

/** A misspelt name is the likeliest reason why a file of functions is taken for a program. */
function explainConvention({ function: name }: Call): string {
  return name === undefined
    ? " It was run as a program, which answers with JSON there."
    : ` It was run as a program, which answers with JSON there: it reads standard input, or has no function \`${name}\` at its top level.`;
}

function hasExitedWell({ ending }: SandboxResult): boolean {
  return ending.type === "exited" && ending.code === 0;
}

function toInvalid(message: string, circumstances: Circumstances): Failed {
  return stopped("CODE_RESULT_INVALID", message, circumstances);
}

/** The process ended badly and its runner, if it had one, has not said why. */
function toBroken(circumstances: Circumstances): Failed {
  const { result, call } = circumstances;
  const errors = result.stderr.toString("utf8");
  if (/JavaScript heap out of memory/.test(errors)) return toOutOfMemory("more than its heap", circumstances);
  const exception = findException(errors);
  if (exception !== undefined) return toRaised(exception, circumstances);
  const { ending } = result;
  const how = ending.type === "killed" ? `was killed by ${ending.signal}` : `ended with exit code ${exitCode(ending)}`;
  const last = errors.trim().split("\n").at(-1) ?? "";
  return stopped("CODE_FAILED", `${call.script} ${how}${last === "" ? "." : `: ${last.slice(0, 500)}`}`, circumstances);
}

function exitCode(ending: Ending): number {
  return ending.type === "exited" ? ending.code : 1;
}

// Messages of languages when the system refuses another process or thread.
const REFUSED_PROCESS = /\[Errno 11\] Resource temporarily unavailable|can't start new thread|\bspawn\w* .*EAGAIN/;

function toRaised(exception: Exception, circumstances: Circumstances): Failed {
  const { type, message } = exception;
  const said = message === "" ? type : `${type}: ${message.slice(0, 2_000)}`;
  const known = { ...circumstances, exception };
  if (type === "MemoryError") return toOutOfMemory(`more than it may have (${said})`, known);
  if (REFUSED_PROCESS.test(message)) return toTooMany(`more processes or threads than it may have (${said})`, known);
  return stopped("CODE_FAILED", `${nameOf(circumstances.call)} failed with ${said}${explain(exception)}`, known);
}

function explain({ code }: Exception): string {
  if (code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return "";
  return ". Types are taken out, nothing is compiled: write no enum, no namespace with code and no parameter property.";
}

function toOutOfMemory(what: string, circumstances: Circumstances): Failed {
  return stopped("CODE_OUT_OF_MEMORY", `${circumstances.call.script} needed ${what} of memory.`, circumstances);
}

function toTooMany(what: string, circumstances: Circumstances): Failed {
  return stopped("CODE_TOO_MANY_PROCESSES", `${circumstances.call.script} wanted ${what}.`, circumstances);
}

function nameOf({ script, convention }: Call): string {
  return convention.kind === "function" && convention.name !== "default"
    ? `\`${convention.name}\` in ${script}`
    : script;
}
