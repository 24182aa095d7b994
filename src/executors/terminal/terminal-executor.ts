import { isPawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { REDACTED } from "../../core/trust/secret-names.ts";
import type { EndedRun, Executor, Failed, Outcome, Task } from "../../ports/executor.ts";
import { readRequest } from "../../ports/terminals/terminal-tools.ts";
import { toFailed, toRefused } from "../output/failure.ts";
import { untilAborted } from "../until-aborted.ts";
import type { TerminalSession } from "./session/terminal-session.ts";
import type { TerminalSessions } from "./terminal-sessions.ts";
import type { ToolCall } from "./tools/gate.ts";
import { hideTyped } from "./tools/send-input.ts";

export type Terminals = Pick<TerminalSessions, "call" | "find" | "exitOwned">;

export interface RunRecordings {
  used(session: TerminalSession, runId: string): void;
  runEnded(runId: string): Promise<void>;
}

/**
 * Does the states of terminal workflows. The input is `{tool, params}` with one of the six tools and its parameters as on the
 * wire; the output is the tool's result, whatever it says: a refusal, or a session that does not exist, is
 * `{success: false, error, error_code?}` and no failure, so that a transition can answer it.
 *
 * A session belongs to the run at the root, whichever workflow of the run opened it. When that run ends it is closed, unless
 * the run has succeeded and was not started with `keep_sessions: false`.
 *
 * After a crash every attempt but `send_input` is simply made again: its steps are marked `atMostOnce`, for it is unknown
 * how much of the text was typed, and end as `INTERRUPTED`. A session lives in its process: where that is gone, states that
 * use the session fail with `SESSION_LOST`.
 */
export function createTerminalExecutor(terminals: Terminals, recordings?: RunRecordings): Executor<Outcome> {
  return new TerminalExecutor(terminals, recordings);
}

class TerminalExecutor implements Executor {
  readonly recordsInput = true;
  readonly #terminals: Terminals;
  readonly #recordings: RunRecordings | undefined;
  /** Sessions that began here, each with its tenant; one of them that is gone was closed, and is not lost. */
  readonly #opened = new Set<string>();

  constructor(terminals: Terminals, recordings: RunRecordings | undefined) {
    this.#terminals = terminals;
    this.#recordings = recordings;
  }

  async run(task: Task, signal: AbortSignal): Promise<Outcome> {
    const { runId, path: stepPath, tenantId, reach } = task;
    const call: ToolCall = { signal, isInternal: true, owner: runId, stepPath, tenantId, reach };
    try {
      // A tool may be at a point where it does not look at the signal.
      return await untilAborted(this.#call(task, call), signal);
    } catch (error) {
      if (signal.aborted) return toStopped(task);
      if (!isPawlError(error)) throw error;
      return succeeded({ success: false, error: error.message, error_code: error.code });
    }
  }

  async toRecorded({ input, tenantId }: Task): Promise<Json> {
    const { tool, params } = readInput(input);
    const { session_id: id } = params;
    const hide = tool === "send_input" ? hideTyped : tool === "run_command" ? hideCommand : undefined;
    if (hide === undefined || typeof id !== "string" || !isJsonObject(input)) return input;
    const isHidden = await this.#terminals.find(id, tenantId)?.asksHidden();
    return isHidden === true ? { ...input, params: hide(params) } : input;
  }

  async runEnded({ runId, status, options }: EndedRun): Promise<void> {
    await this.#recordings?.runEnded(runId);
    const hasSucceeded = status === "completed" || status === "partial";
    if (hasSucceeded && options["keep_sessions"] !== false) return;
    await this.#terminals.exitOwned(runId);
  }

  async #call(task: Task, call: ToolCall): Promise<Outcome> {
    const { tool, params } = readInput(task.input);
    const read = readRequest(tool, params);
    if ("problem" in read) return succeeded({ success: false, error: read.problem });
    const { input } = read;
    const sessionId = "session_id" in input ? input.session_id : undefined;
    if (sessionId != null && read.tool !== "exit_terminal") {
      if (this.#isLost(sessionId, task)) return toLost(sessionId);
      this.#noteUse(read.tool, sessionId, task);
    }
    const result = await this.#terminals.call(read.tool, input, call);
    if (OPENING.includes(read.tool) && "session_id" in result) this.#opened.add(toKey(result.session_id, task));
    return succeeded(result);
  }

  #noteUse(tool: string, sessionId: string, task: Task): void {
    const { runId, tenantId } = task;
    const session = this.#terminals.find(sessionId, tenantId);
    if (session === undefined) return;
    // Another process may have opened it.
    this.#opened.add(toKey(sessionId, task));
    if (TYPING.includes(tool) || session.facts.owner === runId) this.#recordings?.used(session, runId);
  }

  #isLost(sessionId: string, task: Task): boolean {
    const isOurs = /^session_[0-9a-f]{8}$/.test(sessionId);
    const isKnown = this.#opened.has(toKey(sessionId, task));
    return isOurs && !isKnown && this.#terminals.find(sessionId, task.tenantId) === undefined;
  }
}

const TYPING = ["send_input", "run_command"];
const OPENING = ["open_terminal", "run_command"];

function hideCommand(params: JsonObject): JsonObject {
  return { ...params, command: REDACTED };
}

function toKey(sessionId: string, { tenantId = "" }: Task): string {
  return `${tenantId} ${sessionId}`;
}

function readInput(input: Json): { readonly tool: string; readonly params: JsonObject } {
  const { tool, params } = isJsonObject(input) ? input : {};
  return { tool: typeof tool === "string" ? tool : "", params: isJsonObject(params) ? params : {} };
}

function succeeded(output: JsonObject): Outcome {
  return { status: "succeeded", output, costMicro: 0 };
}

function toStopped({ path }: Task): Failed {
  const message = `"${path}" was stopped before its terminal had answered.`;
  return { ...toFailed("INTERRUPTED", { message, retryable: true, effect: "unknown" }), costMicro: 0 };
}

function toLost(sessionId: string): Failed {
  const message = `The session ${sessionId} is gone: the process that held it has ended.`;
  return toRefused("SESSION_LOST", message);
}
