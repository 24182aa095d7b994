import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import { toFailed, toRefused } from "../output/failure.ts";
import type { ForcedEnding, SandboxLimits, SandboxResult } from "../sandbox/sandbox.ts";
import type { Convention } from "./choose-convention.ts";
import { type Exception, findException, readProgramOutput, readReport } from "./script-answer.ts";

export interface Call {
  readonly script: string;
  readonly convention: Convention;
  /** The name that the step gives. */
  readonly function: string | undefined;
  readonly limits: SandboxLimits;
  /** Puts the application's folder in the place of a copy. */
  toOriginal(text: string): string;
}

const TAIL_CHARS = 8_000;

/** Turns the end of a process into the outcome of a step. Code costs nothing that is counted in money. */
export function toOutcome(result: SandboxResult, call: Call): Outcome {
  const { durationMs, maxRssBytes, kind } = result;
  const usage = {
    duration_ms: Math.round(durationMs),
    ...(maxRssBytes === undefined ? {} : { max_rss_bytes: maxRssBytes }),
    sandbox: kind,
  };
  return { ...new EndedCall(result, call).judge(), usage };
}

interface FailureFacts {
  readonly exception?: Exception;
  readonly retryable?: boolean;
  readonly more?: JsonObject;
}

class EndedCall {
  readonly #result: SandboxResult;
  readonly #call: Call;

  constructor(result: SandboxResult, call: Call) {
    this.#result = result;
    this.#call = call;
  }

  judge(): Outcome {
    const { ending } = this.#result;
    if (ending.type !== "exited" && ending.type !== "killed") return this.#toStopped(ending);
    return this.#call.convention.kind === "function" ? this.#judgeFunction() : this.#judgeProgram();
  }

