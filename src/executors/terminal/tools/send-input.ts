import { KEY_NAMES, toKeyInput } from "../input/key-names.ts";
import { translateEscapes } from "../input/translate-escapes.ts";
import { settle } from "../session/settle.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { SendInputRequest, SendInputResult, ToolCall } from "../tool-types.ts";
import { SESSION_NOT_FOUND, toProcessFields } from "./process-fields.ts";
import type { ToolParts } from "./tool-parts.ts";

const SETTLING = { graceMs: 250, maxMs: 1_000 };

export async function sendInput(parts: ToolParts, request: SendInputRequest, call: ToolCall): Promise<SendInputResult> {
  const session = parts.table.find(request.session_id);
  const { input, error } = toInput(request, session);
  admit(parts, { request, session, input, call });
  if (session === undefined) return toFailure(request, { message: SESSION_NOT_FOUND, error });
  const problem = error ?? findProblem(session);
  if (problem !== null) return toFailure(request, { message: "Failed to send input", error: problem, session });

  await session.type(input);
  await settle(session, { ...SETTLING, expectsAnswer: /[\r\n]/.test(input), signal: call.signal });
  return {
    success: true,
    session_id: request.session_id,
    message: `Input sent successfully: '${request.input_text}'`,
    screen_content: session.screen.readScreen(),
    timestamp: new Date().toISOString(),
    ...toProcessFields(session),
    error: null,
  };
}

interface Input {
  readonly input: string;
  readonly error: string | null;
}

function toInput({ session_id, input_text, keys }: SendInputRequest, session: TerminalSession | undefined): Input {
  const text = translateEscapes(input_text);
  if (session === undefined) return { input: text, error: `There is no session '${session_id}'.` };
  const pressed = (keys ?? []).map((name) => ({ name, sent: toKeyInput(name, session.screen.wantsApplicationKeys) }));
  const unknown = pressed.find(({ sent }) => sent === undefined);
  const error = unknown ? `No key is called '${unknown.name}'. There are ${KEY_NAMES.join(", ")}.` : null;
  return { input: text + pressed.map(({ sent = "" }) => sent).join(""), error };
}

interface Sending {
  readonly request: SendInputRequest;
  readonly session: TerminalSession | undefined;
  readonly input: string;
  readonly call: ToolCall;
}

function admit({ gate, policy }: ToolParts, { request, session, input, call }: Sending): void {
  const { session_id, input_text, keys } = request;
  const facts = { tool: "send_input", session_id, input_text, keys: keys ?? [] };
  gate.admit(call, facts, () => {
    if (session === undefined) return;
    const shown = session.screen.readCursorLine();
    policy.checkTyping({ input, length: input_text.length, begun: session.typedLine, shown });
  });
}

function findProblem(session: TerminalSession): string | null {
  if (!session.isRunning) return "The program has ended.";
  return session.isClogged ? "The program does not read its input." : null;
}

interface Failure {
  readonly message: string;
  readonly error: string | null;
  readonly session?: TerminalSession;
}

function toFailure({ session_id }: SendInputRequest, { message, error, session }: Failure): SendInputResult {
  return {
    success: false,
    session_id,
    message,
    screen_content: session?.screen.readScreen() ?? null,
    timestamp: new Date().toISOString(),
    ...(session === undefined ? { process_running: false } : toProcessFields(session)),
    error,
  };
}
