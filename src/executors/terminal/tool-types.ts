import type { SessionState } from "./session/terminal-session.ts";

/** What the six terminal tools take and give, field by field as on the wire. */

export interface OpenTerminalRequest {
  /** A program and its arguments. */
  readonly shell?: string | undefined;
  readonly working_directory?: string | null | undefined;
  readonly environment?: Readonly<Record<string, string>> | null | undefined;
}

export interface OpenTerminalResult {
  readonly success: boolean;
  readonly session_id: string;
  readonly shell: string;
  readonly web_url: string | null;
  readonly screen_content: string | null;
  readonly timestamp: string;
  readonly error: string | null;
}

export interface SendInputRequest {
  readonly session_id: string;
  /** Nothing is appended: a line ends with `\n`. */
  readonly input_text: string;
  /** Keys by name, pressed after the text. */
  readonly keys?: readonly string[] | null | undefined;
}

export interface SendInputResult extends ProcessFields {
  readonly success: boolean;
  readonly session_id: string;
  readonly message: string;
  readonly screen_content: string | null;
  readonly timestamp: string;
  readonly error: string | null;
}

export interface AwaitOutputRequest {
  readonly session_id: string;
  readonly pattern: string;
  /** In seconds. */
  readonly timeout?: number | undefined;
}

export interface AwaitOutputResult extends ProcessFields {
  /** Also when the time was over: only `match_text` tells. */
  readonly success: boolean;
  readonly match_text: string | null;
  readonly timed_out: boolean;
  readonly screen_content: string | null;
  /** In seconds. */
  readonly elapsed_time: number;
  readonly timestamp: string;
  readonly error: string | null;
}

export type ContentMode = "screen" | "since_input" | "history" | "tail";

export interface GetScreenContentRequest {
  readonly session_id: string;
  readonly content_mode?: ContentMode | undefined;
  /** For `tail`. */
  readonly line_count?: number | null | undefined;
}

export interface GetScreenContentResult extends ProcessFields {
  readonly success: boolean;
  readonly session_id: string;
  readonly screen_content: string | null;
  /** Present where the beginning of the output since the last input is no longer kept. */
  readonly truncated?: true;
  readonly timestamp: string;
  readonly error: string | null;
}

export interface ListTerminalSessionsResult {
  readonly success: boolean;
  readonly sessions: readonly ListedSession[];
  readonly total_sessions: number;
}

export interface ListedSession {
  readonly session_id: string;
  readonly command: string;
  readonly state: SessionState;
  readonly created_at: string;
  readonly last_activity: string;
  readonly web_url: string | null;
  readonly exit_code?: number | null;
}

export interface ExitTerminalRequest {
  readonly session_id: string;
}

export interface ExitTerminalResult {
  readonly success: boolean;
  readonly session_id: string;
  readonly message: string;
}

export interface ProcessFields {
  readonly process_running: boolean;
  /** Present when the program has ended; null where nobody knows how. */
  readonly exit_code?: number | null;
}

/** Who calls a tool, and how the call may be broken off. */
export interface ToolCall {
  readonly signal?: AbortSignal;
  /** By a workflow: it has limits of its own and does not count against the calls of a minute. */
  readonly isInternal?: boolean;
  /** Whose session it will be, for `exitOwned`. */
  readonly owner?: string;
}
