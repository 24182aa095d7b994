import type { ToolInput } from "../../../ports/terminals/terminal-tools.ts";
import { KEY_NAMES, toKeyInput } from "../input/key-names.ts";
import { translateEscapes } from "../input/translate-escapes.ts";
import { settle } from "../session/settle.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { lookAt, SESSION_NOT_FOUND, type ToolHandler } from "./tool-parts.ts";

const SETTLING = { graceMs: 250, maxMs: 1_000 };

export const sendInput: ToolHandler<"send_input"> = async ({ table, gate, policy }, request, call) => {
  const { session_id, input_text, keys } = request;
  const session = table.find(session_id);
  const { input, error } = toInput(request, session);
  gate.admit(call, { tool: "send_input", session_id, input_text, keys: keys ?? [] }, () => {
    if (session === undefined) return;
    const shown = session.screen.readCursorLine();
    policy.checkTyping({
      input,
      length: input_text.length,
      begun: session.typedLine,
      shown,
      isSandboxed: session.facts.isSandboxed === true,
    });
  });
  const fail = (message: string, why: string | null) => ({
    success: false,
    session_id,
    message,
    ...lookAt(session),
    error: why,
  });
  if (session === undefined) return fail(SESSION_NOT_FOUND, error);
  const problem = error ?? findProblem(session);
  if (problem !== null) return fail("Failed to send input", problem);

  await session.type(input);
  await settle(session, { ...SETTLING, expectsAnswer: /[\r\n]/.test(input), signal: call.signal });
  return {
    success: true,
    session_id,
    message: `Input sent successfully: '${input_text}'`,
    ...lookAt(session),
    error: null,
  };
};

interface Input {
  readonly input: string;
  readonly error: string | null;
}

function toInput(
  { session_id, input_text, keys }: ToolInput<"send_input">,
  session: TerminalSession | undefined,
): Input {
  const text = translateEscapes(input_text);
  if (session === undefined) return { input: text, error: `There is no session '${session_id}'.` };
  const pressed = (keys ?? []).map((name) => ({ name, sent: toKeyInput(name, session.screen.wantsApplicationKeys) }));
  const unknown = pressed.find(({ sent }) => sent === undefined);
  const error = unknown ? `No key is called '${unknown.name}'. There are ${KEY_NAMES.join(", ")}.` : null;
  return { input: text + pressed.map(({ sent = "" }) => sent).join(""), error };
}

function findProblem(session: TerminalSession): string | null {
  if (!session.isRunning) return "The program has ended.";
  return session.isClogged ? "The program does not read its input." : null;
}
