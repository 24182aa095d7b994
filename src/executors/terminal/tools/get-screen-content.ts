import type { ContentMode } from "../../../ports/terminals/terminal-tools.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { lookAt, SESSION_NOT_FOUND, type ToolHandler } from "./tool-parts.ts";

export const getScreenContent: ToolHandler<"get_screen_content"> = async ({ gate, table }, request, call) => {
  const { session_id, content_mode = "screen" } = request;
  const line_count = request.line_count ?? null;
  gate.admit(call, { tool: "get_screen_content", session_id, content_mode, line_count });
  const session = table.find(session_id);
  const fail = (error: string) => ({ success: false, session_id, ...lookAt(session), screen_content: null, error });
  if (session === undefined) return fail(`${SESSION_NOT_FOUND}: there is no session '${session_id}'.`);
  if (line_count !== null && !(Number.isInteger(line_count) && line_count > 0)) {
    return fail("The line_count must be a whole number from 1 on.");
  }

  await session.flush();
  const { text, isTruncated } = readContent(session, content_mode, line_count);
  return {
    success: true,
    session_id,
    ...lookAt(session),
    screen_content: text,
    ...(isTruncated ? { truncated: true } : {}),
    error: null,
  };
};

interface Content {
  readonly text: string;
  readonly isTruncated?: boolean;
}

function readContent(session: TerminalSession, mode: ContentMode, lineCount: number | null): Content {
  const { screen } = session;
  switch (mode) {
    case "screen":
      return { text: screen.readScreen() };
    case "since_input":
      return session.readOutput();
    case "history":
      return { text: screen.readHistory() };
    case "tail":
      return { text: lineCount === null ? screen.readScreen() : screen.readTail(lineCount) };
  }
}
