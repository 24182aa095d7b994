import { isPawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { EndedRun, Executor, Failed, Outcome, Task } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import { readRequest } from "./read-request.ts";
import type { TerminalSession } from "./session/terminal-session.ts";
import type {
  AwaitOutputRequest,
  AwaitOutputResult,
  ExitTerminalRequest,
  ExitTerminalResult,
  GetScreenContentRequest,
  GetScreenContentResult,
  ListTerminalSessionsResult,
  OpenTerminalRequest,
  OpenTerminalResult,
  SendInputRequest,
  SendInputResult,
  ToolCall,
} from "./tool-types.ts";

/** What workflows need of the terminals of this process. */
export interface Terminals {
  openTerminal(request: OpenTerminalRequest, call: ToolCall): Promise<OpenTerminalResult>;
  sendInput(request: SendInputRequest, call: ToolCall): Promise<SendInputResult>;
  awaitOutput(request: AwaitOutputRequest, call: ToolCall): Promise<AwaitOutputResult>;
  getScreenContent(request: GetScreenContentRequest, call: ToolCall): Promise<GetScreenContentResult>;
  listTerminalSessions(call: ToolCall): Promise<ListTerminalSessionsResult>;
  exitTerminal(request: ExitTerminalRequest, call: ToolCall): Promise<ExitTerminalResult>;
  find(sessionId: string): TerminalSession | undefined;
  exitOwned(owner: string): Promise<void>;
}

/** Who keeps what the sessions of a run show. */
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
 * After a crash every attempt but `send_input` is simply made again: its steps are marked `atMostOnce`, for nobody knows
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
  /** Sessions that began here; one of them that is gone was closed, and is not lost. */
  readonly #opened = new Set<string>();

  constructor(terminals: Terminals, recordings: RunRecordings | undefined) {
    this.#terminals = terminals;
    this.#recordings = recordings;
  }

  async run(task: Task, signal: AbortSignal): Promise<Outcome> {
    try {
      return await Promise.race([
        this.#call(task, { signal, isInternal: true, owner: task.runId }),
        untilAborted(signal),
      ]);
    } catch (error) {
      if (signal.aborted) return toStopped(task);
      if (!isPawlError(error)) throw error;
      return succeeded({ success: false, error: error.message, error_code: error.code });
    }
  }

  async runEnded({ runId, status, options }: EndedRun): Promise<void> {
    await this.#recordings?.runEnded(runId);
    const hasSucceeded = status === "completed" || status === "partial";
    if (hasSucceeded && options["keep_sessions"] !== false) return;
    await this.#terminals.exitOwned(runId);
  }

  async #call(task: Task, call: ToolCall): Promise<Outcome> {
    const { tool, params } = readInput(task.input);
    const request = readRequest(tool, params);
    if ("problem" in request) return succeeded({ success: false, error: request.problem });
    switch (request.tool) {
      case "open_terminal": {
        const opened = await this.#terminals.openTerminal(request.request, call);
        if (opened.success) this.#opened.add(opened.session_id);
        return succeeded({ ...opened });
      }
      case "list_terminal_sessions":
        return succeeded(toJsonResult(await this.#terminals.listTerminalSessions(call)));
      case "exit_terminal":
        return succeeded({ ...(await this.#terminals.exitTerminal(request.request, call)) });
      case "send_input":
      case "await_output":
      case "get_screen_content": {
        const { session_id: id } = request.request;
        if (this.#isLost(id)) return toLost(id);
        this.#noteUse(request.tool, id, task);
        return succeeded(await this.#useSession(request, call));
      }
    }
  }

  async #useSession(request: SessionRequest, call: ToolCall): Promise<JsonObject> {
    switch (request.tool) {
      case "send_input":
        return { ...(await this.#terminals.sendInput(request.request, call)) };
      case "await_output":
        return { ...(await this.#terminals.awaitOutput(request.request, call)) };
      case "get_screen_content":
        return { ...(await this.#terminals.getScreenContent(request.request, call)) };
    }
  }

  #noteUse(tool: string, sessionId: string, { runId }: Task): void {
    const session = this.#terminals.find(sessionId);
    if (session === undefined) return;
    // One that another process has opened and this one has taken up.
    this.#opened.add(sessionId);
    if (tool === "send_input" || session.facts.owner === runId) this.#recordings?.used(session, runId);
  }

  #isLost(sessionId: string): boolean {
    const isOurs = /^session_[0-9a-f]{8}$/.test(sessionId);
    return isOurs && !this.#opened.has(sessionId) && this.#terminals.find(sessionId) === undefined;
  }
}

/** A tool may be where it does not hear of it. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new Error("The attempt was stopped."));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

type SessionRequest = Extract<
  ReturnType<typeof readRequest>,
  { readonly tool: "send_input" | "await_output" | "get_screen_content" }
>;

function readInput(input: Json): { readonly tool: string; readonly params: JsonObject } {
  const { tool, params } = isJsonObject(input) ? input : {};
  return { tool: typeof tool === "string" ? tool : "", params: isJsonObject(params) ? params : {} };
}

function succeeded(output: JsonObject): Outcome {
  return { status: "succeeded", output, costMicro: 0 };
}

function toJsonResult({ success, sessions, total_sessions }: ListTerminalSessionsResult): JsonObject {
  return { success, sessions: sessions.map((session) => ({ ...session })), total_sessions };
}

function toStopped({ path }: Task): Failed {
  const message = `"${path}" was stopped before its terminal had answered.`;
  return { ...toFailed("INTERRUPTED", { message, retryable: true, effect: "unknown" }), costMicro: 0 };
}

function toLost(sessionId: string): Failed {
  const message = `The session ${sessionId} is gone: the process that held it has ended.`;
  return toFailed("SESSION_LOST", { message, retryable: false, effect: "none" });
}