  #toStopped(ending: ForcedEnding): Failed {
    const { limits, script } = this.#call;
    const mebibytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;
    switch (ending.type) {
      case "timedOut":
        return this.#fail("TIMEOUT", `${script} took longer than ${limits.timeoutMs / 1000} s.`);
      case "aborted":
        return this.#fail("INTERRUPTED", `${script} was stopped before it had ended.`);
      case "outOfMemory":
        return this.#toOutOfMemory(`more than ${mebibytes(limits.memoryBytes)}`);
      case "tooManyProcesses":
        return this.#toTooMany(`more than ${limits.maxProcesses} processes and threads`);
      case "outputTooLarge": {
        const what = ending.stream === "result" ? "returned" : `wrote to ${ending.stream}`;
        const message = `${script} ${what} more than ${mebibytes(limits.maxOutputBytes)}.`;
        return this.#fail("CODE_OUTPUT_TOO_LARGE", message, { retryable: false });
      }
      case "notStarted": {
        const message = `${script} could not be started: ${ending.reason}`;
        return toFailed("CODE_FAILED", { message, retryable: true, effect: "none" });
      }
      case "refused":
        return toRefused(
          "SANDBOX_MISSING",
          `There is no sandbox to run ${script} in (${ending.reason}). ${ending.remedy}`,
        );
    }
  }

  #judgeFunction(): Outcome {
    const report = readReport(this.#result.result);
    switch (report.kind) {
      case "returned":
        return { status: "succeeded", output: report.result, costMicro: 0 };
      case "invalid":
        return this.#fail("CODE_RESULT_INVALID", `${this.#name} returned no JSON: ${report.message}.`);
      case "raised":
      case "unreadable":
        return this.#toRaised(report.exception);
      case "silent":
        return this.#hasExitedWell
          ? this.#fail("CODE_RESULT_INVALID", `${this.#name} never returned: the process ended first.`)
          : this.#toBroken();
    }
  }

  #judgeProgram(): Outcome {
    const { stdout } = this.#result;
    const { result: output, flaw } = readProgramOutput(stdout.toString("utf8"));
    if (!this.#hasExitedWell) return this.#toBroken(output === undefined ? {} : { output });
    if (output !== undefined) return { status: "succeeded", output, costMicro: 0 };
    const { script, function: name } = this.#call;
    if (flaw !== undefined) return this.#fail("CODE_RESULT_INVALID", `${script} wrote JSON that ${flaw}.`);
    // A misspelt name is the likeliest reason why a file of functions is taken for a program.
    const why = name === undefined ? "" : `: it reads standard input, or has no function \`${name}\` at its top level`;
    const written = stdout.length === 0 ? "nothing" : "no JSON";
    const message = `${script} wrote ${written} to standard output. It was run as a program, which answers with JSON there${why}.`;
    return this.#fail("CODE_RESULT_INVALID", message);
  }

  get #hasExitedWell(): boolean {
    const { ending } = this.#result;
    return ending.type === "exited" && ending.code === 0;
  }

  get #name(): string {
    const { script, convention } = this.#call;
    const isNamed = convention.kind === "function" && convention.name !== "default";
    return isNamed ? `\`${convention.name}\` in ${script}` : script;
  }

  /** The process ended badly and its runner, if it had one, has not said why. */
  #toBroken(more: JsonObject = {}): Failed {
    const { ending, stderr } = this.#result;
    const errors = stderr.toString("utf8");
    if (/JavaScript heap out of memory/.test(errors)) return this.#toOutOfMemory("more than its heap", { more });
    const exception = findException(errors);
    if (exception !== undefined) return this.#toRaised(exception, more);
    const exitCode = ending.type === "exited" ? ending.code : 1;
    const how = ending.type === "killed" ? `was killed by ${ending.signal}` : `ended with exit code ${exitCode}`;
    const last = errors.trim().split("\n").at(-1) ?? "";
    const said = last === "" ? "." : `: ${last.slice(0, 500)}`;
    const failed = this.#fail("CODE_FAILED", `${this.#call.script} ${how}${said}`, { more });
    const wasKilled = ending.type === "killed" && FROM_OUTSIDE.has(ending.signal);
    return wasKilled ? { ...failed, workerDied: true } : failed;
  }

  #toRaised(exception: Exception, more: JsonObject = {}): Failed {
    const { type, message } = exception;
    const said = message === "" ? type : `${type}: ${message.slice(0, 2_000)}`;
    const facts = { exception, more };
    if (type === "MemoryError") return this.#toOutOfMemory(`more than it may have (${said})`, facts);
    if (REFUSED_PROCESS.test(message))
      return this.#toTooMany(`more processes or threads than it may have (${said})`, facts);
    return this.#fail("CODE_FAILED", `${this.#name} failed with ${said}${explain(exception)}`, facts);
  }

  #toOutOfMemory(what: string, facts: FailureFacts = {}): Failed {
    return this.#fail("CODE_OUT_OF_MEMORY", `${this.#call.script} needed ${what} of memory.`, facts);
  }

  #toTooMany(what: string, facts: FailureFacts = {}): Failed {
    return this.#fail("CODE_TOO_MANY_PROCESSES", `${this.#call.script} wanted ${what}.`, facts);
  }

  /** The effects of a script that has begun are unknown. */
  #fail(code: ErrorCode, message: string, facts: FailureFacts = {}): Failed {
    const { convention, toOriginal } = this.#call;
    const report = convention.kind === "function" ? readReport(this.#result.result) : undefined;
    const isUntouched = report?.kind === "unreadable" || (report?.kind === "silent" && !report.hasStarted);
    return toFailed(code, {
      message: toOriginal(message),
      retryable: facts.retryable ?? true,
      effect: isUntouched ? "none" : "unknown",
      costMicro: 0,
      details: this.#toDetails(facts),
    });
  }

  #toDetails({ exception, more }: FailureFacts): JsonObject {
    const { ending, stderr } = this.#result;
    const tail = (text: string) => {
      const said = this.#call.toOriginal(text);
      return said.length > TAIL_CHARS ? `…${said.slice(-TAIL_CHARS)}` : said;
    };
    const errors = tail(stderr.toString("utf8"));
    return {
      ...(ending.type === "exited" ? { exit_code: ending.code } : {}),
      ...(ending.type === "killed" ? { signal: ending.signal } : {}),
      ...(exception === undefined ? {} : { exception: exception.type, traceback: tail(exception.traceback) }),
      ...(exception?.cause === undefined ? {} : { cause: exception.cause }),
      ...(errors === "" ? {} : { stderr: errors }),
      ...more,
    };
  }
}

// Other signals are what a program brings upon itself, e.g. by reading where nothing is.
const FROM_OUTSIDE: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

// Messages of languages when the system refuses another process or thread.
const REFUSED_PROCESS = /\[Errno 11\] Resource temporarily unavailable|can't start new thread|\bspawn\w* .*EAGAIN/;

function explain({ code, cause }: Exception): string {
  if (isJsonObject(cause)) return `, caused by ${cause["type"]}: ${String(cause["message"]).slice(0, 500)}`;
  if (code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return "";
  return ". Types are taken out, nothing is compiled: write no enum, no namespace with code and no parameter property.";
}
