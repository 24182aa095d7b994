import { PawlError } from "../core/errors/pawl-error.ts";
import type { JsonObject } from "../core/json.ts";
import { readRequest } from "../executors/terminal/read-request.ts";
import type { Terminals } from "../executors/terminal/terminal-executor.ts";
import type { ToolCall } from "../executors/terminal/tool-types.ts";

/** One of the six tools by its name. Throws `REQUEST_INVALID`, `TERMINAL_REFUSED`, and the signal's reason. */
export async function callTerminalTool(
  terminals: Terminals,
  { tool, params }: { readonly tool: string; readonly params: JsonObject },
  call: ToolCall,
): Promise<JsonObject> {
  const request = readRequest(tool, params);
  if ("problem" in request) {
    throw new PawlError("REQUEST_INVALID", {
      message: request.problem,
      remedy: `Call \`${tool}\` again with the parameters that its schema names.`,
    });
  }
  switch (request.tool) {
    case "open_terminal":
      return { ...(await terminals.openTerminal(request.request, call)) };
    case "send_input":
      return { ...(await terminals.sendInput(request.request, call)) };
    case "await_output":
      return { ...(await terminals.awaitOutput(request.request, call)) };
    case "get_screen_content":
      return { ...(await terminals.getScreenContent(request.request, call)) };
    case "list_terminal_sessions": {
      const { sessions, ...rest } = await terminals.listTerminalSessions(call);
      return { ...rest, sessions: sessions.map((session) => ({ ...session })) };
    }
    case "exit_terminal":
      return { ...(await terminals.exitTerminal(request.request, call)) };
  }
}
