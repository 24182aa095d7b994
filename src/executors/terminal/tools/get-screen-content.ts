import type { TerminalSession } from "../session/terminal-session.ts";
import type { ContentMode, GetScreenContentRequest, GetScreenContentResult, ToolCall } from "../tool-types.ts";
import { SESSION_NOT_FOUND, toProcessFields } from "./process-fields.ts";
import type { ToolParts } from "./tool-parts.ts";

const MODES: readonly ContentMode[] = ["screen", "since_input", "history", "tail"];

export async function getScreenContent(
  { gate, table }: ToolParts,
  request: GetScreenContentRequest,
  call: ToolCall,
): Promise<GetScreenContentResult> {
  const { session_id, content_mode = "screen" } = request;
  const line_count = request.line_count ?? null;
  gate.admit(call, { tool: "get_screen_content", session_id, content_mode, line_count });
  const session = table.find(session_id);
  if (session === undefined) return toFailure(session_id, `${SESSION_NOT_FOUND}: there is no session '${session_id}'.`);
  const problem = findProblem(content_mode, line_count);
  if (problem !== undefined) return { ...toFailure(session_id, problem), ...toProcessFields(session) };

  await session.flush();
  const { text, isTruncated } = readContent(session, content_mode, line_count);
  return {
    success: true,
    session_id,
    ...toProcessFields(session),
    screen_content: text,
    ...(isTruncated ? { truncated: true } : {}),
    timestamp: new Date().toISOString(),
    error: null,
  };
}

function findProblem(mode: ContentMode, lineCount: number | null): string | undefined {
  if (!MODES.includes(mode)) return `The content_mode must be one of ${MODES.join(", ")}.`;
  const isCount = lineCount === null || (Number.isInteger(lineCount) && lineCount > 0);
  return isCount ? undefined : "The line_count must be a whole number from 1 on.";
}

interface Content {
  readonly text: string;
  readonly isTruncated: boolean;
}

function readContent(session: TerminalSession, mode: ContentMode, lineCount: number | null): Content {
  const { screen } = session;
  switch (mode) {
    case "screen":
      return { text: screen.readScreen(), isTruncated: false };
    case "since_input":
      return session.readOutput();
    case "history":
      return { text: screen.readHistory(), isTruncated: false };
    case "tail":
      return { text: lineCount === null ? screen.readScreen() : screen.readTail(lineCount), isTruncated: false };
  }
}

function toFailure(sessionId: string, error: string): GetScreenContentResult {
  return {
    success: false,
    session_id: sessionId,
    process_running: false,
    screen_content: null,
    timestamp: new Date().toISOString(),
    error,
  };
}
